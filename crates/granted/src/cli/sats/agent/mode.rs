//! `sats agent mode`

use granted_core::spend::{AgentName, Mode};
use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::{Asked, authorize, spends};
use crate::spend::mode::mode;

/// Let an agent ask, or only observe.
///
/// To let it ask takes your password.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent.
    #[arg(value_name = "NAME")]
    agent: AgentName,
    /// ask or observe.
    #[arg(value_name = "MODE", value_parser = read)]
    mode: Mode,
}

const AFTER_HELP: &str = "\
Example:
  sats agent mode claude observe";

#[derive(Serialize)]
struct ModeJson<'a> {
    agent: &'a AgentName,
    mode: Mode,
    previous: Mode,
    widened: bool,
    changed: bool,
}

/// Reads a mode.
pub(super) fn read(text: &str) -> Result<Mode, String> {
    let modes = [Mode::Ask, Mode::Observe];
    let named = modes.into_iter().find(|mode| mode.as_str() == text);
    named.ok_or_else(|| "a mode is `ask` or `observe`".into())
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent mode", out)?;
    let mut asked = Asked::default();
    let set = mode(&spends(place, &book), &args.agent, args.mode, || asked.hold(authorize(place)));
    let set = set.map_err(|e| asked.failure(e))?;
    if out.is_json() {
        let (mode, previous, widened, changed) =
            (set.mode, set.previous, set.widened(), set.changed());
        out.value(&ModeJson { agent: &args.agent, mode, previous, widened, changed });
        return Ok(0);
    }
    match set.changed() {
        true => out.line(format_args!("{}: {}, before {}", args.agent, set.mode, set.previous)),
        false => out.line(format_args!("{}: {}, as before", args.agent, set.mode)),
    }
    Ok(0)
}
