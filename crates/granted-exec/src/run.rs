//! Runs a program under a claim.

pub(crate) mod act;
mod left;
mod output;
mod streams;

use std::ffi::{CStr, CString, OsString};
use std::time::Duration;

use granted_core::decision::{Acted, Claim, Ended, Tail};

use crate::echo::Echo;
use crate::program::{Command, Program};
use crate::spawn::Image;
use crate::stop::Stop;
use act::Times;

/// What bounds an act.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may take, on the clock that counts while the machine sleeps. Then it is
    /// stopped: TERM to its group, and KILL five seconds later.
    pub timeout: Duration,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// The end of what it wrote to stdout.
    pub stdout: Tail,
    /// The end of what it wrote to stderr.
    pub stderr: Tail,
    /// How many processes it left behind.
    pub left_behind: usize,
    /// What `ended` does not say, for people; often nothing.
    pub detail: String,
    /// How long it took until the program itself ended.
    pub spent: Duration,
}

/// Runs the program that a claim permits, and returns when it has ended.
///
/// The act ends when the program itself ends, whatever it left behind; its output is then read
/// for one second more at most. `extra_env` is added to the program's environment and wins.
/// Never fails: a program that could not be started is [`Ended::NotStarted`].
pub fn run(
    claim: Claim,
    program: &Program,
    extra_env: &[(OsString, OsString)],
    limits: Limits,
    stop: &Stop,
    echo: Option<Echo>,
) -> (Acted, Run) {
    let acted = claim.act();
    (acted, command(program, program.command(), extra_env, Times::new(limits.timeout), stop, echo))
}

/// Runs the program that confirms an act, in the same manner and within what `remaining` of its
/// time. There is nothing to run if the definition names no such program.
pub fn confirm(
    _acted: &Acted,
    program: &Program,
    extra_env: &[(OsString, OsString)],
    remaining: Duration,
    stop: &Stop,
    echo: Option<Echo>,
) -> Option<Run> {
    let confirm = program.confirm()?;
    Some(command(program, confirm, extra_env, Times::new(remaining), stop, echo))
}

fn command(
    program: &Program,
    command: &Command,
    extra_env: &[(OsString, OsString)],
    times: Times,
    stop: &Stop,
    echo: Option<Echo>,
) -> Run {
    match crate::program::variables(extra_env) {
        Err(missing) => Run::not_started(Ended::NotStarted, missing.to_string()),
        Ok(mut extra) => {
            extra.extend(command.sealed.iter().map(|sealed| sealed.variable.clone()));
            let image = Image {
                program: &command.program,
                argv: &command.argv,
                env: &merged(program.env(), &extra),
                cwd: program.cwd(),
                sealed: command.sealed.as_ref().map(|sealed| &sealed.file),
            };
            act::act(&image, times, stop, echo)
        }
    }
}

/// These variables and, in the place of those of the same names, the further ones.
pub(crate) fn merged<'a>(
    env: &'a [(OsString, CString)],
    further: &'a [(OsString, CString)],
) -> Vec<&'a CStr> {
    let replaced = |name: &OsString| further.iter().any(|(other, _)| other == name);
    let kept = env.iter().filter(|(name, _)| !replaced(name));
    kept.chain(further).map(|(_, text)| text.as_c_str()).collect()
}

impl Run {
    /// One in which nothing ran.
    fn not_started(ended: Ended, detail: String) -> Run {
        let nothing = Tail { bytes: 0, tail: "".into() };
        Run {
            ended,
            stdout: nothing.clone(),
            stderr: nothing,
            left_behind: 0,
            detail,
            spent: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
