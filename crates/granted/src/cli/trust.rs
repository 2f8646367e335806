//! `granted trust`

mod mode;

use granted_core::trust::Mode;
use serde::Serialize;

use super::args::book;
use super::failure::Failure;
use super::key::{KeyJson, line};
use super::out::Out;
use crate::decision::trust::trust;

/// Say whether this book asks for signatures, and which keys it trusts.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  granted trust
  granted trust mode signed";

#[derive(clap::Subcommand)]
enum Command {
    Mode(mode::Args),
}

#[derive(Serialize)]
struct TrustJson<'a> {
    keys: Vec<KeyJson<'a>>,
    mode: Mode,
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        self.command.is_some()
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Some(Command::Mode(args)) => mode::run(&args, out),
        None => show(out),
    }
}

fn show(out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let trust = trust(&book)?;
    if out.is_json() {
        let keys = trust.keys().iter().map(KeyJson::trusted).collect();
        out.value(&TrustJson { keys, mode: trust.mode });
        return Ok(0);
    }
    out.line(match trust.mode {
        Mode::Open => "open: grants need no signature",
        Mode::Signed => "signed: only grants that a trusted key signed are minted and used",
    });
    if trust.keys().is_empty() {
        out.line("no key is trusted");
    }
    for trusted in trust.keys() {
        out.line(line(trusted));
    }
    Ok(0)
}
