//! The stories of a change set, of an agent's day, of a direct grant and of a dispatch: a small automaton
//! for each.

use super::Step;
use crate::write::dispatch;

/// Where a subject of writes stands.
#[derive(Clone, Copy)]
pub(in super::super) enum State {
    Write(Write),
    Day,
    Project,
    Direct(Direct),
    Dispatch(Dispatch),
}

/// A change set that was filed.
#[derive(Clone, Copy)]
pub(in super::super) struct Write {
    proposal: u64,
    closes: i64,
    day: u64,
    /// Whether it waited for the person; else it was claimed at once.
    staged: bool,
    at: At,
}

#[derive(Clone, Copy)]
enum At {
    Waiting,
    Applying,
    Unresolved,
    /// An accepted row closed it in the middle: what came of it is not known.
    Lost,
    Ended,
}

/// A direct grant that was signed.
#[derive(Clone, Copy)]
pub(in super::super) struct Direct {
    who: u64,
    closes: i64,
    files: u64,
    project: u64,
    used: u64,
    revoked: bool,
    closed: bool,
}

/// A dispatch that was issued.
#[derive(Clone, Copy)]
pub(in super::super) struct Dispatch {
    who: u64,
    closes: i64,
    narrow: bool,
    uses: u64,
    used: u64,
    attempts: u64,
    closed: bool,
}

type Next<T> = Result<T, &'static str>;

impl State {
    /// The state after the first row that moves a subject.
    pub(in super::super) fn first(step: Step) -> Next<State> {
        let write = |proposal, closes, day, staged, at| {
            Ok(State::Write(Write { proposal, closes, day, staged, at }))
        };
        match step {
            Step::Staged { proposal, closes, day } => {
                write(proposal, closes, day, true, At::Waiting)
            }
            Step::Claimed => write(0, 0, 0, false, At::Applying),
            Step::Refused => write(0, 0, 0, false, At::Ended),
            Step::Day => Ok(State::Day),
            Step::Project => Ok(State::Project),
            Step::Granted { who, closes, files } => Ok(State::Direct(Direct {
                who,
                closes,
                files,
                project: 0,
                used: 0,
                revoked: false,
                closed: false,
            })),
            Step::Issued { who, closes, uses, narrow } => Ok(State::Dispatch(Dispatch {
                who,
                closes,
                narrow,
                uses,
                used: 0,
                attempts: 0,
                closed: false,
            })),
            Step::GrantedIn { .. } | Step::Revoked { .. } | Step::Drawn { .. } => {
                Err("it moves a direct grant that was never signed")
            }
            Step::Used { .. } | Step::Attempted => Err("it moves a dispatch that was never issued"),
            _ => Err("it moves a change set that was never filed"),
        }
    }

    /// The state after a further one.
    pub(in super::super) fn after(self, step: Step) -> Next<State> {
        match (self, step) {
            (State::Day, Step::Day) => Ok(State::Day),
            (State::Project, Step::Project) => Ok(State::Project),
            (State::Write(write), step) => write.after(step).map(State::Write),
            (State::Direct(direct), step) => direct.after(step).map(State::Direct),
            (State::Dispatch(dispatch), step) => dispatch.after(step).map(State::Dispatch),
            (State::Day | State::Project, _) => {
                Err("it does to a day or a project what only others know")
            }
        }
    }

    /// The state after an accepted row closed it.
    pub(in super::super) fn closed(self) -> Next<State> {
        match self {
            State::Write(write) => Ok(State::Write(write.closed())),
            State::Direct(direct) => Ok(State::Direct(Direct { closed: true, ..direct })),
            State::Dispatch(dispatch) => Ok(State::Dispatch(Dispatch { closed: true, ..dispatch })),
            State::Day | State::Project => Err("it closes what is no grant"),
        }
    }
}

