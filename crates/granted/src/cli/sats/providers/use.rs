//! `sats providers use`

use granted_core::text::Name;

use super::super::super::args::person;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::none;

/// Use this provider for its network, where several could be.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What it is called.
    #[arg(value_name = "NAME")]
    name: Name,
}

const AFTER_HELP: &str = "\
Example:
  sats providers use home";

pub(crate) fn run(args: Args, place: Place, out: &Out) -> Result<u8, Failure> {
    person("sats providers use")?;
    let mut config = place.config;
    let entry = config.providers.get(&args.name).ok_or_else(|| none(&args.name))?;
    let network = entry.network;
    config.r#use.insert(network, args.name.clone());
    config.save(&place.home)?;
    out.line(format_args!("{network} uses {}", args.name));
    Ok(0)
}
