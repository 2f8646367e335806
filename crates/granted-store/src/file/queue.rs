//! Concurrent appends of one process: a leader takes all that wait, and writes and syncs them at
//! once.
//!
//! An append that finds nobody leading leads, without queueing. Those that come while it writes
//! wait, each parked by itself; then the first of them is handed the lead and takes them all. The
//! queue is not locked while the leader works.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use granted_core::ledger::Draft;
use granted_core::store::{AppendError, Appended};

/// What an append is told.
pub(crate) type Answer = Result<Appended, AppendError>;

#[derive(Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    led: bool,
    waiting: Vec<Arc<Waiting>>,
}

struct Waiting {
    drafts: Vec<Draft>,
    thread: Thread,
    told: Mutex<Told>,
}

enum Told {
    Nothing,
    Lead,
    Answer(Answer),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicking thread leaves here is always whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Appends these drafts together with those of other threads. `write` answers each of a
    /// batch; `afterwards` runs once the lead is handed on.
    pub(crate) fn append<W>(
        &self,
        drafts: &[Draft],
        write: impl FnOnce(&[&[Draft]]) -> (Vec<Answer>, W),
        afterwards: impl FnOnce(W),
    ) -> Answer {
        if let Some(waiting) = self.join(drafts) {
            loop {
                // Taken out first: a guard in the `match` would be held while this parks.
                let told = std::mem::replace(&mut *lock(&waiting.told), Told::Nothing);
                match told {
                    Told::Answer(answer) => return answer,
                    Told::Lead => break,
                    Told::Nothing => std::thread::park(),
                }
            }
        }
        let lead = Lead { queue: self, followers: self.take() };
        let others = lead.followers.iter().map(|waiting| waiting.drafts.as_slice());
        let batch: Vec<&[Draft]> = std::iter::once(drafts).chain(others).collect();
        let (answers, work) = write(&batch);
        let mut answers = answers.into_iter();
        let own = answers.next().unwrap_or_else(unanswered);
        for (waiting, answer) in lead.followers.iter().zip(answers) {
            waiting.tell(Told::Answer(answer));
        }
        drop(lead);
        afterwards(work);
        own
    }

    /// Takes the lead, or waits.
    fn join(&self, drafts: &[Draft]) -> Option<Arc<Waiting>> {
        let mut state = lock(&self.0);
        if !state.led {
            state.led = true;
            return None;
        }
        let waiting = Arc::new(Waiting {
            drafts: drafts.to_vec(),
            thread: std::thread::current(),
            told: Mutex::new(Told::Nothing),
        });
        state.waiting.push(Arc::clone(&waiting));
        Some(waiting)
    }

    fn take(&self) -> Vec<Arc<Waiting>> {
        std::mem::take(&mut lock(&self.0).waiting)
    }

    /// Gives the lead to the first that waits, or to nobody.
    fn hand_on(&self) {
        let mut state = lock(&self.0);
        if state.waiting.is_empty() {
            state.led = false;
        } else {
            let next = state.waiting.remove(0);
            drop(state);
            next.tell(Told::Lead);
        }
    }
}

impl Waiting {
    fn tell(&self, told: Told) {
        *lock(&self.told) = told;
        self.thread.unpark();
    }
}

/// The lead, handed on when it is dropped, also by a panic.
struct Lead<'q> {
    queue: &'q Queue,
    followers: Vec<Arc<Waiting>>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for waiting in &self.followers {
                waiting.tell(Told::Answer(unanswered()));
            }
        }
        self.queue.hand_on();
    }
}

/// The leader died on the way: its batch may have been written or not.
fn unanswered() -> Answer {
    Err(AppendError::Unknown("the thread that wrote it ended before it could say".into()))
}
