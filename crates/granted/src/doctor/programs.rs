//! The programs that run for the person: executors, the notifier, and what timers start.

use std::path::{Path, PathBuf};

use granted_core::custody::{Breach, Seen};
use granted_exec::Stop;

use super::Check;
use crate::config::Config;
use crate::decision::actor::{Command, default_cwd};
use crate::news;
use crate::timer::TimerError;
use crate::timer::status::{State, status};

const RULE: &str = "can be run, and only you and root can write it";

/// The programs of the config, and their files.
pub(super) fn of(config: Option<&Config>) -> (Vec<Check>, Vec<PathBuf>) {
    let Some(config) = config else { return Default::default() };
    let (mut checks, mut files) = (Vec::new(), Vec::new());
    for (name, entry) in &config.executors {
        let check = Check::new(format!("executor {name}"), None, RULE);
        let command = Stop::new().map(|stop| Command::entered(name.clone(), entry, stop));
        let command = match command {
            Ok(command) => command,
            Err(e) => {
                checks.push(check.wrong(e, None));
                continue;
            }
        };
        let Some(program) = command.program() else {
            checks.push(check.wrong(command.problem().unwrap_or_default(), None));
            continue;
        };
        let cwd = entry.cwd.clone().unwrap_or_else(default_cwd);
        let named = entry.files.iter().map(|file| cwd.join(file));
        let own: Vec<PathBuf> = program.programs().map(Path::to_owned).chain(named).collect();
        checks.push(held(check, &own));
        files.extend(own);
    }
    if let Some(entry) = &config.notify {
        let check = Check::new("notifier", None, RULE);
        match news::prepare(entry) {
            Err(e) => checks.push(check.wrong(e, None)),
            Ok(notifier) => {
                checks.push(held(check, &[notifier.program().to_owned()]));
                files.push(notifier.program().to_owned());
            }
        }
    }
    (checks, files)
}

/// Holds files, the first of which is the program, and the folders that they lie in to the rule.
fn held(check: Check, files: &[PathBuf]) -> Check {
    let path = files.first().map(|path| path.display().to_string());
    let check = Check { path, ..check };
    files.iter().fold(check, |check, file| match breach(file) {
        Ok(breach) => check.held_to(breach),
        Err(e) => check.wrong(format!("`{}`: {e}", file.display()), None),
    })
}

/// What is wrong with a program's file, or with the folder that it lies in. Links are followed, as they
/// are when it is run.
fn breach(file: &Path) -> std::io::Result<Option<Breach>> {
    let file = std::fs::canonicalize(file)?;
    let me = rustix::process::geteuid().as_raw();
    for path in [Some(file.as_path()), file.parent()].into_iter().flatten() {
        let stat = rustix::fs::stat(path)?;
        // In a sticky folder nobody can put a file in the place of another's.
        let is_sticky = path != file && stat.st_mode & 0o1000 != 0;
        let mode = if is_sticky { stat.st_mode & !0o022 } else { stat.st_mode };
        if let Some(fault) = (Seen { owner: stat.st_uid, mode }).fault(me) {
            return Ok(Some(Breach { path: path.display().to_string(), fault, me }));
        }
    }
    Ok(None)
}

/// The timers that are installed.
pub(super) fn timers() -> Vec<Check> {
    let rule = "its last run did not fail";
    match status(None) {
        Err(e @ TimerError::NoManager(_)) => {
            vec![Check::new("timers", None, rule).found(format!("none: {e}"))]
        }
        Err(e) => vec![Check::new("timers", None, rule).wrong(e, None)],
        Ok(timers) if timers.is_empty() => vec![Check::new("timers", None, rule).found("none")],
        Ok(timers) => timers
            .iter()
            .map(|timer| {
                let check = Check::new(format!("timer {}", timer.unit), None, rule);
                match timer.state {
                    State::Failed => {
                        check.wrong("it failed: `granted timer status` says how", None)
                    }
                    State::Waiting => check.found("waiting"),
                    State::Running => check.found("running"),
                    State::Stopped => check.found("stopped"),
                }
            })
            .collect(),
    }
}
