//! `granted timer status`

use granted_core::decision::Object;
use granted_core::time::Stamp;

use super::purpose;
use crate::cli::args::book;
use crate::cli::failure::Failure;
use crate::cli::out::{Mark, Out};
use crate::render;
use crate::timer::Timer;
use crate::timer::status::{Last, State, View, status};

/// Say which timers are installed, when each runs next, and how its last run ended.
///
/// Writes nothing. Exit code 1 if a run failed. What systemd has forgotten of a timer that stopped,
/// `granted ledger --id ID` still knows.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Only the timer of this object.
    #[arg(long, value_name = "TYPE/ID")]
    object: Option<Object>,
}

const AFTER_HELP: &str = "\
Example:
  granted timer status --object report/2026-09-30";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let only = args.object.as_ref().map(|object| Timer::of(Some(object))).transpose()?;
    let timers = status(only.as_ref())?;
    let now = book()?.now();
    for timer in &timers {
        match out.is_json() {
            true => out.value(timer),
            false => out.line(line(timer, now, out)),
        }
    }
    if timers.is_empty() && !out.is_json() {
        out.remark("no such timer is installed");
    }
    let any_failed = timers.iter().any(|timer| timer.state == State::Failed);
    Ok(if any_failed { 1 } else { 0 })
}

fn line(timer: &View, now: Stamp, out: &Out) -> String {
    let (word, mark) = match timer.state {
        State::Waiting => ("waiting", Mark::Good),
        State::Running => ("running", Mark::Good),
        State::Stopped => ("stopped", Mark::Doubt),
        State::Failed => ("failed", Mark::Bad),
    };
    let word = out.marked(format_args!("{word:<8}"), mark);
    let next = timer.next.map(|next| format!("; next {}", render::time(next, now)));
    let last = timer.last.as_ref().map(|last| {
        format!("; last {}: {}", render::time(last.at, now), ended(last, timer.object.is_some()))
    });
    let more = next.unwrap_or_default() + &last.unwrap_or_default();
    format!("{word} {}{more}", purpose(timer.object.as_ref()))
}

/// How a run ended, in the words of its exit codes.
fn ended(last: &Last, discharges: bool) -> String {
    let is_exit = matches!(last.result.as_str(), "success" | "exit-code");
    match last.status.filter(|_| is_exit) {
        Some(0) if discharges => "discharged".into(),
        Some(0) => "done".into(),
        Some(3) => "refused".into(),
        Some(4) => "uncertain".into(),
        Some(5) => "expired".into(),
        Some(code) => format!("exit code {code}"),
        None => last.result.clone(),
    }
}
