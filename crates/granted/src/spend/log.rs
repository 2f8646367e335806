//! The rows of spends, newest last. Reads only.

use std::collections::VecDeque;

use granted_core::ledger::Row;

use super::{SpendError, Spends, gather};

/// The last rows of the network's spends, or of the request that this id, or beginning of one, names.
pub fn log(spends: &Spends<'_>, limit: usize, only: Option<&str>) -> Result<Vec<Row>, SpendError> {
    let only = only.map(|id| gather::named(spends, id)).transpose()?.map(|request| request.id);
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
