//! `sats psbt`

mod inspect;
mod sign;

use std::io::Write as _;
use std::path::Path;

use granted_sats::bitcoin::Psbt;
use granted_store::open;

use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;
use crate::files;

/// Look at and sign what another program, or another machine, prepared.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  sats psbt inspect payment.psbt
  sats psbt sign payment.psbt";

#[derive(clap::Subcommand)]
enum Command {
    Inspect(inspect::Args),
    Sign(sign::Args),
}

impl Args {
    pub(super) fn acts(&self) -> bool {
        matches!(self.command, Command::Sign(_))
    }
}

pub(super) fn run(args: Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Inspect(args) => inspect::run(&args, place, out),
        Command::Sign(args) => sign::run(&args, place, out),
    }
}

/// The most bytes of a PSBT, or of a transaction, that is read.
pub(super) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Reads a PSBT, in base64 or as it is.
fn read(path: &Path) -> Result<Psbt, Failure> {
    let bytes = files::read(path, MAX_FILE).map_err(Failure::input)?;
    let missing = || Failure::input(format!("`{}`: there is no such file", path.display()));
    let bytes = bytes.ok_or_else(missing)?;
    let parsed = match bytes.starts_with(b"psbt\xff") {
        true => Psbt::deserialize(&bytes).ok(),
        false => str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()),
    };
    parsed.ok_or_else(|| Failure::input(format!("`{}` is no PSBT", path.display())))
}

/// Writes a file that must not be there, durably.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = open::create(path).map_err(Failure::input)?;
    let written = file.write_all(bytes).and_then(|()| open::sync(&file));
    written.map_err(|e| Failure::at(path, &e))
}
