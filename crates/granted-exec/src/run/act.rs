//! One act, from the start of its process to the end of its output.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use granted_core::decision::Ended;
use rustix::io::{Errno, Result};
use rustix::process::{Signal, WaitStatus};

use super::output::Output;
use super::streams::Streams;
use super::{Run, left};
use crate::boot::{self, Timer};
use crate::echo::Echo;
use crate::spawn::{Child, Image, SpawnError, Started, start, start_silently};
use crate::stop::Stop;

/// How often a group that was told to end is looked at, once its leader has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The times of an act.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// From its start until it is stopped.
    pub(crate) timeout: Duration,
    /// From TERM to KILL.
    pub(crate) grace: Duration,
    /// How long its output is read after its end.
    pub(crate) linger: Duration,
    /// Whether the rest of its group goes on when it has ended by itself.
    pub(crate) leaves: bool,
}

impl Times {
    pub(crate) fn new(timeout: Duration) -> Times {
        Times {
            timeout,
            grace: Duration::from_secs(5),
            linger: Duration::from_secs(1),
            leaves: true,
        }
    }
}

/// Starts the program and stays with it to the end.
pub(crate) fn act(image: &Image<'_>, times: Times, stop: &Stop, echo: Option<Echo>) -> Run {
    let began = boot::now();
    // Nothing runs yet, and in none of these cases will anything.
    if stop.is_stopped() {
        return Run::not_started(Ended::NotStarted, "told to stop before that".to_owned());
    }
    if times.timeout.is_zero() {
        return Run::not_started(Ended::TimedOut, "no time was left to start it".to_owned());
    }
    let timer = match Timer::new().and_then(|timer| timer.set(times.timeout).map(|()| timer)) {
        Ok(timer) => timer,
        Err(error) => return unstarted(image, error),
    };
    let Started { mut child, pidfd, stdout, stderr, written } = match start(image) {
        Ok(started) => started,
        Err(SpawnError::NotStarted(error)) => return unstarted(image, error),
        // It ran for a moment, and what it did in that is not known.
        Err(SpawnError::Unwatched(error)) => return Run::not_started(Ended::Stopped, lost(error)),
    };
    let mut streams = Streams {
        timer,
        stdout: Output::new(stdout),
        stderr: Output::new(stderr),
        echo,
        buffer: Vec::new(),
    };
    let (ended, mut detail) = streams.see_out(&mut child, &pidfd, times, stop);
    let spent = boot::now().saturating_sub(began);
    // From here on a pipe that nobody else holds has an end.
    drop(written);
    // Without a poll there is nothing more to read; what was read stands.
    let _unread = streams.linger(times.linger);
    let left_behind = left::behind(child.pid(), &streams.open());
    if left_behind > 0 {
        let noun = if left_behind == 1 { "process" } else { "processes" };
        let and = if detail.is_empty() { "" } else { "; " };
        detail.push_str(&format!("{and}it left {left_behind} {noun} behind"));
    }
    let (stdout, stderr) = (streams.stdout.tail(), streams.stderr.tail());
    if let Some(echo) = streams.echo {
        echo.finish();
    }
    Run { ended, stdout, stderr, left_behind, detail, spent }
}

/// Starts a program of which nothing is kept but how it ended, and stays with it to the end.
pub(crate) fn silently(image: &Image<'_>, times: Times, stop: &Stop) -> (Ended, String) {
    let begun = Timer::new().and_then(|timer| timer.set(times.timeout).map(|()| timer));
    let run = match begun {
        Err(error) => unstarted(image, error),
        Ok(timer) => match start_silently(image) {
            Ok((mut child, pidfd)) => {
                return Streams::none(timer).see_out(&mut child, &pidfd, times, stop);
            }
            Err(SpawnError::NotStarted(error)) => unstarted(image, error),
            Err(SpawnError::Unwatched(error)) => Run::not_started(Ended::Stopped, lost(error)),
        },
    };
    (run.ended, run.detail)
}

fn unstarted(image: &Image<'_>, error: Errno) -> Run {
    let program = image.program.to_string_lossy();
    let program = granted_core::text::Shown(&program);
    Run::not_started(Ended::NotStarted, format!("`{program}` could not be started: {error}"))
}

