//! The rows of spends, newest last. Reads only.

use std::collections::VecDeque;

use granted_core::ledger::Row;
use granted_core::spend::RequestId;
use granted_core::store::ReadError;

use super::{Spends, gather};

/// The last rows of the network's spends, or of one request.
pub fn log(
    spends: &Spends<'_>,
    limit: usize,
    only: Option<RequestId>,
) -> Result<Vec<Row>, ReadError> {
    let mut last: VecDeque<Row> = VecDeque::new();
    gather::overview(spends, |row, overview| {
        let request = overview.request_of(row).map(|request| request.id);
        if only.is_none_or(|only| request == Some(only)) {
            last.push_back(row.clone());
        }
        if last.len() > limit {
            last.pop_front();
        }
    })?;
    Ok(last.into())
}
