//! `granted timer install`

use granted_core::decision::{Object, Status};
use granted_core::text::Name;
use granted_exec::Stop;

use super::purpose;
use crate::book::Book;
use crate::cli::args::person_book;
use crate::cli::failure::Failure;
use crate::cli::out::Out;
use crate::decision::actor::Command;
use crate::decision::status::of_object;
use crate::render;
use crate::timer::install::{Installed, install};
use crate::timer::{Errand, Program, Timer, TimerError, crontab};

/// Install a timer and start it: the tick's, or with --object one that tries to discharge an object.
///
/// The timer of an object stops by itself once there is nothing left to ask. Installing it again
/// writes it anew and starts it again. Without a systemd of yours that runs, nothing is changed:
/// exit code 1, and the hint is a line for cron.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The object to discharge.
    #[arg(long, value_name = "TYPE/ID", requires = "executor")]
    object: Option<Object>,
    /// The executor, which config.toml registers.
    #[arg(long, value_name = "NAME", requires = "object")]
    executor: Option<Name>,
    /// What it is for; needed if the grant lists actions.
    #[arg(long, value_name = "ACTION", requires = "object")]
    action: Option<Name>,
    /// Who asks; needed if the grant names an agent.
    #[arg(long, value_name = "NAME", requires = "object")]
    agent: Option<Name>,
}

const AFTER_HELP: &str = "\
Examples:
  granted timer install
  granted timer install --object report/2026-09-30 --executor send_report --action send";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("timer install", out)?;
    let Args { object, executor, action, agent } = args;
    let errand = executor.map(|executor| Errand { executor, action, agent });
    let program = Program::this(book.home())?;
    let by_cron = || format!("with cron: {}", crontab(&program, object.as_ref(), errand.as_ref()));
    let timer = Timer::of(object.as_ref()).map_err(|e| Failure::from(e).hint(by_cron()))?;
    if let Some(errand) = &errand {
        is_registered(&book, &errand.executor)?;
    }
    let installed = install(&timer, errand.as_ref(), &program).map_err(|e| match e {
        TimerError::NoManager(_) => Failure::from(e).hint(by_cron()),
        e => e.into(),
    })?;
    match out.is_json() {
        true => out.value(&installed),
        false => explain(&installed, &book, out)?,
    }
    Ok(0)
}

/// Refuses an executor that no attempt could use.
fn is_registered(book: &Book, executor: &Name) -> Result<(), Failure> {
    let stop = Stop::new().map_err(Failure::system)?;
    let command = Command::registered(&book.config()?, executor.clone(), stop);
    let problem = command.problem().map(|why| Failure::refused(why).hint("granted executors"));
    problem.map_or(Ok(()), Err)
}

fn explain(installed: &Installed, book: &Book, out: &Out) -> Result<(), Failure> {
    let Installed { unit, object, next, files } = installed;
    let now = book.now();
    let next = next.map_or_else(|| "unknown".to_owned(), |next| render::time(next, now));
    out.line(format_args!("installed {unit}"));
    out.line(format_args!("  for      {}, every 15 minutes", purpose(object.as_ref())));
    out.line(format_args!("  next     {next}"));
    for file in files {
        out.line(format_args!("  file     {file}"));
    }
    let service = unit.replace(".timer", ".service");
    out.line(format_args!("  look     granted timer status; systemctl --user status '{unit}'"));
    out.line(format_args!("  output   journalctl --user --unit='{service}'"));
    out.remark(
        "hint: it runs while you are logged in; to have it run always: loginctl enable-linger",
    );
    let Some(object) = object else { return Ok(()) };
    let status = of_object(book, object)?.status;
    if !matches!(status, Status::Live | Status::NotYet) {
        out.remark(format_args!(
            "note: the grant of {object} is `{status}` now; an attempt that finds it so stops the timer"
        ));
    }
    Ok(())
}
