//! The stories of a grant to spend, of an agent and of a request: a small automaton for each.

use super::Step;

/// Where a subject of spends stands.
#[derive(Clone, Copy)]
pub(in super::super) enum State {
    /// An agent, and the grant that it has (0: none).
    Agent(u64),
    Grant(Grant),
    Request(Request),
}

/// A grant that was issued.
#[derive(Clone, Copy)]
pub(in super::super) struct Grant {
    budget: u64,
    max_tx: u64,
    max_fee: u64,
    closes: i64,
    observes: bool,
    agent: u64,
    spent: u64,
    revoked: bool,
    closed: bool,
}

/// A request that was filed.
#[derive(Clone, Copy)]
pub(in super::super) struct Request {
    payment: u64,
    amount: u64,
    at: At,
}

#[derive(Clone, Copy)]
enum At {
    Waiting,
    Signing(Signing),
    Unsent { txid: u64 },
    Unresolved,
    Ended,
}

#[derive(Clone, Copy)]
struct Signing {
    grant: u64,
    fee: u64,
    txid: u64,
    signed: bool,
}

type Next<T> = Result<T, &'static str>;

impl State {
    /// The state after the first row that moves a subject.
    pub(in super::super) fn first(step: Step) -> Next<State> {
        match step {
            Step::Granted { budget, max_tx, max_fee } => Ok(State::Grant(Grant {
                budget,
                max_tx,
                max_fee,
                closes: i64::MIN,
                observes: false,
                agent: 0,
                spent: 0,
                revoked: false,
                closed: false,
            })),
            Step::AgentGranted { grant, replaces: 0 } => Ok(State::Agent(grant)),
            Step::AgentGranted { .. } => Err("it replaces a grant that its agent does not have"),
            Step::Filed { payment, amount, denied } => {
                let at = if denied { At::Ended } else { At::Waiting };
                Ok(State::Request(Request { payment, amount, at }))
            }
            Step::AgentRevoked { .. } => Err("it revokes a grant that its agent does not have"),
            Step::Revoked | Step::Mode { .. } | Step::Listed => {
                Err("it moves a grant that was never issued")
            }
            Step::Draw { .. } | Step::Refund { .. } | Step::Window { .. } => {
                Err("it moves a grant that was never issued")
            }
            Step::Asked { .. } => Err("it files under a grant that was never issued"),
            _ => Err("it moves a request that was never filed"),
        }
    }

    /// The state after a further one.
    pub(in super::super) fn after(self, step: Step) -> Next<State> {
        match self {
            State::Agent(has) => agent(has, step).map(State::Agent),
            State::Grant(grant) => grant.after(step).map(State::Grant),
            State::Request(request) => request.after(step).map(State::Request),
        }
    }

    /// The state after an accepted row closed it.
    pub(in super::super) fn closed(self) -> Next<State> {
        match self {
            State::Grant(grant) => Ok(State::Grant(Grant { closed: true, ..grant })),
            _ => Err("it closes what is no grant"),
        }
    }
}

fn agent(has: u64, step: Step) -> Next<u64> {
    match step {
        Step::AgentGranted { grant, replaces } if replaces == has => Ok(grant),
        Step::AgentGranted { .. } => Err("it does not replace the grant that its agent has"),
        Step::AgentRevoked { grant } if grant == has => Ok(0),
        Step::AgentRevoked { .. } => Err("it revokes a grant that its agent does not have"),
        _ => Err("it does to an agent what only grants and requests know"),
    }
}

