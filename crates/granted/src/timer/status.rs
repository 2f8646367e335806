//! Which timers are installed, what systemd says of each, and what the ledger says came of it.

use granted_core::decision::{Class, Object, Reason};
use granted_core::ledger::Event;
use granted_core::store::ReadError;
use granted_core::time::Stamp;
use granted_core::timer::Instance;
use serde::Serialize;

use super::manager::{self, stamp};
use super::units::{DROP_IN, folder};
use super::{Timer, TimerError};
use crate::book::Book;
use crate::decision::list::each_row;

/// A timer as it stands.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    /// The name of its unit.
    pub(crate) unit: String,
    /// What it discharges.
    pub(crate) object: Option<Object>,
    /// What it does.
    pub(crate) state: State,
    /// When it runs next.
    pub(crate) next: Option<Stamp>,
    /// The last run, as long as systemd remembers it.
    pub(crate) run: Option<Run>,
    /// The last attempt on the object, whoever made it.
    pub(crate) attempt: Option<Attempt>,
}

/// What a timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for its next time.
    Waiting,
    /// Its service runs.
    Running,
    /// It is over, or was stopped.
    Stopped,
    /// The last run failed: it was uncertain, or could not do its work.
    Failed,
}

/// How a run ended.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    /// When.
    pub(crate) at: Stamp,
    /// What systemd calls it: `success`, `exit-code`, `signal` and more.
    pub(crate) result: String,
    /// The exit code, or the number of the signal.
    pub(crate) status: Option<u32>,
}

/// What came of an attempt.
#[derive(Debug, Serialize)]
pub(crate) struct Attempt {
    /// When.
    pub(crate) at: Stamp,
    /// How it ended.
    pub(crate) outcome: Class,
    /// Why.
    pub(crate) reason: Reason,
}

/// The timers whose drop-in is there.
pub(super) fn installed() -> Result<Vec<Timer>, TimerError> {
    let folder = folder()?;
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(TimerError::File(format!("`{}`: {e}", folder.display()))),
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| folder.join(name).join(DROP_IN).exists()).collect();
    names.sort();
    let timer = |name: &String| match name.as_str() {
        "granted-tick.service.d" => Some(Timer::Tick),
        name => Instance::in_unit(name, ".service.d")
            .filter(|instance| instance.object().is_some())
            .map(Timer::Discharge),
    };
    Ok(names.iter().filter_map(timer).collect())
}

/// Every timer that is installed, or this one if it is.
pub(crate) fn status(only: Option<&Timer>) -> Result<Vec<View>, TimerError> {
    manager::check()?;
    let installed = installed()?;
    let wanted = installed.iter().filter(|timer| only.is_none_or(|only| only == *timer));
    wanted.map(view).collect()
}

/// Adds what the ledger says of the timers' objects.
pub(crate) fn add_attempts(timers: &mut [View], book: &Book) -> Result<(), ReadError> {
    if timers.iter().all(|timer| timer.object.is_none()) {
        return Ok(());
    }
    each_row(&*book.ledger, |row| {
        let Event::Outcome(body) = &row.event else { return };
        let object = Some(&body.about.object);
        for timer in timers.iter_mut().filter(|timer| timer.object.as_ref() == object) {
            let (at, outcome, reason) = (row.at, body.outcome, body.reason);
            timer.attempt = Some(Attempt { at, outcome, reason });
        }
    })
}

fn view(timer: &Timer) -> Result<View, TimerError> {
    let unit = timer.unit(".timer");
    let clock = manager::show(&unit, &["ActiveState", "NextElapseUSecRealtime"])?;
    let service = manager::show(
        &timer.unit(".service"),
        &["ActiveState", "Result", "ExecMainStatus", "ExecMainExitTimestamp"],
    )?;
    let get = |name: &str| service.get(name).map(String::as_str);
    let state = match (get("ActiveState"), clock.get("ActiveState").map(String::as_str)) {
        (Some("activating" | "deactivating"), _) => State::Running,
        (Some("failed"), _) => State::Failed,
        (_, Some("active")) => State::Waiting,
        _ => State::Stopped,
    };
    let run = get("ExecMainExitTimestamp").and_then(stamp).map(|at| Run {
        at,
        result: get("Result").unwrap_or("unknown").to_owned(),
        status: get("ExecMainStatus").and_then(|status| status.parse().ok()),
    });
    let next = clock.get("NextElapseUSecRealtime").and_then(|text| stamp(text));
    Ok(View { unit, object: timer.object(), state, next, run, attempt: None })
}
