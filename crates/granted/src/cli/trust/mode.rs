//! `granted trust mode`

use granted_core::trust::{Change, Mode};
use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::super::sign_with::{SignWith, asking};
use crate::decision::trust::change;

/// Have signatures asked for, or not.
///
/// In signed mode only a grant that a trusted key signed is minted and used. To go back to open mode a
/// trusted key has to sign.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// `signed` or `open`.
    #[arg(value_name = "MODE", value_parser = mode)]
    mode: Mode,
    /// The key that signs: the name of a key file, ssh, or ssh:PUB with a public key file;
    /// default: the only key file that is trusted.
    #[arg(long, value_name = "KEY")]
    sign_with: Option<SignWith>,
}

const AFTER_HELP: &str = "\
Example:
  granted trust mode signed";

#[derive(Serialize)]
struct ModeJson {
    mode: Mode,
}

fn mode(text: &str) -> Result<Mode, String> {
    [Mode::Open, Mode::Signed]
        .into_iter()
        .find(|mode| mode.to_string() == text)
        .ok_or_else(|| "it is open or signed".into())
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("trust mode", out)?;
    change(&book, &Change::Mode(args.mode), asking(&book, args.sign_with.as_ref()))?;
    match out.is_json() {
        true => out.value(&ModeJson { mode: args.mode }),
        false => out.line(format_args!("the mode is {} from now on", args.mode)),
    }
    Ok(0)
}
