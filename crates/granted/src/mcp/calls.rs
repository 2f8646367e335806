//! The requests that are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressToken, RequestId};
use tokio::sync::Notify;

/// How many requests that end by themselves may be under way before no more are read.
const MAX_QUICK: usize = 64;

/// The requests under way, by their ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<RequestId, Call>>,
    changed: Notify,
}

/// What is to be known of a request when it comes.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) id: RequestId,
    /// Under which name the client wants to hear of its progress.
    pub(super) token: Option<ProgressToken>,
    /// Whether it may take as long as an executor does.
    pub(super) long: bool,
}

#[derive(Debug)]
struct Call {
    token: Option<ProgressToken>,
    long: bool,
    /// Nobody wants to hear of it any more.
    cancelled: bool,
    /// What it asked for is done, and recorded.
    done: bool,
}

/// Held by whoever works on a request. The request is done when it is dropped.
#[derive(Debug)]
pub(super) struct Work {
    calls: Arc<Calls>,
    id: RequestId,
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut open = self.calls.open();
        if open.get(&self.id).is_some_and(|call| call.cancelled) {
            // No answer will be sent, so nothing else ends it.
            open.remove(&self.id);
        } else if let Some(call) = open.get_mut(&self.id) {
            call.done = true;
        }
        drop(open);
        self.calls.changed.notify_waiters();
    }
}

impl Calls {
    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Call>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request; `None` if another with its id is under way.
    pub(super) fn begin(self: &Arc<Calls>, opening: Opening) -> Option<Work> {
        let Opening { id, token, long } = opening;
        let mut open = self.open();
        if open.contains_key(&id) {
            return None;
        }
        open.insert(id.clone(), Call { token, long, cancelled: false, done: false });
        Some(Work { calls: self.clone(), id })
    }

    /// The client wants to hear no more of this request.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut open = self.open();
        if open.get(id).is_some_and(|call| call.done) {
            open.remove(id);
        } else if let Some(call) = open.get_mut(id) {
            call.cancelled = true;
        }
        drop(open);
        self.changed.notify_waiters();
    }

    /// The answer to this request was sent, or cannot be.
    pub(super) fn answered(&self, id: &RequestId) {
        self.open().remove(id);
        self.changed.notify_waiters();
    }

    /// Whether the client still wants to hear of this request.
    pub(super) fn is_awaited(&self, id: &RequestId) -> bool {
        self.open().get(id).is_some_and(|call| !call.cancelled)
    }

    /// Whether a request under way wants to hear of its progress under this name.
    pub(super) fn wants_progress(&self, token: &ProgressToken) -> bool {
        let wants = |call: &Call| !call.cancelled && call.token.as_ref() == Some(token);
        self.open().values().any(wants)
    }

    /// Waits until there is room for one more request.
    pub(super) async fn room(&self) {
        // One that is done but not answered takes room too: the client may not be reading.
        let takes_room = |call: &&Call| !call.long || call.done;
        self.until(|calls| calls.values().filter(takes_room).count() < MAX_QUICK).await;
    }

    /// Waits until all that was asked for is done, whether or not the answers have been sent.
    pub(super) async fn idle(&self) {
        self.until(|calls| calls.values().all(|call| call.done)).await;
    }

    async fn until(&self, holds: impl Fn(&HashMap<RequestId, Call>) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Before the look, so that no change is missed in between.
            changed.as_mut().enable();
            if holds(&self.open()) {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(calls: &Arc<Calls>, id: i64) -> Option<Work> {
        let token = Some(ProgressToken(RequestId::Number(-id)));
        calls.begin(Opening { id: RequestId::Number(id), token, long: false })
    }

    fn is_empty(calls: &Calls) -> bool {
        calls.open().is_empty()
    }

    #[tokio::test]
    async fn every_order_of_done_cancelled_and_answered_ends_it() {
        let (calls, one) = (Arc::new(Calls::default()), RequestId::Number(1));
        let token = ProgressToken(RequestId::Number(-1));
        // Done, then answered.
        let work = begin(&calls, 1).unwrap();
        assert!(begin(&calls, 1).is_none());
        assert!(calls.is_awaited(&one) && calls.wants_progress(&token));
        drop(work);
        calls.idle().await;
        calls.answered(&one);
        assert!(is_empty(&calls));
        // Cancelled, then done.
        let work = begin(&calls, 1).unwrap();
        calls.cancel(&one);
        assert!(!calls.is_awaited(&one) && !calls.wants_progress(&token));
        drop(work);
        assert!(is_empty(&calls));
        // Done, then cancelled before the answer went out.
        drop(begin(&calls, 1).unwrap());
        calls.cancel(&one);
        assert!(is_empty(&calls));
        calls.cancel(&one);
        calls.answered(&one);
        calls.idle().await;
    }

    #[tokio::test]
    async fn room_is_bounded() {
        let calls = Arc::new(Calls::default());
        let quick = i64::try_from(MAX_QUICK).unwrap();
        let mut works: Vec<Work> = (0..quick).map(|id| begin(&calls, id).unwrap()).collect();
        let waiting = tokio::spawn({
            let calls = calls.clone();
            async move { calls.room().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        works.pop();
        calls.answered(&RequestId::Number(quick - 1));
        waiting.await.unwrap();
    }
}
