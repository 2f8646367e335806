//! Payments that wait for the person, on every network.

use granted_core::spend::overview::Overview;
use granted_core::spend::{Network, Request, State};
use granted_core::store::ReadError;

use super::{Shape, Waiting, What};
use crate::book::Book;
use crate::spend::each_row;

/// Those that can be approved, that may have to be sent again, that were cut off, and that are unresolved.
pub(super) fn waiting(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let mut networks = Network::ALL.map(Overview::new);
    each_row(&*book.ledger, |row| {
        for overview in &mut networks {
            overview.apply(row);
        }
    })?;
    let requests = networks.into_iter().flat_map(Overview::into_requests);
    Ok(requests.filter_map(|request| one(&request)).collect())
}

fn one(request: &Request) -> Option<Waiting> {
    let (id, network) = (request.id.to_string(), request.filed.network);
    let (what, command) = match &request.state {
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
    let about =
        format!("{}: {} sat to {} on {network}", filed.agent, filed.amount_sat, filed.recipient);
    let since = request.updated_at;
    Some(Waiting { about, command, ends: None, id, shape: Shape::Spend, since, what })
}
