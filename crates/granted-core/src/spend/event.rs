//! The bodies of `spend.*` rows.

use serde::{Deserialize, Serialize};

use super::agent::{Address, IdempotencyKey, Txid};
use super::grant::{GrantId, Mode, SpendGrant};
use super::ladder::Deny;
use super::{AgentName, IntentDigest, Network, Sats};
use crate::text::Words;
use crate::time::Stamp;

/// Body of `spend.granted`; moves `spend-grant:ID` and `spend-agent:NET/NAME`, and the instance that it
/// takes the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// The whole grant.
    pub grant: SpendGrant,
    /// The instance that is of no use from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<GrantId>,
}

/// Body of `spend.mode_changed`; moves `spend-grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChanged {
    /// What it was.
    pub from: Mode,
    /// What it is.
    pub to: Mode,
}

/// Body of `spend.recipient_allowed` and `spend.recipient_disallowed`; moves `spend-grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The recipient that is on the list from here on, or is not.
    pub recipient: Address,
}

/// Body of `spend.revoked`; moves `spend-grant:ID` and `spend-agent:NET/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoked {}

/// Body of `spend.filed`; moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filed {
    /// Who asks.
    pub agent: AgentName,
    /// What the recipient is to get.
    pub amount_sat: Sats,
    /// Why it lies outside the grant, if it does; else it waits for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny: Option<Deny>,
    /// The grant instance that it was filed under.
    pub grant_id: GrantId,
    /// The agent's handle.
    pub idempotency_key: IdempotencyKey,
    /// What it asks for, as a digest.
    pub intent_digest: IntentDigest,
    /// The network.
    pub network: Network,
    /// Whom to pay.
    pub recipient: Address,
}

/// Body of `spend.denied`, found when a person came to approve; moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denied {
    /// Why.
    pub deny: Deny,
}

/// Body of `spend.dismissed`; moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dismissed {}

/// Body of `spend.signing`: the person's authorization, the draw of the budget and the state, in one row.
/// Moves `spend:ID` and `spend-grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    /// The lock file that the acting process holds, by its name in `acts/`.
    pub act: Box<str>,
    /// What the recipient gets.
    pub amount_sat: Sats,
    /// By when it is done; another host's counts as cut off after that.
    pub deadline: Stamp,
    /// The real fee.
    pub fee_sat: Sats,
    /// What the request asks for.
    pub intent_digest: IntentDigest,
    /// The id of the transaction, before it is signed and after.
    pub txid: Txid,
}

/// Body of `spend.failed`: it stopped before the signer was asked. Moves `spend:ID`, and `spend-grant:ID`
/// if it had drawn on the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// What went wrong.
    pub message: Words,
    /// What the budget gets back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<Refund>,
}

/// What a draw had taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refund {
    /// What the recipient would have got.
    pub amount_sat: Sats,
    /// The fee.
    pub fee_sat: Sats,
}

/// Body of `spend.signed`: the transaction is whole and saved. Moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The transaction.
    pub txid: Txid,
}

/// Body of `spend.sent`: the network has the transaction. Moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The transaction.
    pub txid: Txid,
}

/// Body of `spend.broadcast_pending`: signed and saved, and the network may not have it. Moves `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BroadcastPending {
    /// What went wrong.
    pub message: Words,
    /// The transaction.
    pub txid: Txid,
}

/// Body of `spend.unresolved`: a signature may exist, and nothing that could be broadcast was kept. Moves
/// `spend:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unresolved {
    /// What is known.
    pub message: Words,
}
