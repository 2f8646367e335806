//! `granted writes`

mod approve;
mod log;
mod reject;
mod request;
mod revert;
mod show;
mod staged;

use super::failure::Failure;
use super::out::Out;

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
  granted writes approve 01J8ZC3V9Q6W5T4R3E2W1Q0PAS";

#[derive(clap::Subcommand)]
enum Command {
    Staged(staged::Args),
    Show(show::Args),
    Approve(approve::Args),
    Reject(reject::Args),
    Revert(revert::Args),
    Log(log::Args),
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, Command::Staged(_) | Command::Show(_) | Command::Log(_))
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
    }
}
