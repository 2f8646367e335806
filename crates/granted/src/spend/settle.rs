//! Bringing requests up to what the world shows: of a process that was cut off, or of a broadcast by
//! other means. One row a transition; nothing is signed again, or given back.

use granted_core::decision::settle::ActState;
use granted_core::ledger::Event;
use granted_core::spend::chain::Transactions;
use granted_core::spend::claim::origin;
use granted_core::spend::settle::{is_interrupted, reconcile};
use granted_core::spend::{Request, RequestId, State, Txid};
use granted_core::store::AppendError;

use super::{SpendError, Spends, gather};
use crate::decision::gather::act_state;

/// Brings a request up to what the world shows; where it stands if it moved. One that a living process acts
/// for stays as it is.
pub(crate) fn settle(
    spends: &Spends<'_>,
    request: &Request,
    transactions: &dyn Transactions,
) -> Result<Option<Request>, SpendError> {
    let mut now = None;
    loop {
        let request = now.as_ref().unwrap_or(request);
        if !matches!(request.state, State::Signing { .. } | State::BroadcastPending(..)) {
            return Ok(now);
        }
        // The lock is looked at before the rows: what ends in between has its row there.
        let interrupted = is_interrupted(request, act_of(spends, request), spends.book.now());
        if let Some(moved) = moved(spends, request)? {
            now = Some(moved);
            continue;
        }
        let found = transactions.of_request(&origin(request)).map_err(SpendError::Wallet)?;
        let by = spends.book.by(None);
        let Some(draft) = reconcile(request, interrupted, found.as_ref(), &by) else {
            return Ok(now);
        };
        match spends.book.append(&[draft]) {
            Ok(_) | Err(AppendError::Conflict) => now = Some(again(spends, request.id)?),
            Err(e) => return Err(e.into()),
        }
    }
}

/// Refuses where a living process acts for the request. One that this book does not have is nobody's.
pub fn check_free(spends: &Spends<'_>, id: RequestId) -> Result<(), SpendError> {
    let Some(request) = gather::request(spends, id)? else { return Ok(()) };
    let signing = matches!(request.state, State::Signing { .. });
    let free = is_interrupted(&request, act_of(spends, &request), spends.book.now());
    match signing && !free {
        true => Err(SpendError::Executing(id)),
        false => Ok(()),
    }
}

/// The request that a transaction was signed for, by the ledger.
pub fn signed_for(spends: &Spends<'_>, txid: &Txid) -> Result<Option<RequestId>, SpendError> {
    let mut found = None;
    gather::overview(spends, |row, overview| {
        if let Event::SpendSigning(signing) = &row.event
            && signing.txid == *txid
        {
            found = overview.request_of(row).map(|request| request.id);
        }
    })?;
    Ok(found)
}

/// After a request's transaction was broadcast by its id: the request is sent. No provider is asked, and
/// nothing is drawn. A request that this book does not have is left alone.
pub fn broadcast(
    spends: &Spends<'_>,
    id: RequestId,
    transactions: &dyn Transactions,
) -> Result<(), SpendError> {
    let Some(request) = gather::request(spends, id)? else { return Ok(()) };
    settle(spends, &request, transactions).map(drop)
}

/// The request as it is now, if it is no longer what it was.
fn moved(spends: &Spends<'_>, request: &Request) -> Result<Option<Request>, SpendError> {
    let now = again(spends, request.id)?;
    Ok(Some(now).filter(|now| now.last != request.last))
}

pub(super) fn again(spends: &Spends<'_>, id: RequestId) -> Result<Request, SpendError> {
    gather::request(spends, id)?.ok_or_else(|| SpendError::Unknown(id.to_string()))
}

fn act_of(spends: &Spends<'_>, request: &Request) -> ActState {
    match &request.state {
        State::Signing { signing, .. } => act_state(spends.book, &signing.act),
        _ => ActState::Absent,
    }
}
