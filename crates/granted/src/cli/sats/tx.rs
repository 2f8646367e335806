//! `sats tx`

mod broadcast;
mod bump;

use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;

/// Send what was signed once more, or replace it by one that pays a higher fee.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  sats tx broadcast 4a5e1e
  sats tx bump 4a5e1e --fee-rate 12";

#[derive(clap::Subcommand)]
enum Command {
    Broadcast(broadcast::Args),
    Bump(bump::Args),
}

pub(super) fn run(args: Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Broadcast(args) => broadcast::run(&args, place, out),
        Command::Bump(args) => bump::run(&args, place, out),
    }
}
