//! `sats providers add`

use std::path::PathBuf;

use granted_core::spend::AgentName;
use granted_core::text::Name;
use granted_sats::config::{Entry, Kind, origin};

use super::super::super::args::person;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;

/// Add a provider of the network, or change the one of this name.
///
/// The first of a network is used; those that come later, once `sats providers use` says so.
///
/// An esplora server is asked over HTTP; an electrum server by tcp://; core is Bitcoin Core, or a
/// node that speaks as it does, over its RPC interface.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What it is called: 1 to 32 of a-z 0-9 _ -
    #[arg(value_name = "NAME", value_parser = named)]
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
            let message = format!("`{}` is relative", cookie.display());
            return Err(Failure::usage(message).hint("name it by its path from the root"));
        }
        entry.cookie = Some(cookie);
    }
    let (mut config, network) = (place.config, place.network);
    let shown = format!("{} of {network}: {}", args.name, origin(&entry.url));
    config.r#use.retain(|of, name| *of == network || *name != args.name);
    let others = config.providers.iter().filter(|(_, entry)| entry.network == network);
    let others: Vec<Name> =
        others.map(|(name, _)| name).filter(|name| **name != args.name).cloned().collect();
    if let [only] = others.as_slice() {
        // A wallet that worked goes on working.
        config.r#use.entry(network).or_insert_with(|| only.clone());
    }
    config.providers.insert(args.name, entry);
    config.save(&place.home)?;
    out.line(shown);
    if !others.is_empty() {
        let used = config.r#use.get(&network);
        let used = used.map(|name| format!(", and uses {name}")).unwrap_or_default();
        out.remark(format_args!(
            "{network} has several{used}: sats providers use NAME says which is used"
        ));
    }
    Ok(0)
}

/// Reads a provider's name, which is like that of an agent.
fn named(text: &str) -> Result<Name, &'static str> {
    let name = AgentName::new(text).ok().and_then(|name| name.name());
    name.ok_or("the name of a provider is 1 to 32 of a-z 0-9 _ -")
}
