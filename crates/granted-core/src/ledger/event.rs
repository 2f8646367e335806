//! What a row says happened: one variant a kind.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::decision::event as decision;
use crate::digest::Digest;
use crate::id::Id;
use crate::json;
use crate::spend::event as spend;
use crate::spend::grant::Mode as SpendMode;
use crate::text::Note;
use crate::time::Stamp;
use crate::trust::event as trust;
use crate::trust::{Mode, Signature};

/// Declares the enum of kinds, with the text of each.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident($body:ty) = $kind:literal,)+) => {
        /// What happened. The row's `kind` names the variant, its `body` is the content.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Event {
            $($(#[$doc])* $variant($body),)+
        }

        impl Event {
            /// Every kind.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The row's `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Event::$variant(_) => $kind,)+ }
            }

            /// Reads a body of this kind; `None` if the kind is not known.
            pub fn parse(kind: &str, body: &RawValue) -> Option<Result<Event, serde_json::Error>> {
                match kind {
                    $($kind => Some(serde_json::from_str(body.get()).map(Event::$variant)),)+
                    _ => None,
                }
            }
        }

        impl Serialize for Event {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Event::$variant(body) => body.serialize(serializer),)+ }
            }
        }
    };
}

kinds! {
    /// The first row of a book.
    Opened(Opened) = "ledger.opened",
    /// An unfinished last append was moved aside.
    Torn(Torn) = "ledger.torn",
    /// The person accepted a damaged tail, a rollback or a clock. Its refs are the grants that it
    /// closes.
    Accepted(Accepted) = "ledger.accepted",
    /// A grant was minted.
    Minted(decision::Minted) = "decision.minted",
    /// A discharge claimed its grant; the act may begin.
    Intent(decision::Intent) = "decision.intent",
    /// What came back from an act.
    Result(decision::ActResult) = "decision.result",
    /// What came back from an act whose outcome was already settled: evidence, no more.
    LateResult(decision::ActResult) = "decision.late_result",
    /// How an attempt ended.
    Outcome(decision::Outcome) = "decision.outcome",
    /// A grant's window closed without its being spent.
    Expired(decision::Expired) = "decision.expired",
    /// The person settled an uncertain outcome.
    Resolved(decision::Resolved) = "decision.resolved",
    /// The person took a grant back.
    Revoked(decision::Revoked) = "decision.revoked",
    /// A key is trusted from here on.
    KeyTrusted(trust::KeyTrusted) = "key.trusted",
    /// A key is trusted no more.
    KeyUntrusted(trust::KeyUntrusted) = "key.untrusted",
    /// Signatures are asked for from here on, or are not.
    ModeSet(trust::ModeSet) = "trust.mode",
    /// An agent got a budget to propose spends with.
    SpendGranted(spend::Granted) = "spend.granted",
    /// An agent may ask from here on, or only observe.
    SpendModeChanged(spend::ModeChanged) = "spend.mode_changed",
    /// A recipient was put on a grant's list.
    SpendRecipientAllowed(spend::Listed) = "spend.recipient_allowed",
    /// A recipient was taken off a grant's list.
    SpendRecipientDisallowed(spend::Listed) = "spend.recipient_disallowed",
    /// The person took a budget back.
    SpendRevoked(spend::Revoked) = "spend.revoked",
    /// An agent filed a request.
    SpendFiled(spend::Filed) = "spend.filed",
    /// A request was found outside its grant when a person came to approve it.
    SpendDenied(spend::Denied) = "spend.denied",
    /// The person declined a request.
    SpendDismissed(spend::Dismissed) = "spend.dismissed",
    /// The person authorized a request, which draws on the budget; the signer may be asked.
    SpendSigning(spend::Signing) = "spend.signing",
    /// A request stopped before the signer was asked.
    SpendFailed(spend::Failed) = "spend.failed",
    /// The transaction of a request is whole and saved.
    SpendSigned(spend::Signed) = "spend.signed",
    /// The network has the transaction of a request.
    SpendSent(spend::Sent) = "spend.sent",
    /// The network may not have the transaction of a request.
    SpendBroadcastPending(spend::BroadcastPending) = "spend.broadcast_pending",
    /// A signature may exist for a request, and nothing that could be broadcast was kept.
    SpendUnresolved(spend::Unresolved) = "spend.unresolved",
}

impl Event {
    /// Whether the row uses or widens authority. Such rows are refused on a ledger that was
    /// rolled back or that somebody else could have written; the others, which only narrow or record,
    /// never are.
    pub fn uses_authority(&self) -> bool {
        match self {
            Event::Minted(_) | Event::Intent(_) | Event::KeyTrusted(_) => true,
            Event::ModeSet(set) => set.mode == Mode::Open,
            Event::SpendGranted(_) | Event::SpendRecipientAllowed(_) => true,
            Event::SpendFiled(_) | Event::SpendSigning(_) => true,
            Event::SpendModeChanged(changed) => changed.to == SpendMode::Ask,
            _ => false,
        }
    }
}

/// Body of `ledger.opened`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// The book's random id.
    pub book: Id,
}

/// Body of `ledger.torn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torn {
    /// How many bytes were moved aside.
    #[serde(deserialize_with = "json::int")]
    pub bytes: u64,
    /// The name of the file, beside the ledger, that holds them now.
    pub file: Box<str>,
    /// Their digest.
    pub sha256: Digest,
}

/// Body of `ledger.accepted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Who accepted.
    pub by: Note,
    /// Why.
    pub reason: Note,
    /// By a trusted key, once the book has trusted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What was accepted.
    pub what: Vec<What>,
}

/// One thing that an accept clears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum What {
    /// A clock that had been ahead.
    Clock {
        /// The time that the ledger had reached.
        was: Stamp,
    },
    /// A damaged tail.
    Damage(Torn),
    /// A ledger shorter than its index, or different from it.
    Rollback {
        /// The number of rows that the index had seen.
        #[serde(deserialize_with = "json::int")]
        rows: u64,
    },
}
