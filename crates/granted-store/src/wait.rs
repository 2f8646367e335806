//! Waiting: the boot-time clock and the pause between two tries.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time since boot. It counts on while the machine sleeps and is never set.
pub(crate) fn boot_time() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    // The kernel gives neither field below zero.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Tries until it gets an answer, with pauses that grow from 50 µs to 1 ms; `None` once `limit` of
/// boot time has passed.
pub(crate) fn until<T, E>(
    limit: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    if let Some(answer) = attempt()? {
        return Ok(Some(answer));
    }
    let end = boot_time() + limit;
    let mut pause = Duration::from_micros(50);
    while boot_time() < end {
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
        if let Some(answer) = attempt()? {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

#[expect(clippy::disallowed_methods, reason = "the one place in this crate that waits")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}
