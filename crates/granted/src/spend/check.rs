//! What became of a request, for the agent that filed it. Reads only.

use granted_core::spend::file::FileError;
use granted_core::spend::reply::Reply;
use granted_core::spend::{Request, RequestId};

use super::file::{Session, session, store};
use super::{Spends, gather};

/// Where a request of this agent stands. It deals in request ids only.
///
/// A session whose token is no longer the grant's is still told of what was filed under that very token,
/// so that its fate is never silent.
pub fn check(spends: &Spends<'_>, session: &Session, id: &str) -> Reply {
    let Ok(id) = id.parse::<RequestId>() else { return Reply::not_found(None) };
    match found(spends, session, id) {
        Ok(Some(request)) => Reply::of(&request),
        Ok(None) => Reply::not_found(Some(id)),
        Err(e @ FileError::Store(_)) => Reply::unread(id, &e),
        Err(e) => Reply::error(&e),
    }
}

fn found(spends: &Spends<'_>, who: &Session, id: RequestId) -> Result<Option<Request>, FileError> {
    let request = gather::request(spends, id).map_err(store)?;
    let request = request.filter(|request| request.filed.agent == who.agent);
    if let Some(request) = &request {
        let grant = gather::grant(spends, &request.filed.grant_id).map_err(store)?;
        if grant.is_some_and(|state| who.token.is_of(state.grant.token_hash)) {
            return Ok(Some(request.clone()));
        }
    }
    session(spends, who)?;
    Ok(request)
}
