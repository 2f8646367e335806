//! Filing: what an agent asks for, as one row under the guard.

use granted_core::ledger::Row;
use granted_core::spend::chain::Addresses;
use granted_core::spend::document::Standing;
use granted_core::spend::file::{Decision, Facts, FileError, Filing, authenticate, file as decide};
use granted_core::spend::{AgentName, GrantState, Request, RequestId, Sats, Token};
use granted_core::store::AppendError;

use super::{Spends, gather};
use crate::ledger::witness;

/// What an agent's server is: its name and the token that it was given.
#[derive(Clone, Debug)]
pub struct Session {
    /// The agent.
    pub agent: AgentName,
    /// Its token.
    pub token: Token,
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
    // Mostly it is new, and then the append finds that out.
    let (mut is_there, mut unwritten) = (false, None);
    loop {
        let now = spends.book.now();
        let head = spends.book.ledger.head().map_err(store)?;
        let (grant, document) = current(spends, &session.agent)?;
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
        let draft = match (decide(&filing, &facts)?, &existing) {
            (Decision::File(draft), _) => match unwritten {
                Some(error) => return Err(store(error)),
                None => draft,
            },
            (Decision::Existing, Some(existing)) => return Ok(existing.clone()),
            (Decision::Existing, None) => continue,
        };
        match spends.book.append_after(head, &[*draft]) {
            Ok(appended) => {
                let row = appended.lines.first().map(|line| Row::parse(&line.bytes));
                let filed = id.and_then(|id| Request::fold(id, &row?.ok()));
                let unread = || FileError::Store("the row does not read as it was written".into());
                return filed.ok_or_else(unread);
            }
            // The same filing elsewhere, or the grant has moved.
            Err(AppendError::Conflict) => is_there = true,
            // What was filed before is still told where nothing can be written.
            Err(e @ AppendError::NotWritten(_)) => (is_there, unwritten) = (true, Some(e)),
            Err(e) => return Err(store(e)),
        }
    }
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
