//! The calls that act: so many at once, each in a thread of its own, with its client's wishes in view.

use std::sync::Arc;
use std::time::Duration;

use granted_exec::Stop;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult, ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use super::pace::Pace;
use super::server::{failed, internal};
use super::wire::End;
use crate::decision::asker::{Asker, Step};

/// How many attempts are made at once. The others wait.
const MAX_ACTING: usize = 64;
/// How many attempts may be under way, waiting ones included.
const MAX_ATTEMPTS: usize = 1_024;

/// When a client first hears that an attempt is under way, and how often from then on.
const FIRST_PROGRESS: Duration = Duration::from_secs(1);
const EACH_PROGRESS: Duration = Duration::from_secs(5);

/// The attempts of one server.
pub(super) struct Attempts {
    pace: Pace,
    acting: Semaphore,
    under_way: Semaphore,
    end: watch::Sender<End>,
}

/// Why an attempt ended before there was a row of it.
pub(super) enum Left {
    /// The client does not want it any more.
    Cancelled,
    /// A refusal is to be recorded, and it is not its turn.
    NotYet,
}

/// The client of one attempt, as the thread that makes the attempt sees it.
pub(super) struct Client<'a> {
    /// Tells the attempt to stop.
    pub(super) stop: &'a Stop,
    pace: &'a Pace,
    /// It was its turn to be refused.
    admitted: bool,
}

impl Asker for Client<'_> {
    type Left = Left;

    fn before(&self, step: Step) -> Result<(), Left> {
        match step {
            _ if self.stop.is_stopped() => Err(Left::Cancelled),
            Step::Refusal if !self.admitted && !self.pace.try_turn() => Err(Left::NotYet),
            _ => Ok(()),
        }
    }
}

impl Attempts {
    /// Those of a server that ends so.
    pub(super) fn new(end: watch::Sender<End>) -> Attempts {
        Attempts {
            pace: Pace::new(),
            acting: Semaphore::new(MAX_ACTING),
            under_way: Semaphore::new(MAX_ATTEMPTS),
            end,
        }
    }

    /// Whether none is under way.
    pub(super) fn are_none(&self) -> bool {
        self.under_way.available_permits() == MAX_ATTEMPTS
    }

    /// Makes one, and answers with what came of it. `make` runs in a thread of its own; again, if it was to
    /// wait for its turn.
    pub(super) async fn make<R: Serialize + Send + 'static>(
        self: &Arc<Attempts>,
        make: impl Fn(&Client<'_>) -> Result<R, Left> + Send + Sync + 'static,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(_turn) = self.under_way.try_acquire() else {
            return Ok(failed(&format!(
                "{MAX_ATTEMPTS} attempts are under way: nothing was done; ask again when one has ended"
            )));
        };
        let mut made = std::pin::pin!(self.attempt(Arc::new(make), &context.ct));
        let made = match context.meta.get_progress_token() {
            None => made.await?,
            Some(token) => {
                let began = Instant::now();
                let mut due = interval_at(began + FIRST_PROGRESS, EACH_PROGRESS);
                loop {
                    tokio::select! {
                        biased;
                        made = &mut made => break made?,
                        () = context.ct.cancelled() => break made.await?,
                        _ = due.tick() => {}
                    }
                    let spent = began.elapsed();
                    let told = ProgressNotificationParam::new(token.clone(), spent.as_secs_f64())
                        .with_message(format!("under way for {} s", spent.as_secs()));
                    tokio::select! {
                        biased;
                        made = &mut made => break made?,
                        // A client that cannot be told will not be told the outcome either.
                        _ = context.peer.notify_progress(told) => {}
                    }
                }
            }
        };
        match made {
            Some(made) => {
                let made = serde_json::to_value(&made).map_err(internal)?;
                Ok(CallToolResult::structured(made).into())
            }
            None => Ok(failed("it was stopped before anything was done")),
        }
    }

    /// Makes an attempt; `None` if it was given up before there was a row of it.
    async fn attempt<R: Send + 'static>(
        self: &Arc<Attempts>,
        make: Arc<impl Fn(&Client<'_>) -> Result<R, Left> + Send + Sync + 'static>,
        cancelled: &CancellationToken,
    ) -> Result<Option<R>, ErrorData> {
        let mut admitted = false;
        loop {
            // It is never closed.
            let turn = tokio::select! {
                biased;
                () = self.given_up(cancelled) => return Ok(None),
                turn = self.acting.acquire() => turn.map_err(internal)?,
            };
            let stop = Stop::new().map_err(internal)?;
            let making = tokio::task::spawn_blocking({
                let (attempts, make, stop) = (self.clone(), make.clone(), stop.clone());
                move || make(&Client { stop: &stop, pace: &attempts.pace, admitted })
            });
            let mut making = std::pin::pin!(making);
            let made = tokio::select! {
                biased;
                made = &mut making => made,
                () = self.given_up(cancelled) => {
                    stop.stop();
                    making.await
                }
            };
            match made.map_err(internal)? {
                Ok(made) => return Ok(Some(made)),
                Err(Left::Cancelled) => return Ok(None),
                Err(Left::NotYet) => {}
            }
            // Nothing is held while it waits, and what is decided is decided afterwards.
            drop(turn);
            tokio::select! {
                biased;
                () = self.given_up(cancelled) => return Ok(None),
                () = self.pace.turn() => admitted = true,
            }
        }
    }

    /// Waits until the client cancels the call, or the server is told to stop.
    async fn given_up(&self, cancelled: &CancellationToken) {
        let mut end = self.end.subscribe();
        tokio::select! {
            () = cancelled.cancelled() => {}
            // The sender is held here.
            _ = end.wait_for(|end| *end == End::Stopping) => {}
        }
    }
}
