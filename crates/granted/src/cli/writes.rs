//! `granted writes`

mod approve;
mod check;
mod dispatch;
mod grants;
mod log;
mod mcp;
mod reject;
mod request;
mod revert;
mod revoke;
mod setup;
mod show;
mod sign;
mod staged;

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::out::Out;
use crate::write::project::OpenProject;

/// Look at what agents want to change in your projects, and say yes or no.
///
/// An agent's changes wait until you approve them; a set of changes is applied as a whole or not at
/// all, and can be taken back.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes staged
  granted writes show 01J8ZC3V9Q6W5T4R3E2W1Q0PAS
  granted writes approve 01J8ZC3V9Q6W5T4R3E2W1Q0PAS
  granted writes sign producer --max-writes 50";

#[derive(clap::Subcommand)]
enum Command {
    Staged(staged::Args),
    Show(show::Args),
    Approve(approve::Args),
    Reject(reject::Args),
    Revert(revert::Args),
    Log(log::Args),
    Sign(sign::Args),
    Grants(grants::Args),
    Revoke(revoke::Args),
    Dispatch(dispatch::Args),
    Check(check::Args),
    Setup(setup::Args),
    Mcp(mcp::Args),
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        !matches!(
            self.command,
            Command::Staged(_)
                | Command::Show(_)
                | Command::Log(_)
                | Command::Grants(_)
                | Command::Check(_)
        )
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Staged(args) => staged::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Approve(args) => approve::run(&args, out),
        Command::Reject(args) => reject::run(&args, out),
        Command::Revert(args) => revert::run(&args, out),
        Command::Log(args) => log::run(&args, out),
        Command::Sign(args) => sign::run(args, out),
        Command::Grants(args) => grants::run(&args, out),
        Command::Revoke(args) => revoke::run(args, out),
        Command::Dispatch(args) => dispatch::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Setup(args) => setup::run(&args, out),
        Command::Mcp(args) => mcp::run(args, out),
    }
}

/// The project that a verb is about.
#[derive(clap::Args)]
pub(super) struct ProjectArgs {
    /// The project's folder, in which granted.toml lies.
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
}

impl ProjectArgs {
    fn open(&self) -> Result<OpenProject, Failure> {
        Ok(OpenProject::open(&self.project)?)
    }

    fn path(&self) -> &Path {
        &self.project
    }
}
