//! The one door to the clocks.

use std::time::Duration;

use granted_core::time::{Clock, Stamp};
use rustix::time::{ClockId, clock_gettime};

/// The machine's wall clock, in UTC.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Stamp {
        let now = clock_gettime(ClockId::Realtime);
        Stamp::from_micros(now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000))
    }
}

/// The time since the machine was started, with the time that it slept: what timeouts run on.
pub fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Waits.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn pause(span: Duration) {
    std::thread::sleep(span);
}
