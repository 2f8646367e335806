//! `sats providers add`

use std::path::PathBuf;

use granted_core::text::{Name, Shown};
use granted_sats::config::{Entry, Kind, origin};

use super::super::super::args::person;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;

/// Add a provider of the network, or change the one of this name.
///
/// An esplora server is asked over HTTP; an electrum server by tcp://; core is Bitcoin Core, or a
/// node that speaks as it does, over its RPC interface.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What it is called.
    #[arg(value_name = "NAME")]
    name: Name,
    /// esplora, electrum or core.
    #[arg(value_name = "KIND")]
    kind: Kind,
    /// Where it is.
    #[arg(value_name = "URL")]
    url: String,
    /// The cookie file of a node, by its path from the root.
    #[arg(long, value_name = "FILE")]
    cookie: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  sats providers add mine esplora https://esplora.example.com/api
  sats providers add home electrum tcp://127.0.0.1:50001
  sats providers add node core http://127.0.0.1:38332 --cookie /home/me/.bitcoin/signet/.cookie";

pub(crate) fn run(args: Args, place: Place, out: &Out) -> Result<u8, Failure> {
    person("sats providers add")?;
    let mut entry = Entry::new(args.kind, place.network, &args.url).map_err(Failure::usage)?;
    if let Some(cookie) = args.cookie {
        if args.kind != Kind::Core {
            return Err(Failure::usage("a cookie is of a node of kind core"));
        }
        if !cookie.is_absolute() {
            let message = format!("`{}` is relative", Shown(&cookie.to_string_lossy()));
            return Err(Failure::usage(message).hint("name it by its path from the root"));
        }
        entry.cookie = Some(cookie);
    }
    let mut config = place.config;
    let shown = format!("{} of {}: {}", args.name, place.network, origin(&entry.url));
    config.r#use.retain(|network, name| *network == place.network || *name != args.name);
    config.providers.insert(args.name, entry);
    config.save(&place.home)?;
    out.line(shown);
    if config.providers.values().filter(|entry| entry.network == place.network).count() > 1 {
        out.remark(format_args!(
            "{} has several: sats providers use NAME says which is used",
            place.network
        ));
    }
    Ok(0)
}
