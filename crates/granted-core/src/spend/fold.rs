//! Folds: what an agent has, what a grant has left, and where a request stands, from the rows that
//! moved them.
//!
//! A fold takes any rows that the ledger may hold and never fails: what the rules do not allow is
//! found by `granted ledger verify`; here the narrower reading counts.

use super::agent::{Address, Txid};
use super::event::{Filed, Signing};
use super::grant::{GrantId, Mode, SpendGrant};
use super::ladder::Deny;
use super::{RequestId, Sats};
use crate::ledger::{Event, Row};
use crate::text::Words;
use crate::time::Stamp;

/// Which grant an agent has on a network, folded from the rows of `spend-agent:NET/NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentState {
    /// The instance that counts, unless it was revoked.
    pub grant: Option<GrantId>,
    /// The seq of the last row that moved it (0: none).
    pub last: u64,
}

impl AgentState {
    /// Folds the rows, oldest first.
    pub fn fold<'a>(rows: impl IntoIterator<Item = &'a Row>) -> AgentState {
        let mut state = AgentState::default();
        rows.into_iter().for_each(|row| state.apply(row));
        state
    }

    /// Moves on by a later row of this agent.
    pub fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        self.grant = match &row.event {
            Event::SpendGranted(granted) => Some(granted.grant.grant_id.clone()),
            _ => None,
        };
    }
}

/// What one payment takes of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// For which request.
    pub request: RequestId,
    /// What the recipient gets.
    pub amount: Sats,
    /// The fee.
    pub fee: Sats,
}

impl Draw {
    /// Amount and fee.
    pub fn total(&self) -> Sats {
        self.amount.plus(self.fee).unwrap_or(Sats::MAX)
    }
}

/// A grant instance, folded from the rows of `spend-grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantState {
    /// The grant as it was issued.
    pub grant: SpendGrant,
    /// The seq of the last row that moved it: the guard of the next.
    pub last: u64,
    /// What the agent may do now.
    pub mode: Mode,
    /// The recipients that are on its list now, if it has one.
    pub recipients: Option<Vec<Address>>,
    /// It was revoked, or another took its place.
    pub revoked: bool,
    /// It was closed when a damaged ledger was accepted.
    pub closed: bool,
    /// What its payments took of the budget.
    pub draws: Vec<Draw>,
}

impl GrantState {
    /// Folds the rows, oldest first; `None` if none of them issued it.
    pub fn fold<'a>(id: &GrantId, rows: impl IntoIterator<Item = &'a Row>) -> Option<GrantState> {
        let mut state: Option<GrantState> = None;
        for row in rows {
            match (&mut state, &row.event) {
                // A row may say that it moves a grant, and issue another.
                (None, Event::SpendGranted(granted)) if granted.grant.grant_id == *id => {
                    state = Some(GrantState::granted(row.seq, &granted.grant));
                }
                (None, _) => {}
                (Some(state), _) => state.apply(row),
            }
        }
        state
    }

    /// The state after the row that issued it.
    pub fn granted(seq: u64, grant: &SpendGrant) -> GrantState {
        GrantState {
            grant: grant.clone(),
            last: seq,
            mode: grant.mode,
            recipients: grant.allowed_recipients.clone(),
            revoked: false,
            closed: false,
            draws: Vec::new(),
        }
    }

    /// Moves on by a later row of this grant.
    pub fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        match &row.event {
            Event::SpendModeChanged(changed) => self.mode = changed.to,
            Event::SpendRecipientAllowed(listed) => {
                let list = self.recipients.as_mut();
                if let Some(list) = list.filter(|list| !list.contains(&listed.recipient)) {
                    list.push(listed.recipient.clone());
                }
            }
            Event::SpendRecipientDisallowed(listed) => {
                let list = self.recipients.as_mut();
                list.into_iter().for_each(|list| list.retain(|r| *r != listed.recipient));
            }
            // Of itself, or of the instance that takes its place.
            Event::SpendRevoked(_) | Event::SpendGranted(_) => self.revoked = true,
            Event::SpendSigning(signing) => {
                if let Some(request) = request_of(row) {
                    let (amount, fee) = (signing.amount_sat, signing.fee_sat);
                    self.draws.push(Draw { request, amount, fee });
                }
            }
            Event::SpendFailed(failed) if failed.refund.is_some() => {
                let request = request_of(row);
                let drawn = self.draws.iter().rposition(|draw| Some(draw.request) == request);
                if let Some(index) = drawn {
                    self.draws.remove(index);
                }
            }
            Event::Accepted(_) => self.closed = true,
            _ => {}
        }
    }

    /// Whether requests filed under it can still be approved, but for the ladder.
    pub fn is_over(&self) -> bool {
        self.revoked || self.closed
    }

    /// What its payments took of the budget.
    pub fn spent(&self) -> Sats {
        Sats::sum(self.draws.iter().map(Draw::total))
    }

    /// What the budget has left.
    pub fn remaining(&self) -> Sats {
        self.grant.budget_sat.less(self.spent())
    }

    /// How many payments drew on it.
    pub fn tx_count(&self) -> u64 {
        u64::try_from(self.draws.len()).unwrap_or(u64::MAX)
    }
}

/// A request, folded from the rows of `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// What was filed.
    pub filed: Filed,
    /// When.
    pub created_at: Stamp,
    /// When it last moved.
    pub updated_at: Stamp,
    /// The seq of the last row that moved it: the guard of the next.
    pub last: u64,
    /// Where it stands.
    pub state: State,
}

