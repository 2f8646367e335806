//! Removing a timer: it stops, and what `install` wrote is gone.

use granted_core::decision::Object;
use serde::Serialize;

use super::files::{self, Found, found};
use super::manager::{self, systemctl};
use super::units::{DROP_IN, folder, shared};
use super::{Timer, TimerError, status};

/// A timer that was removed.
#[derive(Debug, Serialize)]
pub(crate) struct Removed {
    /// The name of its unit.
    pub(crate) unit: String,
    /// What it discharged.
    pub(crate) object: Option<Object>,
    /// What was removed; nothing, if it was not installed.
    pub(crate) files: Vec<String>,
    /// What lies in the place of such a file and was left, since granted did not write it.
    pub(crate) left: Vec<String>,
}

/// Stops a timer and removes its files: the units that all objects share with the last of them.
pub(crate) fn remove(timer: &Timer) -> Result<Removed, TimerError> {
    manager::check()?;
    let (unit, service) = (timer.unit(".timer"), timer.unit(".service"));
    let (files, left) = Default::default();
    let mut removed = Removed { unit: unit.clone(), object: timer.object(), files, left };
    let installed = status::installed()?;
    if !installed.contains(timer) {
        return Ok(removed);
    }
    manager::disable(timer)?;
    // When it last ran, which systemd keeps in a file for `Persistent=`. It may have none.
    let _ = systemctl(&["clean", "--what=state", &unit]);
    let folder = folder()?;
    let mut paths = vec![folder.join(timer.unit(".service.d")).join(DROP_IN)];
    let others = installed.iter().filter(|other| *other != timer);
    if others.filter(|other| shared(other) == shared(timer)).count() == 0 {
        paths.extend(shared(timer).map(|(name, _)| folder.join(name)));
    }
    for path in paths {
        match found(&path)? {
            Found::Foreign(path) => removed.left.push(path.display().to_string()),
            Found::Own if files::remove(&path)? => removed.files.push(path.display().to_string()),
            Found::Own | Found::Nothing => {}
        }
    }
    systemctl(&["daemon-reload"])?;
    // A run that failed would stay listed. If none did, there is nothing to reset.
    let _ = systemctl(&["reset-failed", &service]);
    Ok(removed)
}
