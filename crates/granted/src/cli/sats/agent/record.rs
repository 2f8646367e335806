//! A request, as JSON and as a line.

use granted_core::spend::event::Filed;
use granted_core::spend::reply::advice;
use granted_core::spend::{Deny, IntentDigest, Request, RequestId, Sats, State, Txid};
use granted_core::text::{Shown, Words};
use granted_core::time::{Relative, Stamp};
use serde::Serialize;

use super::super::super::out::{Mark, Out};

/// The whole record of a request.
#[derive(Serialize)]
pub(super) struct RecordJson<'a> {
    format_version: u32,
    id: RequestId,
    network: &'a str,
    agent: &'a str,
    grant_id: &'a str,
    idempotency_key: &'a str,
    recipient: &'a str,
    amount_sat: Sats,
    intent_digest: IntentDigest,
    created_at: Stamp,
    updated_at: Stamp,
    status: &'static str,
    #[serde(flatten)]
    state: StateJson<'a>,
}

#[derive(Default, Serialize)]
struct StateJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_at: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<&'a Deny>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_sat: Option<Sats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a Words>,
    #[serde(skip_serializing_if = "Option::is_none")]
    txid: Option<&'a Txid>,
}

impl<'a> RecordJson<'a> {
    pub(super) fn of(request: &'a Request) -> RecordJson<'a> {
        let Filed { network, agent, grant_id, idempotency_key, recipient, .. } = &request.filed;
        RecordJson {
            format_version: 1,
            id: request.id,
            network: network.as_str(),
            agent: agent.as_str(),
            grant_id: grant_id.as_str(),
            idempotency_key: idempotency_key.as_str(),
            recipient: recipient.as_str(),
            amount_sat: request.filed.amount_sat,
            intent_digest: request.filed.intent_digest,
            created_at: request.created_at,
            updated_at: request.updated_at,
            status: request.state.status(),
            state: StateJson::of(request),
        }
    }
}

impl<'a> StateJson<'a> {
    fn of(request: &'a Request) -> StateJson<'a> {
        let at = StateJson { at: Some(request.updated_at), ..StateJson::default() };
        match &request.state {
            State::PendingApproval => StateJson::default(),
            State::Denied(deny) => StateJson { deny: Some(deny), ..at },
            State::Dismissed => at,
            State::Signing { signing, since, .. } => StateJson {
                approved_at: Some(*since),
                fee_sat: Some(signing.fee_sat),
                ..StateJson::default()
            },
            State::Sent(paid) => {
                StateJson { txid: Some(&paid.txid), fee_sat: Some(paid.fee), ..at }
            }
            State::BroadcastPending(paid, message) => StateJson {
                txid: Some(&paid.txid),
                fee_sat: Some(paid.fee),
                message: Some(message),
                ..at
            },
            State::Unresolved { txid, message } => {
                StateJson { txid: Some(txid), message: Some(message), ..at }
            }
            State::Failed(message) => StateJson { message: Some(message), ..at },
        }
    }
}

/// A request in one line, and what can be done with it; `outside` is why it could not be approved now.
pub(super) fn line(request: &Request, outside: Option<&Deny>, now: Stamp, out: &Out) -> String {
    let status = request.state.status();
    let mark = match &request.state {
        State::Sent(_) => Mark::Good,
        State::Denied(_) | State::Dismissed => Mark::Bad,
        _ => Mark::Doubt,
    };
    let next = match (&request.state, outside) {
        (State::Denied(deny), _) => format!("{}: {}", deny.reason(), deny.detail()),
        (_, Some(deny)) => {
            let id = request.id;
            format!("{}: {}: sats agent dismiss {id}", deny.reason(), deny.detail())
        }
        (State::Failed(why), None) => format!("{}: {}", Shown(why.as_str()), advice(request)),
        _ => advice(request),
    };
    let when = Relative { stamp: request.created_at, now }.to_string();
    format!(
        "{}  {:<12} {}  {:>12} sat  {}  {when:<10}  {next}",
        request.id,
        request.filed.agent.as_str(),
        elided(request.filed.recipient.as_str()),
        request.filed.amount_sat,
        out.marked(format_args!("{status:<17}"), mark),
    )
}

/// An address with its middle left out.
fn elided(address: &str) -> String {
    let end = address.len().saturating_sub(6);
    match (address.len() > 20, address.get(..10), address.get(end..)) {
        (true, Some(first), Some(last)) => format!("{first}…{last}"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_addresses_lose_their_middle() {
        assert_eq!(super::elided("tb1pexampleaddress00"), "tb1pexampleaddress00");
        assert_eq!(super::elided("tb1pexampleaddress0000"), "tb1pexampl…ss0000");
    }
}
