//! The calls that only read: so many at once, away from the wire.

use rmcp::model::{CallToolResponse, ErrorData};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::server::{answer, internal};

/// How many readings are made at once. The others wait.
const MAX_READING: usize = 8;

/// The readings of one server.
pub(super) struct Readings(Semaphore);

impl Readings {
    pub(super) fn new() -> Readings {
        Readings(Semaphore::new(MAX_READING))
    }

    /// Whether none is under way.
    pub(super) fn are_none(&self) -> bool {
        self.0.available_permits() == MAX_READING
    }

    /// Makes one, in a thread of its own.
    pub(super) async fn make(
        &self,
        read: impl FnOnce() -> Result<Value, String> + Send + 'static,
    ) -> Result<CallToolResponse, ErrorData> {
        // It is never closed.
        let _turn = self.0.acquire().await.map_err(internal)?;
        let reading = tokio::task::spawn_blocking(read);
        Ok(answer(reading.await.map_err(internal)?))
    }
}
