//! The whole installation, looked at: each path with its rule, the ledger, the programs, the timers.
//!
//! Reads only, and relies on nothing: what is wrong in one place keeps no other from being looked at.

mod checkpoints;
mod ledger;
mod places;
mod programs;
mod remains;
mod wallet;

use std::path::Path;

use granted_core::custody::Breach;
use granted_core::text::for_shell;
use granted_store::open::OpenError;
use serde::Serialize;

use crate::home::Home;
pub(crate) use remains::Remains;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What it is.
    pub(crate) name: String,
    /// Where it is, if it is in one place.
    pub(crate) path: Option<String>,
    /// What must hold of it.
    pub(crate) rule: &'static str,
    /// What was found, if there is more to say than that the rule holds.
    pub(crate) found: Option<String>,
    /// Whether it holds.
    pub(crate) ok: bool,
    /// What is wrong.
    pub(crate) problem: Option<String>,
    /// The command that mends it, where there is one.
    pub(crate) mend: Option<String>,
}

/// What a look at everything came to.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// In the order in which they depend on one another.
    pub(crate) checks: Vec<Check>,
    /// What whoever asked could change all the same.
    pub(crate) remains: Vec<Remains>,
}

/// The person's way out of a ledger that is not as it was, where there is one.
const ACCEPT: &str = "granted ledger accept --by WHO --reason TEXT";

/// The command that moves a file out of the way.
fn aside(path: &Path) -> String {
    let path = path.display().to_string();
    format!("mv {} {}", for_shell(&path), for_shell(&format!("{path}.aside")))
}

/// Looks at everything that belongs to this home.
pub(crate) fn examine(home: &Home) -> Report {
    let (mut checks, config) = places::home_and_config(home);
    checks.extend(places::beside_the_ledger(home));
    checks.extend(places::documents(home));
    checks.push(places::keys(home));
    let (of_the_ledger, trust) = ledger::checks(home);
    checks.extend(of_the_ledger);
    checks.extend(checkpoints::checks(home));
    let (programs, files) = programs::of(config.as_ref());
    checks.extend(programs);
    checks.extend(programs::timers());
    checks.extend(wallet::checks());
    let witnesses = config.map(|config| config.witness).unwrap_or_default();
    Report { checks, remains: remains::of(home, &files, &witnesses, &trust) }
}

impl Check {
    /// The rule holds, as far as is known yet.
    fn new(name: impl Into<String>, path: Option<&Path>, rule: &'static str) -> Check {
        let path = path.map(|path| path.display().to_string());
        Check { name: name.into(), path, rule, found: None, ok: true, problem: None, mend: None }
    }

    /// With what was found.
    fn found(self, found: impl Into<String>) -> Check {
        Check { found: Some(found.into()), ..self }
    }

    /// The rule does not hold. What was said first stays.
    fn wrong(self, problem: impl ToString, mend: Option<String>) -> Check {
        match self.ok {
            true => Check { ok: false, problem: Some(problem.to_string()), mend, ..self },
            false => self,
        }
    }

    /// The rule does not hold for this breach, if there is one.
    fn held_to(self, breach: Option<Breach>) -> Check {
        match breach {
            None => self,
            Some(breach) => self.wrong(&breach, Some(breach.mend())),
        }
    }

    /// It could not be opened. That nothing is there is no problem.
    fn not_opened(self, error: &OpenError) -> Check {
        match error {
            OpenError::Missing(_) => self.found("not there"),
            OpenError::Custody { breach } => self.held_to(Some(breach.clone())),
            OpenError::Kind { path, .. } => self.wrong(error, Some(aside(path))),
            OpenError::Io { .. } => self.wrong(error, None),
        }
    }
}
