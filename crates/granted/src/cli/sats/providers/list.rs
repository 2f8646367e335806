//! `sats providers list`

use granted_core::spend::Network;
use granted_sats::config::{Capability, Entry, Kind, origin};
use serde::Serialize;

use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;

/// List the providers of every network. Of a URL only its origin is shown.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example:
  sats providers list";

#[derive(Serialize)]
struct EntryJson<'a> {
    name: Option<&'a str>,
    kind: Kind,
    network: Network,
    origin: &'a str,
    capabilities: Option<&'a [Capability]>,
    used: bool,
}

pub(crate) fn run(_: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let config = &place.config;
    let built_in: Vec<Entry> = Network::ALL
        .into_iter()
        .filter(|network| config.providers.values().all(|entry| entry.network != *network))
        .map(Entry::built_in)
        .collect();
    let named = config.providers.iter().map(|(name, entry)| {
        let alone = config.providers.values().filter(|e| e.network == entry.network).count() == 1;
        let used = alone || config.r#use.get(&entry.network) == Some(name);
        (Some(name.as_str()), entry, used)
    });
    let all = named.chain(built_in.iter().map(|entry| (None, entry, true)));
    let mut list: Vec<EntryJson> = all
        .map(|(name, entry, used)| EntryJson {
            name,
            kind: entry.kind,
            network: entry.network,
            origin: origin(&entry.url),
            capabilities: entry.capabilities.as_deref(),
            used,
        })
        .collect();
    list.sort_by_key(|entry| (entry.network, entry.name));
    if out.is_json() {
        out.value(&list);
        return Ok(0);
    }
    for EntryJson { name, kind, network, origin, capabilities, used } in &list {
        let name = name.unwrap_or("built in");
        let only: Vec<String> =
            capabilities.iter().flat_map(|c| c.iter()).map(ToString::to_string).collect();
        let only =
            if only.is_empty() { String::new() } else { format!("  for {}", only.join(", ")) };
        let mark = if *used { "used" } else { "" };
        out.line(format_args!("{network:<8}  {mark:<4}  {name}  {kind}  {origin}{only}"));
    }
    Ok(0)
}
