//! Declining a request.

use granted_core::spend::reply::advice;
use granted_core::spend::settle::dismissed;
use granted_core::spend::{Request, State};
use granted_core::store::AppendError;

use super::settle::again;
use super::{SpendError, Spends, gather};

/// Declines the request that this id, or beginning of one, names. It needs no password and gives nothing
/// back: what still waits has drawn nothing, and of what is unresolved nobody knows.
pub fn dismiss(spends: &Spends<'_>, id: &str) -> Result<Request, SpendError> {
    let mut request = gather::named(spends, id)?;
    loop {
        let Some(draft) = dismissed(&request, &spends.book.by(None)) else {
            let (id, status) = (request.id, request.state.status());
            return Err(match request.state {
                State::Dismissed => SpendError::Dismissed(id),
                _ => SpendError::Past { id, status, what: advice(&request) },
            });
        };
        let written = spends.book.append(&[draft]);
        request = again(spends, request.id)?;
        match written {
            Ok(_) => return Ok(request),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
