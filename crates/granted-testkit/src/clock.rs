//! A clock that stands until it is set.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use granted_core::time::{Clock, Stamp};

/// A clock that shows what it was set to.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that stands at this instant.
    pub fn new(now: Stamp) -> FixedClock {
        FixedClock(AtomicI64::new(now.micros()))
    }

    /// A clock that stands at the instant that this text says.
    pub fn at(text: &str) -> FixedClock {
        FixedClock::new(Stamp::parse(text).unwrap())
    }

    /// Sets it, also back.
    pub fn set(&self, now: Stamp) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }

    /// Moves it on.
    pub fn advance(&self, span: Duration) {
        self.set(self.now().plus(span));
    }
}

impl Default for FixedClock {
    /// Stands at 2026-09-30T08:00:00Z.
    fn default() -> FixedClock {
        FixedClock::at("2026-09-30T08:00:00Z")
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Stamp {
        Stamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
