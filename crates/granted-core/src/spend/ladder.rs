//! The ladder: whether a payment lies inside a grant. It answers ask or deny; there is no allow.

use serde::{Deserialize, Serialize};

use super::agent::Address;
use super::grant::Mode;
use super::{GrantState, Sats};
use crate::time::Stamp;

/// What the ladder answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// A person is to be asked.
    Ask,
    /// It lies outside the grant.
    Deny(Deny),
}

/// Why a payment lies outside a grant. No approval lifts any of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub enum Deny {
    /// The grant's time is over.
    Expired {
        /// Since when.
        expired_at: Stamp,
    },
    /// The recipient would get more than may be paid at once.
    OverMaxTx {
        /// What was asked for.
        requested_sat: Sats,
        /// The cap.
        max_tx_sat: Sats,
    },
    /// The fee is above its cap.
    OverMaxFee {
        /// The fee.
        fee_sat: Sats,
        /// The cap.
        max_fee_sat: Sats,
    },
    /// Amount and fee are more than the budget has left.
    OverBudget {
        /// Amount and fee.
        requested_sat: Sats,
        /// What is left.
        remaining_sat: Sats,
    },
    /// Amount and fee together are no amount.
    AmountOverflow {
        /// The amount.
        amount_sat: Sats,
        /// The fee.
        fee_sat: Sats,
    },
    /// The grant is for looking only.
    ObserveOnly,
    /// The grant instance that the request was filed under was revoked or issued anew.
    Revoked,
    /// The grant has a list of recipients, and this is none of them.
    RecipientNotAllowed {
        /// The recipient.
        recipient: Address,
    },
}

impl Deny {
    /// The word for it.
    pub fn reason(&self) -> &'static str {
        match self {
            Deny::Expired { .. } => "expired",
            Deny::OverMaxTx { .. } => "over_max_tx",
            Deny::OverMaxFee { .. } => "over_max_fee",
            Deny::OverBudget { .. } => "over_budget",
            Deny::AmountOverflow { .. } => "amount_overflow",
            Deny::ObserveOnly => "observe_only",
            Deny::Revoked => "revoked",
            Deny::RecipientNotAllowed { .. } => "recipient_not_allowed",
        }
    }

    /// More about it, for people.
    pub fn detail(&self) -> String {
        match self {
            Deny::Expired { expired_at } => format!("the grant expired at {expired_at:.0}"),
            Deny::OverMaxTx { requested_sat, max_tx_sat } => {
                format!("requested {requested_sat} sat; max tx {max_tx_sat} sat")
            }
            Deny::OverMaxFee { fee_sat, max_fee_sat } => {
                format!("fee {fee_sat} sat; max fee {max_fee_sat} sat")
            }
            Deny::OverBudget { requested_sat, remaining_sat } => {
                format!("requested {requested_sat} sat; remaining {remaining_sat} sat")
            }
            Deny::AmountOverflow { amount_sat, fee_sat } => {
                format!("amount {amount_sat} sat and fee {fee_sat} sat are no amount together")
            }
            Deny::ObserveOnly => "the grant is for observing only".into(),
            Deny::Revoked => "the grant that it was filed under was revoked or issued anew".into(),
            Deny::RecipientNotAllowed { recipient } => {
                format!("recipient {recipient} is not on the list")
            }
        }
    }
}

