//! Beginning a session for an agent.

use granted_core::decision::discharge::{clock_behind, instant};
use granted_core::spend::file::{FileError, authenticate};
use granted_core::spend::{AgentName, GrantState, Network, Token};
use granted_core::store::ReadError;

use super::Spends;
use super::file::{Session, current};
use super::list::prune;

/// Why there is no session.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The agent has no grant.
    #[error("agent `{0}` has no grant on {1}")]
    None(AgentName, Network),
    /// Its time is over; its document is taken away.
    #[error("the grant of agent `{0}` has expired")]
    Expired(AgentName),
    /// No token was given.
    #[error("there is no token for agent `{0}` in SATS_AGENT_TOKEN")]
    NoToken(AgentName),
    /// The token, the document or the clock.
    #[error(transparent)]
    Other(#[from] FileError),
    /// The ledger.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Begins a session: there is a grant, its time is not over, and the token is its own.
pub fn open(
    spends: &Spends<'_>,
    agent: &AgentName,
    token: Option<&str>,
) -> Result<(Session, GrantState), OpenError> {
    let (grant, document) = current(spends, agent)?;
    let Some(state) = grant.as_ref().filter(|state| !state.is_over()) else {
        return Err(OpenError::None(agent.clone(), spends.network));
    };
    let (now, head) = (spends.book.now(), spends.book.ledger.head()?);
    if let Some(behind) = clock_behind(now, head) {
        return Err(FileError::ClockUnavailable(behind).into());
    }
    if prune(spends, state, instant(now, head)) {
        return Err(OpenError::Expired(agent.clone()));
    }
    let token = token.filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| OpenError::NoToken(agent.clone()))?;
    // What is no token is the token of no grant.
    let token = Token::parse(token).ok_or_else(|| FileError::Unauthorized(agent.clone()))?;
    let state = authenticate(agent, Some(state), &document, &token)?.clone();
    Ok((Session::new(agent.clone(), token), state))
}