impl Write {
    fn after(self, step: Step) -> Next<Write> {
        let at = match (self.at, step) {
            (_, Step::Staged { .. } | Step::Claimed | Step::Refused) => {
                return Err("it files a change set that was filed before");
            }
            (At::Ended, _) => return Err("its change set has ended"),
            (At::Waiting, Step::Approved { proposal, .. }) if proposal != self.proposal => {
                return Err("it approves something else than was staged");
            }
            (At::Waiting, Step::Approved { at, .. }) if at >= self.closes => {
                return Err("it approves a change set that has expired");
            }
            (At::Waiting, Step::Approved { .. }) => At::Applying,
            (At::Unresolved, Step::Applied { recovered: false, .. }) => {
                return Err("it was unresolved before, and is not said to be recovered");
            }
            (At::Applying | At::Unresolved, Step::Applied { day, .. })
            | (At::Waiting | At::Unresolved | At::Lost, Step::Rejected { day }) => {
                self.ended(day)?
            }
            (At::Lost, _) => {
                return Err("it goes on with a change set that an accepted row closed");
            }
            (At::Applying | At::Unresolved, Step::Undone) if self.staged => At::Waiting,
            (At::Applying | At::Unresolved, Step::Undone) => At::Ended,
            (At::Applying | At::Unresolved, Step::Unresolved) => At::Unresolved,
            (At::Waiting, Step::Expired { closed, .. }) if closed != self.closes => {
                return Err("its `expired` is not the end of its change set");
            }
            (At::Waiting, Step::Expired { day, .. }) => self.ended(day)?,
            _ => return Err("its change set is not where the row takes it from"),
        };
        Ok(Write { at, ..self })
    }

    fn closed(self) -> Write {
        let at = match self.at {
            At::Applying | At::Unresolved | At::Lost => At::Lost,
            At::Waiting | At::Ended => At::Ended,
        };
        Write { at, ..self }
    }

    /// Ended by a row that moves this day.
    fn ended(&self, day: u64) -> Next<At> {
        match day == self.day {
            true => Ok(At::Ended),
            false => Err("its `refs` are not the day on which its change set was staged"),
        }
    }
}

impl Direct {
    fn after(mut self, step: Step) -> Next<Direct> {
        match step {
            Step::GrantedIn { project } => self.project = project,
            Step::Revoked { .. } if self.revoked => {
                return Err("it revokes a direct grant that is revoked");
            }
            Step::Revoked { project } if project != self.project => {
                return Err("its `refs` are not the project of its direct grant");
            }
            Step::Revoked { .. } => self.revoked = true,
            Step::Drawn { who, at, files } => {
                self.check_draw(who, at)?;
                self.used = self.used.saturating_add(files);
                if self.used > self.files {
                    return Err("it writes more files than the direct grant has left");
                }
            }
            Step::Granted { .. } => return Err("it signs a direct grant that was signed before"),
            _ => return Err("it does to a direct grant what only others know"),
        }
        Ok(self)
    }

    fn check_draw(&self, who: u64, at: i64) -> Next<()> {
        if self.revoked || self.closed {
            return Err("it writes under a direct grant that is over");
        }
        if who != self.who {
            return Err("it writes under the direct grant of another agent or project");
        }
        match at >= self.closes {
            true => Err("it writes under a direct grant that has expired"),
            false => Ok(()),
        }
    }
}

impl Dispatch {
    fn after(mut self, step: Step) -> Next<Dispatch> {
        match step {
            Step::Used { who, at, direct } => {
                self.check_use(who, at)?;
                if direct && !self.narrow {
                    return Err("it writes at once with a dispatch that is too wide for it");
                }
                self.used = self.used.saturating_add(1);
            }
            Step::Attempted => {}
            Step::Issued { .. } => return Err("it issues a dispatch that was issued before"),
            _ => return Err("it does to a dispatch what only others know"),
        }
        self.attempts = self.attempts.saturating_add(1);
        Ok(self)
    }

    fn check_use(&self, who: u64, at: i64) -> Next<()> {
        if self.closed {
            return Err("it uses a dispatch that an accepted row closed");
        }
        if who != self.who {
            return Err("it uses the dispatch of another agent or project");
        }
        if at >= self.closes {
            return Err("it uses a dispatch that has expired");
        }
        match self.used < self.uses && self.attempts < dispatch::attempts(self.uses) {
            true => Ok(()),
            false => Err("it uses a dispatch that is used up"),
        }
    }
}