impl Grant {
    fn after(mut self, step: Step) -> Next<Grant> {
        match step {
            Step::Window { closes, observes, agent } => {
                self.closes = closes;
                self.observes = observes;
                self.agent = agent;
            }
            Step::Asked { agent } if agent != self.agent => {
                return Err("it files under a grant of another agent or network");
            }
            Step::Asked { .. } => {}
            Step::Revoked if self.revoked => return Err("it revokes a grant that is revoked"),
            Step::Revoked => self.revoked = true,
            Step::Mode { .. } | Step::Listed if self.revoked || self.closed => {
                return Err("it changes a grant that is over");
            }
            Step::Mode { observes } if observes == self.observes => {
                return Err("it changes a mode to what it was");
            }
            Step::Mode { observes } => self.observes = observes,
            Step::Listed => {}
            Step::Draw { amount, fee, at } => {
                self.check_draw(amount, fee, at)?;
                self.spent = self.spent.saturating_add(amount).saturating_add(fee);
            }
            Step::Refund { amount, fee } => {
                let back = amount.saturating_add(fee);
                self.spent = self.spent.checked_sub(back).ok_or("it refunds what was not drawn")?;
            }
            Step::Granted { .. } => return Err("it issues a grant that was issued before"),
            _ => return Err("it does to a grant what only agents and requests know"),
        }
        Ok(self)
    }

    fn check_draw(&self, amount: u64, fee: u64, at: i64) -> Next<()> {
        if self.revoked || self.closed {
            return Err("it draws on a grant that is over");
        }
        if at >= self.closes {
            return Err("it draws on a grant that has expired");
        }
        if self.observes {
            return Err("it draws on a grant that is for observing only");
        }
        if amount > self.max_tx {
            return Err("it pays more than the grant allows at once");
        }
        if fee > self.max_fee {
            return Err("its fee is more than the grant allows");
        }
        let spent = self.spent.saturating_add(amount).saturating_add(fee);
        match spent > self.budget {
            true => Err("it draws more than the grant's budget has left"),
            false => Ok(()),
        }
    }
}

impl Request {
    fn after(self, step: Step) -> Next<Request> {
        let at = match (self.at, step) {
            (_, Step::Filed { .. }) => return Err("it files a request that was filed before"),
            (At::Waiting, Step::Denied) => At::Ended,
            (At::Waiting, Step::FailedUndrawn) => At::Waiting,
            (At::Waiting | At::Unresolved, Step::Dismissed) => At::Ended,
            (At::Waiting, Step::Signing { payment, .. }) if payment != self.payment => {
                return Err("it pays something else than was asked for");
            }
            (At::Waiting, Step::Signing { fee, txid, .. }) => {
                At::Signing(Signing { grant: 0, fee, txid, signed: false })
            }
            (_, Step::Signing { .. }) => return Err("its request was authorized or ended before"),
            (At::Signing(signing), Step::Drawn { grant }) => {
                At::Signing(Signing { grant, ..signing })
            }
            (At::Signing(signing), Step::Failed { grant, amount, fee }) => {
                if signing.signed {
                    return Err("it refunds a request that was signed");
                }
                if (signing.grant, self.amount, signing.fee) != (grant, amount, fee) {
                    return Err("it refunds something else than its request drew");
                }
                At::Waiting
            }
            (_, Step::Failed { .. }) => return Err("it refunds a request that draws nothing"),
            (At::Signing(signing), Step::Signed { txid }) => {
                if signing.signed {
                    return Err("its request was signed before");
                }
                signing.same(txid)?;
                At::Signing(Signing { signed: true, ..signing })
            }
            (At::Signing(signing), Step::BroadcastPending { txid }) => {
                signing.same(txid)?;
                At::Unsent { txid }
            }
            (At::Signing(signing), Step::Sent { txid }) => {
                signing.same(txid)?;
                At::Ended
            }
            (At::Unsent { txid: signed }, Step::Sent { txid }) if txid == signed => At::Ended,
            (At::Unsent { .. }, Step::Sent { .. }) => return Err(OTHER),
            (At::Signing(Signing { signed: false, .. }), Step::Unresolved) => At::Unresolved,
            (At::Ended, _) => return Err("its request has ended"),
            _ => return Err("its request is not where the row takes it from"),
        };
        Ok(Request { at, ..self })
    }
}

const OTHER: &str = "its transaction is not the one that was authorized";

impl Signing {
    fn same(&self, txid: u64) -> Next<()> {
        if self.txid == txid { Ok(()) } else { Err(OTHER) }
    }
}
