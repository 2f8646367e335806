//! The program that tells a person something.

use std::ffi::{CString, OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use granted_core::decision::Ended;

use crate::program::{self, Missing, find};
use crate::run::act::{Times, silently};
use crate::run::merged;
use crate::spawn::Image;
use crate::stop::Stop;

/// How long a notifier has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);

/// A program that tells a person something, and that was there when it was prepared.
///
/// It runs as an executor does, in a session of its own with the environment that it is given and
/// nothing to read, but under no claim: nothing that it is given is a right to anything. Its output
/// goes nowhere.
pub struct Notifier {
    program: CString,
    argv: Vec<CString>,
    cwd: CString,
    env: Vec<(OsString, CString)>,
}

impl Notifier {
    /// Finds the program and checks it. A program without `/` is looked for in `path`, a relative
    /// one with `/` is relative to `cwd`; `env` is the whole environment but for what a run adds.
    pub fn prepare(
        argv: &[OsString],
        cwd: &Path,
        path: &OsStr,
        env: &[(OsString, OsString)],
    ) -> Result<Notifier, Missing> {
        program::require_a_kernel_that_can_watch()?;
        find::directory(cwd)?;
        Ok(Notifier {
            program: program::c_string(find::program(argv, cwd, path)?.as_os_str())?,
            argv: program::c_strings(argv)?,
            cwd: program::c_string(cwd.as_os_str())?,
            env: program::variables(env)?,
        })
    }

    /// The file that is executed.
    pub fn program(&self) -> &Path {
        program::path(&self.program)
    }

    /// Runs it once, with `text` as its last argument, and returns when it has ended, which it has
    /// after `timeout` and a second more: its group is sent TERM then, and KILL.
    ///
    /// What it left behind, it left behind. The error says how it ended, if not with 0.
    pub fn run(
        &self,
        text: &str,
        further_env: &[(OsString, OsString)],
        timeout: Duration,
    ) -> Result<(), String> {
        let text = program::c_string(OsStr::new(text)).map_err(|e| e.to_string())?;
        let argv: Vec<CString> = self.argv.iter().cloned().chain([text]).collect();
        let further = program::variables(further_env).map_err(|e| e.to_string())?;
        let image = Image {
            program: &self.program,
            argv: &argv,
            env: &merged(&self.env, &further),
            cwd: &self.cwd,
            sealed: None,
        };
        // Nobody holds it: a person is told also of what was stopped.
        let never = Stop::new().map_err(|e| e.to_string())?;
        let times = Times { timeout, grace: GRACE, linger: GRACE, leaves: true };
        match silently(&image, times, &never) {
            (Ended::Exit(0), _) => Ok(()),
            (Ended::Exit(status), _) => Err(format!("it exited with {status}")),
            (Ended::Signal(signal), _) => Err(format!("signal {signal} ended it")),
            (Ended::NotStarted | Ended::Stopped | Ended::TimedOut, detail) => Err(detail),
        }
    }
}

#[cfg(test)]
mod tests;
