//! `sats providers`

mod add;
mod list;
mod remove;
mod r#use;

use granted_core::text::Name;

use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;

/// Say who tells the wallet the chain.
///
/// Where nothing is said, mempool.space does, which then sees your addresses and where you ask from. A
/// node or a server of your own tells nobody.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  sats providers add home electrum tcp://127.0.0.1:50001
  sats providers use home
  sats providers list";

#[derive(clap::Subcommand)]
enum Command {
    List(list::Args),
    Add(add::Args),
    Use(r#use::Args),
    Remove(remove::Args),
}

impl Args {
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, Command::List(_))
    }
}

pub(super) fn run(args: Args, place: Place, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::List(args) => list::run(&args, &place, out),
        Command::Add(args) => add::run(args, place, out),
        Command::Use(args) => r#use::run(args, place, out),
        Command::Remove(args) => remove::run(args, place, out),
    }
}

/// There is no provider of this name.
fn none(name: &Name) -> Failure {
    let message = format!("there is no provider `{name}`");
    Failure::refused(message).hint("which there are: sats providers list")
}
