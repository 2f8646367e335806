//! What an agent is told of a request, and a person of what to do with one.

use serde::Serialize;

use super::agent::{Address, Txid};
use super::file::FileError;
use super::{Request, RequestId, Sats, State};
use crate::text::Shown;

/// The answer to `request_send` and `check_request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// A state of a request, `error` or `not_found`.
    pub status: &'static str,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Why it was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What is wrong with the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<&'static str>,
    /// Whom it pays, in the one spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<Address>,
    /// How much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_sat: Option<Sats>,
    /// The fee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_sat: Option<Sats>,
    /// The transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub txid: Option<Txid>,
    /// What it means, in words.
    pub message: String,
}

impl Reply {
    /// Where a request stands.
    pub fn of(request: &Request) -> Reply {
        let (txid, fee_sat) = match &request.state {
            State::Sent(paid) | State::BroadcastPending(paid, _) => {
                (Some(paid.txid.clone()), Some(paid.fee))
            }
            State::Unresolved { txid, .. } => (Some(txid.clone()), None),
            _ => (None, None),
        };
        let reason = match &request.state {
            State::Denied(deny) => Some(deny.reason()),
            _ => None,
        };
        Reply {
            status: request.state.status(),
            request_id: Some(request.id),
            reason,
            error_code: None,
            recipient: Some(request.filed.recipient.clone()),
            amount_sat: Some(request.filed.amount_sat),
            fee_sat,
            txid,
            message: message(request),
        }
    }

    /// Why nothing was filed.
    pub fn error(error: &FileError) -> Reply {
        let request_id = match error {
            FileError::KeyConflict(id) => Some(*id),
            _ => None,
        };
        let (error_code, message) = (Some(error.code()), Shown(&error.to_string()).to_string());
        Reply { request_id, error_code, ..Reply::bare("error", message) }
    }

    /// Why it cannot be said where a request stands.
    pub fn unread(id: RequestId, error: &FileError) -> Reply {
        Reply { request_id: Some(id), ..Reply::error(error) }
    }

    /// There is no such request of this agent.
    pub fn not_found(id: Option<RequestId>) -> Reply {
        let message = match id {
            Some(id) => format!("this agent has no request {id}"),
            None => {
                "a request id is `r-` and 32 hexadecimal digits, as request_send returned it; an \
                     idempotency key is none"
                    .into()
            }
        };
        Reply::bare("not_found", message)
    }

    fn bare(status: &'static str, message: String) -> Reply {
        Reply {
            status,
            request_id: None,
            reason: None,
            error_code: None,
            recipient: None,
            amount_sat: None,
            fee_sat: None,
            txid: None,
            message,
        }
    }
}

/// What the state means to the agent.
fn message(request: &Request) -> String {
    let id = request.id;
    match &request.state {
        State::PendingApproval => format!(
            "filed for human review — the human approves with: sats agent approve {id}; poll \
             check_request to observe the result, and do not file it again"
        ),
        State::Denied(deny) => format!(
            "outside the grant: {} — no approval lifts a grant boundary; only the human changing the \
             grant can",
            deny.detail()
        ),
        State::Dismissed => {
            "the human declined it: stop, and ask before you propose anything like it again".into()
        }
        State::Signing { .. } => {
            "the human authorized it, and it is being signed and sent: poll check_request, and do not \
             file it again"
                .into()
        }
        State::Sent(_) => "it was sent; there is nothing left to do".into(),
        State::BroadcastPending(_, why) => format!(
            "it is signed, and the network may not have it yet ({}): the human sends it again; there is \
             nothing for you to do",
            Shown(why.as_str())
        ),
        State::Unresolved { message, .. } => format!(
            "it is not known whether it was signed ({}): the human looks into it; do not file it again",
            Shown(message.as_str())
        ),
        State::Failed(why) => format!(
            "it stopped before anything was signed ({}): the human may authorize it again; poll \
             check_request, and do not file it again",
            Shown(why.as_str())
        ),
    }
}

/// What a person can do with a request.
pub fn advice(request: &Request) -> String {
    let id = request.id;
    match &request.state {
        State::PendingApproval | State::Failed(_) => format!("sats agent approve {id}"),
        State::Denied(deny) => deny.detail(),
        State::Dismissed => "it was declined".into(),
        State::Signing { .. } => "it is being executed now".into(),
        State::Sent(paid) => format!("it was sent as {}", paid.txid),
        State::BroadcastPending(paid, _) => {
            format!("sats tx broadcast {} --network {}", paid.txid, request.filed.network)
        }
        State::Unresolved { txid, .. } => {
            format!("look for {txid} on the chain, then sats agent dismiss {id}")
        }
    }
}
