//! Timers of a person's own systemd: the units, and what installs, shows, stops and removes them.
//!
//! The units themselves are the files of `adapters/systemd`, as they are. What is particular to this
//! machine or to one object lies in a drop-in beside them.

mod files;
pub(crate) mod install;
mod manager;
pub(crate) mod remove;
pub(crate) mod status;
mod units;

use granted_core::decision::Object;
use granted_core::timer::{Instance, TooLong};

pub(crate) use manager::disable;
pub(crate) use units::{Errand, Program, crontab};

/// One timer, by what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// `granted tick`.
    Tick,
    /// Attempts on one object.
    Discharge(Instance),
}

impl Timer {
    /// The timer of this object; without one, the tick's.
    pub(crate) fn of(object: Option<&Object>) -> Result<Timer, TooLong> {
        Ok(object.map(Instance::of).transpose()?.map_or(Timer::Tick, Timer::Discharge))
    }

    /// What it discharges.
    pub(crate) fn object(&self) -> Option<Object> {
        match self {
            Timer::Tick => None,
            Timer::Discharge(instance) => instance.object(),
        }
    }

    /// The name of its unit with this ending, such as `.timer`.
    pub(crate) fn unit(&self, ending: &str) -> String {
        match self {
            Timer::Tick => format!("granted-tick{ending}"),
            Timer::Discharge(instance) => instance.unit(ending),
        }
    }
}

/// Why a timer could not be installed, shown, stopped or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimerError {
    /// Nothing was done: there is no systemd that would run it.
    #[error("the systemd of this user does not answer: {0}")]
    NoManager(String),
    /// Nothing was done: a path or name cannot stand in a unit.
    #[error("`{path}`: {why}")]
    Path {
        /// The path.
        path: String,
        /// Why not.
        why: &'static str,
    },
    /// A file could not be read, written or removed.
    #[error("{0}")]
    File(String),
    /// What lies there is not of granted, and is left as it is.
    #[error("`{0}` is there, and `granted timer` did not write it")]
    Foreign(String),
    /// systemd refused, or gave no answer. What had been written is taken back.
    #[error("`systemctl --user {0}`: {1}")]
    Refused(String, String),
}
