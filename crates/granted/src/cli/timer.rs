//! `granted timer`

mod install;
mod remove;
mod run;
mod status;

use granted_core::decision::Object;

use super::failure::Failure;
use super::out::Out;

/// Have your systemd tick, or try to discharge an object, every quarter of an hour.
///
/// The timers are units of your own: nobody but you needs to allow them. docs/timer.md says what is in
/// them, and what to do on a machine without systemd.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  granted timer install
  granted timer install --object report/2026-09-30 --executor send_report --action send
  granted timer status";

#[derive(clap::Subcommand)]
enum Command {
    Install(install::Args),
    Remove(remove::Args),
    Status(status::Args),
    Run(run::Args),
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Install(args) => install::run(args, out),
        Command::Remove(args) => remove::run(args, out),
        Command::Status(args) => status::run(args, out),
        Command::Run(args) => run::run(args, out),
    }
}

/// What a timer is for, in words.
fn purpose(object: Option<&Object>) -> String {
    object.map_or_else(|| "tick".to_owned(), Object::to_string)
}
