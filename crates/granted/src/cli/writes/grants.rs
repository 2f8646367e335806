//! `granted writes grants`

use std::path::PathBuf;

use granted_core::text::Shown;
use granted_core::time::Stamp;
use granted_core::write::direct::MAX_WRITES;
use granted_core::write::{DirectGrant, Project};
use serde::Serialize;

use super::super::args::reading_book;
use super::super::failure::Failure;
use super::super::out::{Mark, Out};
use crate::write::grants::{Listed, State, list, projects};
use crate::write::project::OpenProject;

/// List the direct grants, with how much of each is used and what keeps it from being honoured.
///
/// Each is looked at as an agent's server does when it starts.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Only those of this project.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  granted writes grants --project ~/site";

#[derive(Serialize)]
struct GrantJson<'a> {
    grant: &'a DirectGrant,
    problem: Option<&'a str>,
    revoked: Option<Stamp>,
    state: State,
    used: u64,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    const { assert!(MAX_WRITES < 1_000) };
    let book = reading_book(out)?;
    let projects: Vec<Project> = match &args.project {
        Some(path) => vec![OpenProject::open(path)?.name().clone()],
        None => projects(&book)?,
    };
    let mut any = false;
    for project in &projects {
        for listed in list(&book, project)? {
            any = true;
            show(&listed, out);
        }
    }
    if !any && !out.is_json() {
        out.remark(format_args!(
            "there is no direct grant in `{}`",
            book.home().ledger().display()
        ));
    }
    Ok(0)
}

fn show(listed: &Listed, out: &Out) {
    let Listed { grant, state, used, revoked, problem } = listed;
    if out.is_json() {
        let (state, used, revoked) = (*state, *used, *revoked);
        return out.value(&GrantJson { grant, problem: problem.as_deref(), revoked, state, used });
    }
    let mark = match state {
        State::Active => Mark::Good,
        State::Off => Mark::Bad,
        State::Revoked | State::Expired | State::Spent => Mark::Doubt,
    };
    out.line(format_args!(
        "{} {}  {}  {used:>3}/{:<3}  until {:.0}  {}",
        out.marked(format_args!("{:<8}", state.as_str()), mark),
        grant.grant_id,
        grant.agent,
        grant.max_writes,
        grant.expires,
        grant.project
    ));
    if let Some(problem) = problem {
        out.line(format_args!("         {}", Shown(problem)));
    }
}
