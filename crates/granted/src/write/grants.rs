//! Listing direct grants, each as a server would find it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use granted_core::ledger::{Event, Row};
use granted_core::store::ReadError;
use granted_core::time::Stamp;
use granted_core::write::direct::{Active, count_direct_writes};
use granted_core::write::{DirectGrant, Project};
use serde::Serialize;

use super::direct::{active_grants, rows_of, standing};
use super::project::OpenProject;
use crate::book::Book;

/// How a direct grant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A server that starts now honours it.
    Active,
    /// It would count, but for the problem.
    Off,
    /// All its files are written.
    Spent,
    /// Its time is over.
    Expired,
    /// The person took it back.
    Revoked,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Off => "off",
            State::Spent => "spent",
            State::Expired => "expired",
            State::Revoked => "revoked",
        }
    }
}

/// A direct grant, as it is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The grant.
    pub grant: DirectGrant,
    /// How it stands.
    pub state: State,
    /// How many files were written under it.
    pub used: u64,
    /// When it was taken back.
    pub revoked: Option<Stamp>,
    /// What keeps it from being honoured.
    pub problem: Option<String>,
}

/// The projects for which a direct grant was ever signed.
pub fn projects(book: &Book) -> Result<Vec<Project>, ReadError> {
    let granted = memchr::memmem::Finder::new(b"\"kind\":\"write.direct_granted\"");
    let mut projects = BTreeSet::new();
    book.ledger.scan(1, &mut |line| {
        // Most rows are of other kinds, and parsing takes long.
        if granted.find(line.bytes).is_some()
            && let Ok(Row { event: Event::DirectGranted(body), .. }) = Row::parse(line.bytes)
        {
            projects.insert(body.grant.project);
        }
        ControlFlow::Continue(())
    })?;
    Ok(projects.into_iter().collect())
}

/// The direct grants of a project, the newest first.
pub fn list(book: &Book, project: &Project) -> Result<Vec<Listed>, ReadError> {
    let now = book.now();
    let found = found(book, project);
    let mut all = Vec::new();
    for signed in standing(book, project)?.grants.into_iter().rev() {
        let (grant, revoked) = (signed.record.grant, signed.revoked);
        let used = count_direct_writes(&rows_of(book, grant.grant_id)?);
        let state = match (revoked, &found) {
            (Some(_), _) => State::Revoked,
            _ if now >= grant.expires => State::Expired,
            _ if used >= grant.max_writes => State::Spent,
            (_, Ok(active)) if is_active(active, &grant) => State::Active,
            _ => State::Off,
        };
        let problem = (state == State::Off).then(|| match &found {
            Ok(active) => match active.problem(Some(&grant)) {
                Some(problem) => problem.to_string(),
                None => "it is not in the grants file: sign again to put it there".into(),
            },
            Err(why) => why.clone(),
        });
        all.push(Listed { grant, state, used, revoked, problem });
    }
    Ok(all)
}

fn is_active(active: &Active, grant: &DirectGrant) -> bool {
    active.grants.values().any(|verified| verified.grant() == grant)
}

/// What a server finds that starts now.
fn found(book: &Book, project: &Project) -> Result<Active, String> {
    let open = OpenProject::named(project).map_err(|e| e.to_string())?;
    let brief = open.brief().map_err(|e| e.to_string())?.brief;
    let (active, _) = active_grants(book, &open, &brief).map_err(|e| e.to_string())?;
    Ok(active)
}
