//! `granted executors`

use granted_core::text::{Name, Shown};
use granted_exec::Stop;
use serde::Serialize;

use super::args::book;
use super::failure::Failure;
use super::out::{Mark, Out};
use crate::config::ExecutorEntry;
use crate::decision::actor::Command;

/// List the executors that config.toml registers, and whether each can be run.
///
/// Exit code 0 if all can be, 1 if one cannot.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

#[derive(Serialize)]
struct EntryJson<'a> {
    name: &'a Name,
    argv: &'a [String],
    problem: Option<&'a str>,
    timeout_s: u64,
    types: Vec<&'a str>,
    actions: Vec<&'a str>,
    env: &'a [String],
}

const AFTER_HELP: &str = "\
Example, in ~/.granted/config.toml:
  [executors.send_report]
  argv = [\"./send_report.sh\"]
  types = [\"report\"]
  actions = [\"send\"]
  timeout = \"5m\"";

pub(crate) fn run(_: Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let config = book.config()?;
    let executors = &config.executors;
    let mut all_ready = true;
    for (name, entry) in executors {
        let stop = Stop::new().map_err(Failure::system)?;
        let command = Command::registered(&config, name.clone(), stop);
        all_ready &= command.problem().is_none();
        show(name, entry, command.problem(), out);
    }
    if executors.is_empty() && !out.is_json() {
        out.remark(format_args!(
            "no executor is registered in `{}`",
            book.home().config().display()
        ));
    }
    Ok(if all_ready { 0 } else { 1 })
}

fn show(name: &Name, entry: &ExecutorEntry, problem: Option<&str>, out: &Out) {
    let types: Vec<&str> = entry.types.iter().map(|name| name.as_str()).collect();
    let actions: Vec<&str> = entry.actions.iter().map(|name| name.as_str()).collect();
    let timeout_s = entry.timeout.as_secs();
    if out.is_json() {
        let (argv, env) = (&entry.argv, &entry.env);
        return out.value(&EntryJson { name, argv, problem, timeout_s, types, actions, env });
    }
    let state = match problem {
        None => out.marked("ready", Mark::Good),
        Some(why) => out.marked(format_args!("cannot run: {}", Shown(why)), Mark::Bad),
    };
    out.line(format_args!("{name}: {state}"));
    let any = |names: &[&str]| if names.is_empty() { "any".to_owned() } else { names.join(", ") };
    out.line(format_args!("  runs     {}", Shown(&entry.argv.join(" "))));
    out.line(format_args!("  within   {timeout_s} s"));
    out.line(format_args!("  types    {}", Shown(&any(&types))));
    out.line(format_args!("  actions  {}", Shown(&any(&actions))));
    let passed = ["PATH", "HOME", "LANG", "LC_*", "TZ", "TMPDIR", "GRANTED_*"];
    let passed = passed.into_iter().chain(entry.env.iter().map(String::as_str));
    out.line(format_args!("  passed   {}", Shown(&passed.collect::<Vec<_>>().join(", "))));
}
