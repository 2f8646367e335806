//! `sats providers remove`

use granted_core::text::Name;

use super::super::super::args::person;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::none;

/// Remove a provider from the config.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What it is called.
    #[arg(value_name = "NAME")]
    name: Name,
}

const AFTER_HELP: &str = "\
Example:
  sats providers remove home";

pub(crate) fn run(args: Args, place: Place, out: &Out) -> Result<u8, Failure> {
    person("sats providers remove")?;
    let mut config = place.config;
    let entry = config.providers.remove(&args.name).ok_or_else(|| none(&args.name))?;
    config.r#use.retain(|_, name| *name != args.name);
    config.save(&place.home)?;
    out.line(format_args!("{} is removed from {}", args.name, entry.network));
    Ok(0)
}
