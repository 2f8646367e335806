//! The clock that counts while the machine sleeps: the one door to time in this crate.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

const NONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The time since the machine started.
pub(crate) fn now() -> Duration {
    duration(clock_gettime(ClockId::Boottime))
}

/// The wall clock as the kernel stamps files with it, since 1970.
pub(crate) fn of_files() -> Duration {
    duration(clock_gettime(ClockId::RealtimeCoarse))
}

fn duration(time: Timespec) -> Duration {
    Duration::try_from(time).unwrap_or_default()
}

/// A timer that becomes readable once its time is over, and stays so until it is set again.
pub(crate) struct Timer(OwnedFd);

impl Timer {
    pub(crate) fn new() -> rustix::io::Result<Timer> {
        timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC).map(Timer)
    }

    /// Sets the time from now. None at all is over at once.
    pub(crate) fn set(&self, after: Duration) -> rustix::io::Result<()> {
        // A value of zero would switch the timer off.
        let after = after.max(Duration::from_nanos(1));
        let it_value =
            Timespec::try_from(after).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        let value = Itimerspec { it_interval: NONE, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &value).map(drop)
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
