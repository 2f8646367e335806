//! Rows of spends in words.

use granted_core::ledger::{Event, Row};
use granted_core::spend::event::Filed;
use granted_core::text::Shown;

use super::moved;

/// What a row of a spend says.
pub(super) fn what(event: &Event, row: &Row) -> String {
    let id = moved(row);
    match event {
        Event::SpendGranted(body) => {
            let grant = &body.grant;
            format!(
                "{} on {}: {} sat until {:.0} [{id}]",
                grant.agent, grant.network, grant.budget_sat, grant.expires_at
            )
        }
        Event::SpendModeChanged(body) => format!("from {} to {} [{id}]", body.from, body.to),
        Event::SpendRecipientAllowed(body) | Event::SpendRecipientDisallowed(body) => {
            format!("{} [{id}]", body.recipient)
        }
        Event::SpendFiled(Filed { amount_sat, recipient, network, deny, .. }) => {
            let deny = deny.as_ref().map(|deny| format!(": denied, {}", deny.reason()));
            format!(
                "{amount_sat} sat to {recipient} on {network}{} [{id}]",
                deny.unwrap_or_default()
            )
        }
        Event::SpendDenied(body) => {
            format!("{}: {} [{id}]", body.deny.reason(), body.deny.detail())
        }
        Event::SpendSigning(body) => {
            format!("{} sat and {} sat fee in {} [{id}]", body.amount_sat, body.fee_sat, body.txid)
        }
        Event::SpendFailed(body) => format!("{} [{id}]", Shown(body.message.as_str())),
        Event::SpendSigned(body) => format!("{} [{id}]", body.txid),
        Event::SpendSent(body) => format!("{} [{id}]", body.txid),
        Event::SpendBroadcastPending(body) => {
            format!("{}: {} [{id}]", body.txid, Shown(body.message.as_str()))
        }
        Event::SpendUnresolved(body) => format!("{} [{id}]", Shown(body.message.as_str())),
        _ => format!("[{id}]"),
    }
}
