//! `granted writes`

mod dispatch;
mod grants;
mod mcp;
mod revoke;
mod sign;

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::out::Out;
use crate::write::project::OpenProject;

/// Decide on what agents want to change in a project's files.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes sign producer --max-writes 50
  granted writes grants";

#[derive(clap::Subcommand)]
enum Command {
    Sign(sign::Args),
    Grants(grants::Args),
    Revoke(revoke::Args),
    Dispatch(dispatch::Args),
    Mcp(mcp::Args),
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, Command::Grants(_))
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Sign(args) => sign::run(args, out),
        Command::Grants(args) => grants::run(&args, out),
        Command::Revoke(args) => revoke::run(args, out),
        Command::Dispatch(args) => dispatch::run(&args, out),
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
