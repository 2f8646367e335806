//! `granted timer status`

use granted_core::decision::Object;
use granted_core::time::Stamp;

use super::purpose;
use crate::cli::args::book;
use crate::cli::failure::Failure;
use crate::cli::out::{Mark, Out};
use crate::render;
use crate::timer::Timer;
use crate::timer::status::{Run, State, View, add_attempts, status};

/// Say which timers are installed, when each runs next, and how its last run ended.
///
/// Writes nothing. Exit code 1 if a run failed.
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
    let book = book(out)?;
    let mut timers = status(only.as_ref())?;
    add_attempts(&mut timers, &book)?;
    let now = book.now();
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
    let attempt = timer.attempt.as_ref().map(|attempt| {
        let at = render::time(attempt.at, now);
        format!("; last attempt {at}: {}: {}", attempt.outcome, attempt.reason)
    });
    let run = timer.run.as_ref().filter(|run| attempt.is_none() || !has_outcome(run));
    let run = run.map(|run| format!("; last run {}: {}", render::time(run.at, now), ended(run)));
    let more = [next, attempt, run].into_iter().flatten().collect::<String>();
    format!("{word} {}{more}", purpose(timer.object.as_ref()))
}

/// Whether a run ended as an attempt does, by its exit code.
fn has_outcome(run: &Run) -> bool {
    is_exit(run) && matches!(run.status, Some(0 | 3 | 4 | 5))
}

fn is_exit(run: &Run) -> bool {
    matches!(run.result.as_str(), "success" | "exit-code")
}

/// How a run ended.
fn ended(run: &Run) -> String {
    match run.status.filter(|_| is_exit(run)) {
        Some(0) => "done".into(),
        Some(code) => format!("exit code {code}"),
        None => run.result.clone(),
    }
}
