//! Installing a timer: its units are written and it is started, or nothing is changed.

use std::path::PathBuf;

use granted_core::decision::Object;
use granted_core::time::Stamp;
use serde::Serialize;

use super::files::{Found, Written, found};
use super::manager::{self, systemctl};
use super::units::{DROP_IN, folder, shared};
use super::{Errand, Program, Timer, TimerError, status};

/// A timer that was installed.
#[derive(Debug, Serialize)]
pub(crate) struct Installed {
    /// The name of its unit.
    pub(crate) unit: String,
    /// What it discharges.
    pub(crate) object: Option<Object>,
    /// When it runs next.
    pub(crate) next: Option<Stamp>,
    /// What was written.
    pub(crate) files: Vec<String>,
}

/// Installs a timer, or writes an installed one anew, and starts it.
pub(crate) fn install(
    timer: &Timer,
    errand: Option<&Errand>,
    program: &Program,
) -> Result<Installed, TimerError> {
    manager::check()?;
    let files = files(timer, errand, program)?;
    for (path, _) in &files {
        if let Found::Foreign(path) = found(path)? {
            return Err(TimerError::Foreign(path.display().to_string()));
        }
    }
    let is_new = !status::installed()?.contains(timer);
    let mut written = Written::default();
    let mut all = files.into_iter();
    let started =
        all.try_for_each(|(path, text)| written.write(path, &text)).and_then(|()| start(timer));
    if let Err(why) = started {
        if is_new {
            let _ = manager::disable(timer);
        }
        written.undo();
        // It may have learnt of what is gone now. What it says to that is of no more use.
        let _ = systemctl(&["daemon-reload"]);
        return Err(why);
    }
    let unit = timer.unit(".timer");
    let properties = manager::show(&unit, &["NextElapseUSecRealtime"])?;
    let next = properties.get("NextElapseUSecRealtime").and_then(|text| manager::stamp(text));
    Ok(Installed { unit, object: timer.object(), next, files: written.paths() })
}

/// The files of a timer, each with its text.
fn files(
    timer: &Timer,
    errand: Option<&Errand>,
    program: &Program,
) -> Result<Vec<(PathBuf, String)>, TimerError> {
    let folder = folder()?;
    let drop_in = folder.join(timer.unit(".service.d")).join(DROP_IN);
    let drop_in = (drop_in, program.drop_in(errand)?);
    let shared = shared(timer).map(|(name, text)| (folder.join(name), text.to_owned()));
    Ok(shared.into_iter().chain([drop_in]).collect())
}

fn start(timer: &Timer) -> Result<(), TimerError> {
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "--now", &timer.unit(".timer")]).map(drop)
}