/// Where a request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Inside the grant; it waits for the person.
    PendingApproval,
    /// Outside a boundary of the grant.
    Denied(Deny),
    /// The person declined.
    Dismissed,
    /// The person authorized it, and the budget is drawn on.
    Signing {
        /// The row that says so.
        signing: Box<Signing>,
        /// Since when.
        since: Stamp,
        /// The transaction is whole and saved.
        signed: bool,
    },
    /// The network has it.
    Sent(Paid),
    /// Signed and saved; the network may not have it.
    BroadcastPending(Paid, Words),
    /// A signature may exist, and nothing that could be broadcast was kept.
    Unresolved {
        /// The transaction that was to be.
        txid: Txid,
        /// What is known.
        message: Words,
    },
    /// It stopped before the signer was asked.
    Failed(Words),
}

/// The payment of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    /// The transaction.
    pub txid: Txid,
    /// Its fee.
    pub fee: Sats,
}

impl State {
    /// The word for it.
    pub fn status(&self) -> &'static str {
        match self {
            State::PendingApproval => "pending_approval",
            State::Denied(_) => "denied",
            State::Dismissed => "dismissed",
            State::Signing { .. } => "signing",
            State::Sent(_) => "sent",
            State::BroadcastPending(..) => "broadcast_pending",
            State::Unresolved { .. } => "unresolved",
            State::Failed(_) => "failed",
        }
    }

    /// Whether a person may approve it.
    pub fn is_approvable(&self) -> bool {
        matches!(self, State::PendingApproval | State::Failed(_))
    }

    /// Whether a person may dismiss it.
    pub fn is_dismissable(&self) -> bool {
        self.is_approvable() || matches!(self, State::Unresolved { .. })
    }

    /// Whether the person has something to do or to wait for.
    pub fn is_open(&self) -> bool {
        !matches!(self, State::Denied(_) | State::Dismissed | State::Sent(_))
    }
}

impl Request {
    /// Folds the rows, oldest first; `None` if none of them filed it.
    pub fn fold<'a>(id: RequestId, rows: impl IntoIterator<Item = &'a Row>) -> Option<Request> {
        let mut request: Option<Request> = None;
        for row in rows {
            match (&mut request, &row.event) {
                // A row may say that it moves a request, and file another.
                (None, Event::SpendFiled(filed)) if filed.id() == id => {
                    request = Some(Request::filed(id, row.seq, row.at, filed));
                }
                (None, _) => {}
                (Some(request), _) => request.apply(row),
            }
        }
        request
    }

    /// The state after the row that filed it.
    pub fn filed(id: RequestId, seq: u64, at: Stamp, filed: &Filed) -> Request {
        let denied = filed.deny.clone().map(State::Denied);
        Request {
            id,
            filed: filed.clone(),
            created_at: at,
            updated_at: at,
            last: seq,
            state: denied.unwrap_or(State::PendingApproval),
        }
    }

    /// Moves on by a later row of this request. Once it is signing, nothing makes it approvable again
    /// but a failure before the signer.
    pub fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        self.updated_at = row.at;
        let next = match (&row.event, &self.state) {
            (Event::SpendDenied(denied), state) if state.is_approvable() => {
                State::Denied(denied.deny.clone())
            }
            (Event::SpendDismissed(_), state) if state.is_dismissable() => State::Dismissed,
            (Event::SpendSigning(signing), _) => {
                State::Signing { signing: Box::new(signing.clone()), since: row.at, signed: false }
            }
            (Event::SpendFailed(failed), state)
                if state.is_approvable()
                    || matches!(state, State::Signing { signed: false, .. }) =>
            {
                State::Failed(failed.message.clone())
            }
            (Event::SpendSigned(_), State::Signing { signing, since, .. }) => {
                State::Signing { signing: signing.clone(), since: *since, signed: true }
            }
            (Event::SpendSent(_), state) => match state.paid() {
                Some(paid) => State::Sent(paid),
                None => return,
            },
            (Event::SpendBroadcastPending(pending), State::Signing { .. }) => {
                match self.state.paid() {
                    Some(paid) => State::BroadcastPending(paid, pending.message.clone()),
                    None => return,
                }
            }
            (Event::SpendUnresolved(unresolved), State::Signing { signing, .. }) => {
                let txid = signing.txid.clone();
                State::Unresolved { txid, message: unresolved.message.clone() }
            }
            _ => return,
        };
        self.state = next;
    }

    /// Amount and fee of a payment that was drawn for it, once it is signing.
    pub fn paid(&self) -> Option<Paid> {
        self.state.paid()
    }
}

impl State {
    fn paid(&self) -> Option<Paid> {
        match self {
            State::Signing { signing, .. } => {
                Some(Paid { txid: signing.txid.clone(), fee: signing.fee_sat })
            }
            State::Sent(paid) | State::BroadcastPending(paid, _) => Some(paid.clone()),
            _ => None,
        }
    }
}

impl Filed {
    /// The request's id, which follows from what was filed.
    pub fn id(&self) -> RequestId {
        RequestId::new(self.grant_id.as_str(), &self.agent, &self.idempotency_key)
    }
}

/// The request that a row moves, its owner.
pub(super) fn request_of(row: &Row) -> Option<RequestId> {
    row.refs.first()?.0.as_str().strip_prefix("spend:")?.parse().ok()
}
