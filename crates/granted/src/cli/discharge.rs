//! `granted discharge`

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use granted_core::decision::discharge::Request;
use granted_core::decision::{Class, Report};
use granted_core::text::Name;
use granted_exec::Stop;

use super::args::{ObjectArgs, book, duration};
use super::failure::{Failure, Kind};
use super::out::Out;
use crate::config::MAX_TIMEOUT;
use crate::decision::actor::Command;
use crate::decision::asker::{Asker, Step};
use crate::decision::discharge::attempt;
use crate::ledger::witness;

/// Carry out the decision that a person recorded for an object.
///
/// Claims the object's grant, runs the executor once, and prints OUTCOME: REASON (TYPE/ID) --
/// DETAIL. Exit code 0 discharged, 3 refused, 4 uncertain, 5 expired.
///
/// The executor exits with 0 to claim success, with 75 to say that it did nothing and may be asked
/// again, with anything else if it failed. Its output passes through to stderr.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, group = clap::ArgGroup::new("how").args(["exec", "executor"]).required(true))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) object: ObjectArgs,
    /// A command for /bin/sh, run in this directory.
    #[arg(long, value_name = "COMMAND")]
    pub(super) exec: Option<OsString>,
    /// An executor that config.toml registers.
    #[arg(long, value_name = "NAME")]
    pub(super) executor: Option<Name>,
    /// What it is for; needed if the grant lists actions.
    #[arg(long, value_name = "ACTION")]
    pub(super) action: Option<Name>,
    /// Who asks; needed if the grant names an agent.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<Name>,
    /// How long the executor may take, at most 24h [default: the executor's own, else 600s].
    #[arg(long, value_name = "DURATION", value_parser = timeout, allow_hyphen_values = true)]
    pub(super) timeout: Option<Duration>,
    /// A name for this attempt: repeated with the same key, it is answered and not made again.
    #[arg(long, value_name = "KEY")]
    pub(super) key: Option<Name>,
}

const AFTER_HELP: &str = "\
Examples:
  granted discharge --type report --id 2026-09-30 --action send --exec ./send_report.sh
  granted discharge --type report --id 2026-09-30 --action send --executor send_report --key run-7

The executor finds in its environment GRANTED_OBJECT_TYPE, GRANTED_OBJECT_ID, GRANTED_ACTION,
GRANTED_DISCHARGE_ID, GRANTED_GRANT_PATH, GRANTED_NOT_AFTER, GRANTED_HOME, GRANTED_STORE,
GRANTED_LEDGER and GRANTED_RESULT_TOKEN; run from a sealed copy, GRANTED_EXECUTOR_PATH too. It may
write its own result: granted result --help";

/// A duration; a bare number is of seconds.
fn timeout(text: &str) -> Result<Duration, String> {
    let timeout = duration(text).or_else(|_| duration(&format!("{text}s")));
    timeout.ok().filter(|timeout| *timeout <= MAX_TIMEOUT).ok_or_else(|| {
        "a timeout is a whole number above 0 and one of s, m, h, such as 10m, at most 24h"
            .to_owned()
    })
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    answer(args, out).map(|(_, code)| code)
}

/// Makes the attempt and prints how it ended; with the exit code.
pub(super) fn answer(args: Args, out: &Out) -> Result<(Report, u8), Failure> {
    let over = Arc::new(AtomicBool::new(false));
    let report = carry_out(args, &over, out);
    let answer = report.map(|report| {
        let code = show(&report, out);
        (report, code)
    });
    // What may still run is a notifier, and nothing is recorded of it.
    over.store(true, Ordering::SeqCst);
    answer
}

/// Prints how an attempt ended; the exit code.
fn show(report: &Report, out: &Out) -> u8 {
    if out.is_json() {
        out.value(report);
        return code(report.outcome);
    }
    out.line(report);
    if report.replayed {
        out.remark("note: that is the outcome of an earlier call with this key; nothing ran now");
    } else if let (Class::Uncertain, Some(id)) = (report.outcome, report.discharge_id) {
        out.remark(format_args!("hint: look, then say what you found: granted resolve {id}"));
    }
    code(report.outcome)
}

/// Makes the attempt, and records it if it is stopped before it is over.
fn carry_out(args: Args, over: &Arc<AtomicBool>, out: &Out) -> Result<Report, Failure> {
    let book = book(out)?;
    let stop =
        stop_on_signals(over).map_err(|e| Failure::system(format!("no signal handler: {e}")))?;
    let asker = UntilStopped(stop.clone());
    let mut command = match (args.exec, args.executor) {
        (Some(exec), _) => {
            // Who the witnesses are is known before anything is tried.
            witness::paths(&book)?;
            Command::inline(exec, stop)
        }
        (None, name) => Command::registered(&book.config()?, name.unwrap_or_else(Name::exec), stop),
    }
    .echoing();
    let request = Request {
        object: args.object.into(),
        action: args.action,
        executor: command.name().clone(),
        agent: args.agent,
        key: args.key,
        timeout: args.timeout.unwrap_or(command.timeout()),
    };
    attempt(&book, &request, &mut command, &asker)
}

/// Leaves once a signal said so, while nothing is written of the attempt yet.
struct UntilStopped(Stop);

impl Asker for UntilStopped {
    type Left = Failure;

    fn before(&self, _: Step) -> Result<(), Failure> {
        match self.0.is_stopped() {
            true => Err(Failure::new(Kind::Stopped, "told to stop before anything was claimed")),
            false => Ok(()),
        }
    }
}

/// The exit code of an outcome.
fn code(outcome: Class) -> u8 {
    match outcome {
        Class::Discharged => 0,
        Class::Refused => 3,
        Class::Uncertain => 4,
        Class::Expired => 5,
    }
}

/// Has TERM, INT and HUP stop the act, so that its end is recorded; once it is over they end this
/// process as they do any other.
fn stop_on_signals(over: &Arc<AtomicBool>) -> std::io::Result<Stop> {
    let stop = Stop::new()?;
    for signal in
        [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP]
    {
        signal_hook::flag::register_conditional_default(signal, over.clone())?;
        signal_hook::low_level::pipe::register(signal, stop.writer()?)?;
    }
    Ok(stop)
}