fn lost(error: Errno) -> String {
    format!("it could not be watched, so it was killed: {error}")
}

/// Whether and why an act was cut short.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    TimedOut { killed: bool },
    Stopped { killed: bool },
}

impl Cut {
    /// How the act ended, and more about it in words.
    fn ended(self, status: Option<WaitStatus>, times: Times) -> (Ended, String) {
        let (ended, why, killed) = match self {
            Cut::No => return own_end(status),
            Cut::TimedOut { killed } => {
                (Ended::TimedOut, format!("stopped after {:?}", times.timeout), killed)
            }
            Cut::Stopped { killed } => (Ended::Stopped, "stopped when told to".to_owned(), killed),
        };
        let more = match own_end(status).0 {
            _ if killed => format!(", and killed {:?} later", times.grace),
            Ended::Exit(code) => format!("; it then ended with status {code}"),
            _ => String::new(),
        };
        (ended, why + &more)
    }
}

fn own_end(status: Option<WaitStatus>) -> (Ended, String) {
    let byte = |value: i32| u8::try_from(value).ok();
    let exit = status.and_then(WaitStatus::exit_status).and_then(byte).map(Ended::Exit);
    let signal = status.and_then(WaitStatus::terminating_signal).and_then(byte).map(Ended::Signal);
    match exit.or(signal) {
        Some(ended) => (ended, String::new()),
        // It ended, and nobody knows how. That it was stopped is the end that claims nothing.
        None => (Ended::Stopped, "another part of this process took its status".to_owned()),
    }
}

impl Streams {
    /// Stays with a process to its end, and reaps it: how it ended, and more about it in words.
    fn see_out(
        &mut self,
        child: &mut Child,
        pidfd: &OwnedFd,
        times: Times,
        stop: &Stop,
    ) -> (Ended, String) {
        match self.until_end(child, pidfd, times, stop) {
            Ok(cut) => cut.ended(child.reap(), times),
            Err(error) => {
                // It began and may have done anything. It must not go on unwatched.
                child.signal(Signal::KILL);
                child.reap();
                (Ended::Stopped, lost(error))
            }
        }
    }

    /// Waits for the end of the process, and cuts it short when its time is over or at the word.
    fn until_end(
        &mut self,
        child: &Child,
        pidfd: &OwnedFd,
        times: Times,
        stop: &Stop,
    ) -> Result<Cut> {
        let mut cut = Cut::No;
        let mut cut_at = Duration::ZERO;
        loop {
            let word = (cut == Cut::No).then_some(stop.as_fd());
            let woken = self.wait(Some(pidfd.as_fd()), word)?;
            if woken.ended {
                break;
            }
            let next = match cut {
                Cut::No if woken.stopped => Cut::Stopped { killed: false },
                Cut::No if woken.over => Cut::TimedOut { killed: false },
                Cut::TimedOut { killed: false } if woken.over => Cut::TimedOut { killed: true },
                Cut::Stopped { killed: false } if woken.over => Cut::Stopped { killed: true },
                _ => continue,
            };
            if cut == Cut::No {
                child.signal(Signal::TERM);
                cut_at = boot::now();
                self.timer.set(times.grace)?;
            } else {
                // The kernel does the rest, however long that takes.
                child.signal(Signal::KILL);
                self.timer.set(Duration::MAX)?;
            }
            cut = next;
        }
        if cut != Cut::No || !times.leaves {
            self.end_group(child, cut_at + times.grace, times.linger)?;
        }
        Ok(cut)
    }

    /// Sees to it that the rest of a group that was told to end does so, now that its leader
    /// has. As long as that is not reaped the group's number is its own.
    fn end_group(&mut self, child: &Child, grace: Duration, linger: Duration) -> Result<()> {
        if !self.until_empty(child, grace)? {
            child.signal(Signal::KILL);
            self.until_empty(child, boot::now() + linger)?;
        }
        Ok(())
    }

    fn until_empty(&mut self, child: &Child, until: Duration) -> Result<bool> {
        while left::in_group(child.pid()) != Some(0) {
            let rest = until.saturating_sub(boot::now());
            if rest.is_zero() {
                return Ok(false);
            }
            self.timer.set(rest.min(LOOK))?;
            while !self.wait(None, None)?.over {}
        }
        Ok(true)
    }
}
