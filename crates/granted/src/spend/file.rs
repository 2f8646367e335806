//! Filing: what an agent asks for, as one row under the guard.

use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use granted_core::ledger::{Draft, Event, Head, Line};
use granted_core::spend::chain::Addresses;
use granted_core::spend::document::Standing;
use granted_core::spend::file::{Decision, Facts, FileError, Filing, authenticate, file as decide};
use granted_core::spend::{AgentName, GrantState, Request, RequestId, Sats, Token};
use granted_core::store::{AppendError, Appended};

use super::{Spends, gather};
use crate::ledger::witness;

/// What an agent's server is: its name and the token that it was given.
#[derive(Debug)]
pub struct Session {
    /// The agent.
    pub agent: AgentName,
    /// Its token.
    pub token: Token,
    /// The grant as the last filing saw it, and that filing's row.
    seen: Mutex<Option<(Head, GrantState)>>,
}

impl Session {
    /// The session of an agent with a token.
    pub fn new(agent: AgentName, token: Token) -> Session {
        Session { agent, token, seen: Mutex::new(None) }
    }

    fn seen(&self) -> MutexGuard<'_, Option<(Head, GrantState)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an agent sends.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Whom to pay, as the agent spells it.
    pub address: &'a str,
    /// How much.
    pub amount: Sats,
    /// The agent's handle.
    pub key: &'a str,
}

/// Files a request, or finds the one that was filed with the same key for the same payment.
pub fn file(
    spends: &Spends<'_>,
    session: &Session,
    asked: &Asked<'_>,
    addresses: &dyn Addresses,
) -> Result<Request, FileError> {
    let key = asked.key.parse().map_err(|_| FileError::InvalidKey)?;
    let canonical = addresses.canonical(asked.address, spends.network);
    let filing = Filing {
        network: spends.network,
        agent: session.agent.clone(),
        key,
        recipient: canonical.map_err(FileError::InvalidAddress)?,
        amount: asked.amount,
    };
    witness::check(spends.book).map_err(store)?;
    // Mostly it is new, which the append finds out, and nobody wrote since this session did: then the grant
    // is what it was. Only a row is written on what was remembered; nothing is refused on it.
    let (mut is_there, mut unwritten) = (false, None);
    let mut seen = session.seen().take();
    loop {
        let now = spends.book.now();
        let head = spends.book.ledger.head().map_err(store)?;
        let same = seen.take().filter(|(last, _)| Some(*last) == head);
        let is_seen = same.is_some();
        let (grant, document) = match same {
            Some((_, state)) => {
                let document = gather::standing(spends, &state);
                (Some(state), document)
            }
            None => current(spends, &session.agent)?,
        };
        let id = grant
            .as_ref()
            .map(|state| RequestId::new(state.grant.grant_id.as_str(), &filing.agent, &filing.key));
        let existing = id.filter(|_| is_there).map(|id| gather::request(spends, id));
        let existing = existing.transpose().map_err(store)?.flatten();
        let facts = Facts {
            now,
            head,
            by: spends.book.by(session.agent.name().as_ref()),
            grant: grant.as_ref(),
            document,
            token: &session.token,
            existing: existing.as_ref(),
        };
        let decision = match decide(&filing, &facts) {
            Err(_) if is_seen => continue,
            decision => decision?,
        };
        let draft = match (decision, &existing) {
            (Decision::File(draft), _) => match unwritten {
                Some(error) => return Err(store(error)),
                None => draft,
            },
            (Decision::Existing, Some(existing)) => return Ok(existing.clone()),
            (Decision::Existing, None) => continue,
        };
        match spends.book.append_after(head, slice::from_ref(&draft)) {
            Ok(appended) => {
                let last = appended.lines.last().map(Line::head);
                *session.seen() = last.zip(grant);
                let nothing = || FileError::Store("the row files nothing".into());
                return filed(&draft, &appended).ok_or_else(nothing);
            }
            // The same filing elsewhere, or the grant has moved.
            Err(AppendError::Conflict) => is_there = true,
            // What was filed before is still told where nothing can be written.
            Err(e @ AppendError::NotWritten(_)) => (is_there, unwritten) = (true, Some(e)),
            Err(e) => return Err(store(e)),
        }
    }
}

/// The request that the row of this draft files.
fn filed(draft: &Draft, appended: &Appended) -> Option<Request> {
    let (Event::SpendFiled(filed), Some(line)) = (&draft.event, appended.lines.first()) else {
        return None;
    };
    Some(Request::filed(filed.id(), line.seq, line.at, filed))
}

/// The grant that the session's token is for.
pub fn session(spends: &Spends<'_>, session: &Session) -> Result<GrantState, FileError> {
    let (grant, document) = current(spends, &session.agent)?;
    authenticate(&session.agent, grant.as_ref(), &document, &session.token).cloned()
}

pub(super) fn current(
    spends: &Spends<'_>,
    agent: &AgentName,
) -> Result<(Option<GrantState>, Standing), FileError> {
    let agent = gather::agent(spends, agent).map_err(store)?;
    let grant = gather::grant_of(spends, &agent).map_err(store)?;
    let document =
        grant.as_ref().map_or(Standing::Missing, |state| gather::standing(spends, state));
    Ok((grant, document))
}

pub(crate) fn store(error: impl std::fmt::Display) -> FileError {
    FileError::Store(error.to_string())
}
