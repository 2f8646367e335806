//! The pace at which refusals are recorded: some at once, then one a second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How many refusals are let through at once.
const AT_ONCE: u64 = 20;

/// How long it takes until one more is.
const EACH: Duration = Duration::from_secs(1);

/// Lets refusals through in turn. None is dropped: who gets no turn at once waits for it.
#[derive(Debug)]
pub(super) struct Pace {
    turns: Mutex<Turns>,
    /// Those who wait, in the order in which they came.
    queue: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Turns {
    left: u64,
    since: Instant,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace {
            turns: Mutex::new(Turns { left: AT_ONCE, since: Instant::now() }),
            queue: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Takes a turn, if there is one that nobody waits for.
    pub(super) fn try_turn(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0 && self.take().is_ok()
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) {
        let _waiting = Waiting::new(&self.waiting);
        let _first = self.queue.lock().await;
        while let Err(rest) = self.take() {
            sleep(rest).await;
        }
    }

    /// Takes a turn, or says how long it is until the next.
    fn take(&self) -> Result<(), Duration> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = turns.since.elapsed().as_secs();
        turns.left = turns.left.saturating_add(passed).min(AT_ONCE);
        turns.since = match turns.left {
            AT_ONCE => Instant::now(),
            _ => turns.since + Duration::from_secs(passed),
        };
        match turns.left.checked_sub(1) {
            Some(left) => {
                turns.left = left;
                Ok(())
            }
            None => Err(EACH.saturating_sub(turns.since.elapsed())),
        }
    }
}

/// Counts one who waits, also when it leaves.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Waiting<'a> {
        count.fetch_add(1, Ordering::SeqCst);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn twenty_at_once_then_one_a_second() {
        let (pace, began) = (Pace::new(), Instant::now());
        for _ in 0..20 {
            assert!(pace.try_turn());
        }
        assert!(!pace.try_turn());
        for second in 1..=5 {
            pace.turn().await;
            assert_eq!(began.elapsed().as_millis().div_ceil(1_000), second);
            assert!(!pace.try_turn());
        }
        tokio::time::advance(Duration::from_secs(1_000)).await;
        assert_eq!((0..100).filter(|_| pace.try_turn()).count(), 20);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_comes_before_who_comes() {
        let pace = Arc::new(Pace::new());
        while pace.try_turn() {}
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..3 {
            let (pace, order) = (pace.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                pace.turn().await;
                order.lock().unwrap().push(number);
            }));
            tokio::task::yield_now().await;
        }
        tasks.remove(1).abort();
        tokio::time::advance(Duration::from_millis(1_500)).await;
        assert!(!pace.try_turn());
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 2]);
    }
}