/// Whether a payment with this fee lies inside the grant at that time. The first rung that fails
/// answers; their order is fixed.
pub fn ladder(
    state: &GrantState,
    recipient: &Address,
    amount: Sats,
    fee: Sats,
    now: Stamp,
) -> Verdict {
    let grant = &state.grant;
    if now >= grant.expires_at {
        return Verdict::Deny(Deny::Expired { expired_at: grant.expires_at });
    }
    if state.mode == Mode::Observe {
        return Verdict::Deny(Deny::ObserveOnly);
    }
    let Some(total) = amount.plus(fee) else {
        return Verdict::Deny(Deny::AmountOverflow { amount_sat: amount, fee_sat: fee });
    };
    if state.recipients.as_ref().is_some_and(|listed| !listed.contains(recipient)) {
        return Verdict::Deny(Deny::RecipientNotAllowed { recipient: recipient.clone() });
    }
    if let Some(max_tx_sat) = grant.max_tx_sat.filter(|cap| amount > *cap) {
        return Verdict::Deny(Deny::OverMaxTx { requested_sat: amount, max_tx_sat });
    }
    if fee > grant.max_fee_sat {
        let max_fee_sat = grant.max_fee_sat;
        return Verdict::Deny(Deny::OverMaxFee { fee_sat: fee, max_fee_sat });
    }
    let remaining_sat = state.remaining();
    if total > remaining_sat {
        return Verdict::Deny(Deny::OverBudget { requested_sat: total, remaining_sat });
    }
    Verdict::Ask
}

/// A [`Deny`] as rows and records have it: the reason, and beside it what belongs to that reason.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount_sat: Option<Sats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expired_at: Option<Stamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fee_sat: Option<Sats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_fee_sat: Option<Sats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tx_sat: Option<Sats>,
    reason: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipient: Option<Address>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remaining_sat: Option<Sats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requested_sat: Option<Sats>,
}

impl From<Deny> for Form {
    fn from(deny: Deny) -> Form {
        let mut form = Form { reason: deny.reason().into(), ..Form::default() };
        match deny {
            Deny::Expired { expired_at } => form.expired_at = Some(expired_at),
            Deny::OverMaxTx { requested_sat, max_tx_sat } => {
                form.requested_sat = Some(requested_sat);
                form.max_tx_sat = Some(max_tx_sat);
            }
            Deny::OverMaxFee { fee_sat, max_fee_sat } => {
                form.fee_sat = Some(fee_sat);
                form.max_fee_sat = Some(max_fee_sat);
            }
            Deny::OverBudget { requested_sat, remaining_sat } => {
                form.requested_sat = Some(requested_sat);
                form.remaining_sat = Some(remaining_sat);
            }
            Deny::AmountOverflow { amount_sat, fee_sat } => {
                form.amount_sat = Some(amount_sat);
                form.fee_sat = Some(fee_sat);
            }
            Deny::ObserveOnly | Deny::Revoked => {}
            Deny::RecipientNotAllowed { recipient } => form.recipient = Some(recipient),
        }
        form
    }
}

impl TryFrom<Form> for Deny {
    type Error = &'static str;

    /// What belongs to another reason makes the row differ from its canonical form, so it need not be
    /// looked for here.
    fn try_from(form: Form) -> Result<Deny, &'static str> {
        let lacking = "a denial lacks what belongs to its reason";
        Ok(match &*form.reason {
            "expired" => Deny::Expired { expired_at: form.expired_at.ok_or(lacking)? },
            "over_max_tx" => Deny::OverMaxTx {
                requested_sat: form.requested_sat.ok_or(lacking)?,
                max_tx_sat: form.max_tx_sat.ok_or(lacking)?,
            },
            "over_max_fee" => Deny::OverMaxFee {
                fee_sat: form.fee_sat.ok_or(lacking)?,
                max_fee_sat: form.max_fee_sat.ok_or(lacking)?,
            },
            "over_budget" => Deny::OverBudget {
                requested_sat: form.requested_sat.ok_or(lacking)?,
                remaining_sat: form.remaining_sat.ok_or(lacking)?,
            },
            "amount_overflow" => Deny::AmountOverflow {
                amount_sat: form.amount_sat.ok_or(lacking)?,
                fee_sat: form.fee_sat.ok_or(lacking)?,
            },
            "observe_only" => Deny::ObserveOnly,
            "revoked" => Deny::Revoked,
            "recipient_not_allowed" => {
                Deny::RecipientNotAllowed { recipient: form.recipient.ok_or(lacking)? }
            }
            _ => return Err("a denial has no such reason"),
        })
    }
}
