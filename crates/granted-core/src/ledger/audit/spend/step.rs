//! What a row of a spend does to a subject.

/// What a row of a spend does to a subject. Amounts are satoshis, times microseconds, other subjects their
/// hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The grant was issued.
    Granted {
        /// The most that its payments may cost.
        budget: u64,
        /// The most that a recipient may get at once.
        max_tx: u64,
        /// The most that a fee may be.
        max_fee: u64,
    },
    /// The grant's end, its mode when it was issued, and who has it.
    Window {
        /// The end, exclusive.
        closes: i64,
        /// Whether it is for observing only.
        observes: bool,
        /// The agent, on its network.
        agent: u64,
    },
    /// A request was filed under the grant. That does not move it.
    Asked {
        /// The agent, on its network.
        agent: u64,
    },
    /// The grant's mode was changed.
    Mode {
        /// Whether it is for observing only.
        observes: bool,
    },
    /// The grant's list was changed.
    Listed,
    /// The grant was taken back, or another took its place.
    Revoked,
    /// A payment draws on the grant.
    Draw {
        /// What the recipient gets.
        amount: u64,
        /// The fee.
        fee: u64,
        /// When.
        at: i64,
    },
    /// A draw came to nothing.
    Refund {
        /// What the recipient would have got.
        amount: u64,
        /// The fee.
        fee: u64,
    },
    /// The agent got a grant.
    AgentGranted {
        /// The grant.
        grant: u64,
        /// The one that it takes the place of (0: none).
        replaces: u64,
    },
    /// The agent's grant was taken back.
    AgentRevoked {
        /// The grant.
        grant: u64,
    },
    /// The request was filed.
    Filed {
        /// What it asks for, and under which grant.
        payment: u64,
        /// What the recipient is to get.
        amount: u64,
        /// Whether it lies outside its grant.
        denied: bool,
    },
    /// The request was found outside its grant.
    Denied,
    /// The person declined the request.
    Dismissed,
    /// The person authorized the request.
    Signing {
        /// What is paid, and under which grant.
        payment: u64,
        /// The fee.
        fee: u64,
        /// The transaction.
        txid: u64,
    },
    /// The same row draws on this grant.
    Drawn {
        /// The grant.
        grant: u64,
    },
    /// The request stopped before it drew on its grant.
    FailedUndrawn,
    /// The request stopped before the signer was asked, and its grant gets back what it drew.
    Failed {
        /// The grant.
        grant: u64,
        /// What the recipient would have got.
        amount: u64,
        /// The fee.
        fee: u64,
    },
    /// The request's transaction is whole and saved.
    Signed {
        /// The transaction.
        txid: u64,
    },
    /// The network has it.
    Sent {
        /// The transaction.
        txid: u64,
    },
    /// The network may not have it.
    BroadcastPending {
        /// The transaction.
        txid: u64,
    },
    /// A signature may exist.
    Unresolved,
}

impl Step {
    /// Whether the row only speaks of the subject: its `refs` name what it moves.
    pub(in super::super) fn is_mention(self) -> bool {
        matches!(self, Step::Asked { .. })
    }

    /// The step as a code and three words.
    pub(in super::super) fn to_words(self) -> (u8, u64, u64, u64) {
        match self {
            Step::Granted { budget, max_tx, max_fee } => (32, budget, max_tx, max_fee),
            Step::Window { closes, observes, agent } => {
                (33, closes.cast_unsigned(), observes.into(), agent)
            }
            Step::Mode { observes } => (34, observes.into(), 0, 0),
            Step::Listed => (35, 0, 0, 0),
            Step::Revoked => (36, 0, 0, 0),
            Step::Draw { amount, fee, at } => (37, amount, fee, at.cast_unsigned()),
            Step::Refund { amount, fee } => (38, amount, fee, 0),
            Step::AgentGranted { grant, replaces } => (39, grant, replaces, 0),
            Step::AgentRevoked { grant } => (40, grant, 0, 0),
            Step::Filed { payment, amount, denied } => (41, payment, amount, denied.into()),
            Step::Denied => (42, 0, 0, 0),
            Step::Dismissed => (43, 0, 0, 0),
            Step::Signing { payment, fee, txid } => (44, payment, fee, txid),
            Step::Drawn { grant } => (45, grant, 0, 0),
            Step::FailedUndrawn => (46, 0, 0, 0),
            Step::Failed { grant, amount, fee } => (47, grant, amount, fee),
            Step::Signed { txid } => (48, txid, 0, 0),
            Step::Sent { txid } => (49, txid, 0, 0),
            Step::BroadcastPending { txid } => (50, txid, 0, 0),
            Step::Unresolved => (51, 0, 0, 0),
            Step::Asked { agent } => (52, agent, 0, 0),
        }
    }

    /// The step of such words.
    pub(in super::super) fn from_words(code: u8, a: u64, b: u64, c: u64) -> Option<Step> {
        Some(match code {
            32 => Step::Granted { budget: a, max_tx: b, max_fee: c },
            33 => Step::Window { closes: a.cast_signed(), observes: b != 0, agent: c },
            34 => Step::Mode { observes: a != 0 },
            35 => Step::Listed,
            36 => Step::Revoked,
            37 => Step::Draw { amount: a, fee: b, at: c.cast_signed() },
            38 => Step::Refund { amount: a, fee: b },
            39 => Step::AgentGranted { grant: a, replaces: b },
            40 => Step::AgentRevoked { grant: a },
            41 => Step::Filed { payment: a, amount: b, denied: c != 0 },
            42 => Step::Denied,
            43 => Step::Dismissed,
            44 => Step::Signing { payment: a, fee: b, txid: c },
            45 => Step::Drawn { grant: a },
            46 => Step::FailedUndrawn,
            47 => Step::Failed { grant: a, amount: b, fee: c },
            48 => Step::Signed { txid: a },
            49 => Step::Sent { txid: a },
            50 => Step::BroadcastPending { txid: a },
            51 => Step::Unresolved,
            52 => Step::Asked { agent: a },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_words() {
        let max = u64::MAX;
        for step in [
            Step::Granted { budget: 1, max_tx: 2, max_fee: max },
            Step::Window { closes: -1, observes: true, agent: max },
            Step::Asked { agent: max },
            Step::Mode { observes: true },
            Step::Mode { observes: false },
            Step::Listed,
            Step::Revoked,
            Step::Draw { amount: 1, fee: 2, at: i64::MIN },
            Step::Refund { amount: 1, fee: 2 },
            Step::AgentGranted { grant: max, replaces: 1 },
            Step::AgentRevoked { grant: max },
            Step::Filed { payment: max, amount: 1, denied: true },
            Step::Filed { payment: max, amount: 1, denied: false },
            Step::Denied,
            Step::Dismissed,
            Step::Signing { payment: 1, fee: 2, txid: max },
            Step::Drawn { grant: max },
            Step::FailedUndrawn,
            Step::Failed { grant: 1, amount: 2, fee: max },
            Step::Signed { txid: max },
            Step::Sent { txid: max },
            Step::BroadcastPending { txid: max },
            Step::Unresolved,
        ] {
            let (code, a, b, c) = step.to_words();
            assert_eq!(Step::from_words(code, a, b, c), Some(step));
        }
        assert_eq!(Step::from_words(53, 0, 0, 0), None);
    }
}
