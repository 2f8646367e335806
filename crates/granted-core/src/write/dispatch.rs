//! Dispatches: a nonce that lets an agent file so many change sets for a time.
//!
//! Only the nonce's digest is kept. Every arrival that names a known dispatch moves it and costs an attempt;
//! one that is staged or written costs a use too.

use std::time::Duration;

use super::agent::Agent;
use super::brief::{Approval, Brief};
use super::direct::{DIRECT_MAX_USES, DIRECT_TTL_HOURS};
use super::event::Dispatched;
use super::project::Project;
use crate::decision::discharge::clock_behind;
use crate::digest::Digest;
use crate::ledger::{By, Draft, Event, Head, Row, Subject};
use crate::time::Stamp;

/// For how many change sets a nonce is good where nothing else is said, and at most.
pub const USES: u32 = 25;
/// See [`USES`].
pub const MAX_USES: u32 = 1_000;
/// How long a nonce is good where nothing else is said, and at most.
pub const TTL: Duration = Duration::from_secs(24 * 3_600);
/// See [`TTL`].
pub const MAX_TTL: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How many arrivals there may be for each use.
const ATTEMPTS_A_USE: u64 = 4;

/// The digest under which a nonce is known; `None` if it is not 32 lower-case hexadecimal digits.
pub fn id(nonce: &str) -> Option<Digest> {
    let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    (nonce.len() == 32 && nonce.bytes().all(hex))
        .then(|| Digest::of(format!("dispatch:{nonce}").as_bytes()))
}

/// What the person says of a dispatch; what they leave out depends on the agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// How long it is good.
    pub ttl: Option<Duration>,
    /// For how many change sets.
    pub uses: Option<u32>,
}

/// Why no dispatch is issued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotIssued {
    /// The brief does not name the agent.
    #[error("the brief names no agent `{0}`")]
    NotInBrief(Agent),
    /// It would be good for too long, or too often.
    #[error("a dispatch is good for at most 30 days and for 1 to {MAX_USES} change sets")]
    Wide,
    /// The clock is behind the ledger.
    #[error("{0}")]
    Clock(String),
}

/// What is issued to an agent: where nothing else is said, narrow enough for direct writes if the brief
/// asks for those.
pub fn issue(
    agent: &Agent,
    project: &Project,
    brief: &Brief,
    terms: Terms,
    now: Stamp,
    head: Option<Head>,
) -> Result<Dispatched, NotIssued> {
    let entry = brief.agents.get(agent).ok_or_else(|| NotIssued::NotInBrief(agent.clone()))?;
    if let Some(behind) = clock_behind(now, head) {
        return Err(NotIssued::Clock(behind));
    }
    let (ttl, uses) = match entry.approval {
        Approval::Direct => (Duration::from_secs(DIRECT_TTL_HOURS * 3_600), DIRECT_MAX_USES),
        Approval::Staged => (TTL, USES),
    };
    let (ttl, uses) = (terms.ttl.unwrap_or(ttl), terms.uses.unwrap_or(uses));
    if ttl > MAX_TTL || !(1..=MAX_USES).contains(&uses) {
        return Err(NotIssued::Wide);
    }
    Ok(Dispatched { agent: agent.clone(), expires: now.plus(ttl), project: project.clone(), uses })
}

/// The row that issues it. It is known by `id`, the digest of its nonce.
pub fn draft(id: Digest, issued: Dispatched, by: &By) -> Draft {
    let refs = vec![(Subject::dispatch(id), 0)];
    Draft::new(Event::WriteDispatched(issued), by.clone(), refs)
}

/// A dispatch, as its rows leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchState {
    /// What was issued.
    pub issued: Dispatched,
    /// When.
    pub at: Stamp,
    /// How many change sets it was used for.
    pub uses: u64,
    /// How many arrivals named it.
    pub attempts: u64,
    /// Whether a damaged ledger that had more to say of it was accepted.
    pub closed: bool,
    /// What a row that moves it comes after.
    pub moved: (Subject, u64),
}

impl DispatchState {
    /// Folds the rows of a dispatch, oldest first; `None` if it was never issued.
    pub fn fold(id: Digest, rows: &[Row]) -> Option<DispatchState> {
        let (first, rest) = rows.split_first()?;
        let Event::WriteDispatched(issued) = &first.event else { return None };
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let used = |row: &&Row| matches!(row.event, Event::WriteStaged(_) | Event::WriteDirect(_));
        Some(DispatchState {
            issued: issued.clone(),
            at: first.at,
            uses: count(rest.iter().filter(used).count()),
            attempts: count(rest.len()),
            closed: rest.iter().any(|row| matches!(row.event, Event::Accepted(_))),
            moved: (Subject::dispatch(id), rows.last().map_or(0, |row| row.seq)),
        })
    }

    /// Whether this agent may file one more change set here with it.
    pub fn allows(&self, agent: &Agent, project: &Project, now: Stamp) -> bool {
        let Dispatched { agent: whose, expires, project: place, uses } = &self.issued;
        let uses = u64::from(*uses);
        !self.closed
            && whose == agent
            && place == project
            && now < *expires
            && self.uses < uses
            && self.attempts < attempts(uses)
    }

    /// Whether it is narrow enough for a direct write.
    pub fn is_narrow(&self) -> bool {
        is_narrow(self.issued.uses, self.issued.expires.since(self.at))
    }
}

/// Whether a dispatch for so many uses and so long is narrow enough for a direct write.
pub(crate) fn is_narrow(uses: u32, ttl: Duration) -> bool {
    uses <= DIRECT_MAX_USES && ttl <= Duration::from_secs(DIRECT_TTL_HOURS * 3_600)
}

/// How many arrivals may name a dispatch for so many uses.
pub(crate) fn attempts(uses: u64) -> u64 {
    uses.saturating_mul(ATTEMPTS_A_USE)
}
