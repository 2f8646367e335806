//! Payments that wait for the person, on every network.

use granted_core::spend::approve::outside;
use granted_core::spend::overview::Overview;
use granted_core::spend::{Deny, Network, Request, State};
use granted_core::store::ReadError;

use super::{Shape, Waiting, What};
use crate::book::Book;
use crate::spend::each_row;

/// Those that can be approved, or only be declined by now, that may have to be sent again, that were cut
/// off, and that are unresolved.
pub(super) fn waiting(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let mut networks = Network::ALL.map(Overview::new);
    each_row(&*book.ledger, |row| {
        for overview in &mut networks {
            overview.apply(row);
        }
    })?;
    let now = book.now();
    let of_network = |overview: &Overview| -> Vec<Waiting> {
        let stands = |request: &Request| {
            let grant = overview.grant(&request.filed.grant_id);
            one(request, outside(request, grant, now).as_ref())
        };
        overview.requests().filter_map(stands).collect()
    };
    Ok(networks.iter().flat_map(of_network).collect())
}

/// `outside` is why it could not be approved now.
fn one(request: &Request, outside: Option<&Deny>) -> Option<Waiting> {
    let (id, network) = (request.id.to_string(), request.filed.network);
    let outside = outside.filter(|_| request.state.is_approvable());
    let (what, command) = match &request.state {
        State::PendingApproval | State::Failed(_) if outside.is_some() => {
            (What::Outside, format!("sats agent dismiss {id}"))
        }
        State::PendingApproval | State::Failed(_) => {
            (What::Asked, format!("sats agent approve {id}"))
        }
        State::Signing { .. } => (What::CutOff, format!("sats agent requests --network {network}")),
        State::BroadcastPending(paid, _) => {
            (What::Unsent, format!("sats tx broadcast {} --network {network}", paid.txid))
        }
        State::Unresolved { .. } => (What::Unresolved, format!("sats agent dismiss {id}")),
        State::Denied(_) | State::Dismissed | State::Sent(_) => return None,
    };
    let filed = &request.filed;
    let why = outside.map(|deny| format!(": {}", deny.detail())).unwrap_or_default();
    let about = format!(
        "{}: {} sat to {} on {network}{why}",
        filed.agent, filed.amount_sat, filed.recipient
    );
    let since = request.updated_at;
    Some(Waiting { about, command, ends: None, id, shape: Shape::Spend, since, what })
}
