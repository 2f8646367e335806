//! `sats agent list`

use granted_core::spend::AgentName;
use granted_core::text::Shown;
use granted_core::time::Relative;
use serde::Serialize;

use super::super::super::args::reading_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::spends;
use crate::spend::grant::Terms;
use crate::spend::list::list;

/// List the grants that agents have.
///
/// The documents of those whose time is over are taken away.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example:
  sats agent list";

#[derive(Serialize)]
struct EntryJson<'a> {
    agent: &'a AgentName,
    #[serde(flatten)]
    terms: Terms,
}

pub(crate) fn run(_: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let (now, listed) = (book.now(), list(&spends(place, &book))?);
    if out.is_json() {
        let entry = |listed: &'_ crate::spend::list::Listed| {
            (listed.state.grant.agent.clone(), Terms::of(&listed.state))
        };
        let entries: Vec<_> = listed.iter().map(entry).collect();
        let entries =
            entries.iter().map(|(agent, terms)| EntryJson { agent, terms: terms.clone() });
        out.value(&entries.collect::<Vec<_>>());
    }
    for entry in &listed {
        let (state, grant) = (&entry.state, &entry.state.grant);
        if !out.is_json() {
            out.line(format_args!(
                "{:<16} {:<8} {:>12} of {:>12} sat left  {:>3} sent  {}",
                grant.agent.as_str(),
                state.mode,
                state.remaining(),
                grant.budget_sat,
                state.tx_count(),
                Relative { stamp: grant.expires_at, now }
            ));
        }
        if let Some(why) = &entry.paused {
            out.remark(format_args!(
                "note: the grant of {} is paused: {}",
                grant.agent,
                Shown(why)
            ));
        }
    }
    if listed.is_empty() && !out.is_json() {
        out.remark(format_args!("no agent has a grant on {}", place.network));
    }
    Ok(0)
}
