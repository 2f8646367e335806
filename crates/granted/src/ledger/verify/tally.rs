//! What the first rows of a ledger came to, for whoever holds a checkpoint of them.

use std::collections::BTreeMap;

use granted_core::digest::Digest;
use granted_core::ledger::Head;
use granted_core::ledger::tree::{Frontier, leaf};
use granted_core::time::Stamp;

/// Sums up the rows while they are checked. One that is asked for nothing hashes nothing.
#[derive(Debug, Default)]
pub struct Tally {
    asked: BTreeMap<u64, Option<Sum>>,
    frontier: Frontier,
    /// The time of the row behind each number that was asked for.
    after: BTreeMap<u64, Stamp>,
}

/// What so many rows came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The root of the tree over them.
    pub root: Digest,
    /// The digest of the last of them.
    pub head: Digest,
}

impl Tally {
    /// Asks what so many rows come to.
    pub fn ask(&mut self, rows: u64) {
        self.asked.insert(rows, None);
    }

    /// What they came to; `None` if there were fewer good ones.
    pub fn sum(&self, rows: u64) -> Option<Sum> {
        self.asked.get(&rows).copied().flatten()
    }

    /// When the row was written that comes behind so many.
    pub fn after(&self, rows: u64) -> Option<Stamp> {
        self.after.get(&rows).copied()
    }

    /// The next row is this one.
    pub(super) fn add(&mut self, row: Head) {
        if self.asked.contains_key(&(row.seq - 1)) {
            self.after.insert(row.seq - 1, row.at);
        }
        if self.asked.last_key_value().is_none_or(|(most, _)| *most < row.seq) {
            return;
        }
        self.frontier.push(leaf(&row.hash.0));
        if let Some(sum) = self.asked.get_mut(&row.seq) {
            *sum = Some(Sum { root: self.frontier.root(), head: row.hash });
        }
    }
}
