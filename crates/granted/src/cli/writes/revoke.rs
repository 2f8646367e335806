//! `granted writes revoke`

use granted_core::id::Id;
use granted_core::text::Note;
use granted_core::write::{Agent, Project};

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::ProjectArgs;
use crate::write::sign::{Target, revoke};

/// Take a direct grant back, for good; or all that an agent has in a project.
///
/// It acts on the next write: servers look at the ledger before each.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent, or the grant's id.
    #[arg(value_name = "AGENT|GRANT")]
    target: String,
    #[command(flatten)]
    project: ProjectArgs,
    /// Whose hand takes it back.
    #[arg(long, value_name = "WHO")]
    by: Option<Note>,
    /// More, in words.
    #[arg(long, value_name = "TEXT")]
    note: Option<Note>,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes revoke producer --project ~/site
  granted writes revoke 01J8ZC3V9Q6W5T4R3E2W1Q0PAS --by me --note \"the gate was too weak\"";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes revoke", out)?;
    // An id has upper-case letters, and an agent none.
    let target = match (args.target.parse::<Id>(), args.target.parse::<Agent>()) {
        (Ok(id), _) => Target::Grant(id),
        (Err(_), Ok(agent)) => Target::Agent(agent, name(&args.project)?),
        (Err(_), Err(e)) => return Err(Failure::usage(e)),
    };
    for grant in revoke(&book, &target, args.by, args.note)? {
        match out.is_json() {
            true => out.value(&grant),
            false => out.line(format_args!(
                "revoked {} (agent `{}`, {})",
                grant.grant_id, grant.agent, grant.project
            )),
        }
    }
    Ok(0)
}

/// The project's name. Whatever is wrong with its files and its brief keeps nobody from taking back.
fn name(project: &ProjectArgs) -> Result<Project, Failure> {
    let path = project.path();
    let real = path.canonicalize().map_err(|e| Failure::at(path, &e))?;
    Project::new(real.to_string_lossy().into_owned()).map_err(Failure::usage)
}
