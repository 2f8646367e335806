//! What agents asked for.

use granted_core::spend::Request;
use granted_core::spend::chain::Transactions;
use granted_core::store::ReadError;

use super::settle::settle;
use super::{SpendError, Spends, gather};

/// The requests of the network, the newest first, brought up to what the world shows; only those that a
/// person has something to do with, or `all`.
pub fn requests(
    spends: &Spends<'_>,
    all: bool,
    transactions: &dyn Transactions,
) -> Result<Vec<Request>, SpendError> {
    let mut found = look(spends)?;
    found.retain(|request| all || request.state.is_open());
    for request in &mut found {
        if let Some(moved) = settle(spends, request, transactions)? {
            *request = moved;
        }
    }
    found.retain(|request| all || request.state.is_open());
    Ok(found)
}

/// The requests as the rows have them, the newest first. Writes nothing and asks nobody.
pub fn look(spends: &Spends<'_>) -> Result<Vec<Request>, ReadError> {
    let mut found: Vec<Request> = gather::overview(spends, |_, _| {})?.into_requests().collect();
    // They are large, and are moved once.
    found.sort_by_cached_key(|request| std::cmp::Reverse((request.created_at, request.id)));
    Ok(found)
}
