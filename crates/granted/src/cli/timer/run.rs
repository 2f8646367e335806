//! `granted timer run`

use granted_core::decision::Object;
use granted_core::text::Name;
use granted_core::timer::stops;

use crate::cli::discharge;
use crate::cli::failure::Failure;
use crate::cli::out::Out;
use crate::timer::{Timer, disable};

/// What the service of an object's timer runs: one attempt, and the timer stops if it was the last.
///
/// The attempt and the exit code are those of `granted discharge`. The timer goes on after not_yet,
/// executor_declined, claim_lost, ledger_unwritable, ledger_rolled_back and clock_behind, and where
/// there was no outcome; after anything else it is disabled.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The object to discharge.
    #[arg(long, value_name = "TYPE/ID")]
    object: Object,
    /// The executor, which config.toml registers.
    #[arg(long, value_name = "NAME")]
    executor: Name,
    /// What it is for; needed if the grant lists actions.
    #[arg(long, value_name = "ACTION")]
    action: Option<Name>,
    /// Who asks; needed if the grant names an agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<Name>,
}

const AFTER_HELP: &str = "\
Example, in a unit:
  ExecStart=:/home/me/.local/bin/granted timer run --object=%I --executor=send_report";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let timer = Timer::of(Some(&args.object))?;
    let (report, code) = discharge::answer(
        discharge::Args {
            object: args.object.into(),
            exec: None,
            executor: Some(args.executor),
            action: args.action,
            agent: args.agent,
            timeout: None,
            key: None,
        },
        out,
    )?;
    // The person first: systemd may be long in answering.
    out.tell();
    if stops(report.reason)
        && let Err(why) = disable(&timer)
    {
        // The outcome stands. The next tick finds nothing to do and tries again to stop.
        out.remark(format_args!("note: the timer could not be stopped: {why}"));
    }
    Ok(code)
}
