//! The tree over the rows of a ledger: from the groups that are kept, and from the rows beside them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use granted_core::digest::Digest;
use granted_core::ledger::row::Link;
use granted_core::ledger::tree::{Frontier, Nodes, full_of, leaf};
use granted_core::store::{Ledger, RawLine, ReadError};
use granted_store::Groups;
use granted_store::custody::Folder;
use granted_store::nodes::{GROUP, GROUP_LEVEL};

/// A row: its number, the digest of its line, where that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) seq: u64,
    pub(crate) digest: Digest,
    pub(crate) offset: u64,
}

/// The tree over all rows that the ledger had when it was opened.
pub(crate) struct Rows<'l> {
    ledger: &'l dyn Ledger,
    groups: Groups,
    /// The hashes of the leaves of a group that were read, by its number.
    leaves: HashMap<u64, Vec<Digest>>,
    last: Option<Mark>,
}

impl<'l> Rows<'l> {
    /// Opens the tree of the ledger that lies in this folder. Groups that are new are kept.
    pub(crate) fn open(ledger: &'l dyn Ledger, folder: &Folder) -> Result<Rows<'l>, ReadError> {
        let kept = Groups::load(folder);
        let before = kept.roots.len();
        let mut walk = Walk::from(kept);
        if walk.read(ledger)? == Fits::No {
            return Rows::anew(ledger, folder);
        }
        Ok(walk.rows(ledger, folder, before))
    }

    /// As [`Rows::open`], but whatever is kept is made anew from the rows.
    pub(crate) fn anew(ledger: &'l dyn Ledger, folder: &Folder) -> Result<Rows<'l>, ReadError> {
        let mut walk = Walk::from(Groups::default());
        // Nothing is kept that the ledger might not fit.
        walk.read(ledger)?;
        Ok(walk.rows(ledger, folder, 0))
    }

    /// The last row; `None` if there is none.
    pub(crate) fn last(&self) -> Option<Mark> {
        self.last
    }

    /// The line of the row with this index.
    pub(crate) fn line(&self, index: u64) -> Result<Vec<u8>, ReadError> {
        let mut found = None;
        self.ledger.scan(index + 1, &mut |line| {
            found = Some(line.bytes.to_vec());
            ControlFlow::Break(())
        })?;
        found.ok_or_else(|| no_row(index))
    }

    /// The hashes of the leaves of a group, from its rows.
    fn group(&mut self, number: u64) -> Result<&[Digest], ReadError> {
        if !self.leaves.contains_key(&number) {
            let (first, mut leaves) = (number * GROUP + 1, Vec::new());
            self.ledger.scan(first, &mut |line| {
                leaves.push(leaf(&Digest::of(line.bytes).0));
                match line.seq + 1 == first + GROUP {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            self.leaves.insert(number, leaves);
        }
        Ok(self.leaves.get(&number).map_or(&[], Vec::as_slice))
    }
}

impl Nodes for Rows<'_> {
    type Error = ReadError;

    fn leaf(&mut self, index: u64) -> Result<Digest, ReadError> {
        let place = usize::try_from(index % GROUP).unwrap_or(usize::MAX);
        let leaf = self.group(index / GROUP)?.get(place).copied();
        leaf.ok_or_else(|| no_row(index))
    }

    fn full(&mut self, level: u32, index: u64) -> Result<Digest, ReadError> {
        let number = usize::try_from(index).unwrap_or(usize::MAX);
        match self.groups.roots.get(number).filter(|_| level == GROUP_LEVEL) {
            Some(root) => Ok(*root),
            None => full_of(self, level, index),
        }
    }
}

fn no_row(index: u64) -> ReadError {
    ReadError::Unreadable(format!("there is no row {}", index + 1))
}

/// Whether a ledger is the one that the groups are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fits {
    Yes,
    No,
}

/// The way through the rows behind the groups.
struct Walk {
    groups: Groups,
    group: Vec<Digest>,
    frontier: Frontier,
    last: Option<Mark>,
}

impl Walk {
    fn from(groups: Groups) -> Walk {
        Walk { groups, group: Vec::new(), frontier: Frontier::default(), last: None }
    }

    /// How many rows the groups cover.
    fn covered(&self) -> u64 {
        u64::try_from(self.groups.roots.len()).unwrap_or(u64::MAX).saturating_mul(GROUP)
    }

    /// Reads the last row that the groups cover, and all behind it.
    fn read(&mut self, ledger: &dyn Ledger) -> Result<Fits, ReadError> {
        let covered = self.covered();
        let (kept, mut wrong) = (self.groups.last, None);
        ledger.scan(covered.max(1), &mut |line| {
            let read = match (line.seq, self.last) {
                (seq, None) if seq == covered => {
                    let digest = Digest::of(line.bytes);
                    self.last = Some(Mark { seq, digest, offset: line.offset });
                    (digest == kept).then_some(()).ok_or(None)
                }
                (_, last) => self.add(line, last).map_err(Some),
            };
            wrong = read.err();
            match wrong {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        })?;
        match wrong {
            Some(Some(error)) => Err(error),
            Some(None) => Ok(Fits::No),
            None if covered > 0 && self.last.is_none() => Ok(Fits::No),
            None => Ok(Fits::Yes),
        }
    }

    /// Adds a row, which must follow the last one.
    fn add(&mut self, line: RawLine<'_>, last: Option<Mark>) -> Result<(), ReadError> {
        let RawLine { seq, offset, bytes } = line;
        let damaged = |cause: String| ReadError::Damaged { line: seq, offset, cause };
        let link = Link::parse(bytes).map_err(|e| damaged(e.to_string()))?;
        let (number, prev) = last.map_or((1, Digest::ZERO), |last| (last.seq + 1, last.digest));
        if (link.seq, link.prev) != (number, prev) {
            return Err(damaged("it does not follow the line before".into()));
        }
        let digest = Digest::of(bytes);
        self.last = Some(Mark { seq, digest, offset });
        let hash = leaf(&digest.0);
        self.group.push(hash);
        self.frontier.push(hash);
        if self.frontier.size() == GROUP {
            self.groups.roots.push(self.frontier.root());
            self.groups.last = digest;
            self.group.clear();
            self.frontier = Frontier::default();
        }
        Ok(())
    }

    fn rows<'l>(self, ledger: &'l dyn Ledger, folder: &Folder, before: usize) -> Rows<'l> {
        if self.groups.roots.len() > before {
            // Without them more is read the next time, and nothing else.
            let _ = self.groups.save(folder);
        }
        let number = self.covered() / GROUP;
        let leaves = HashMap::from([(number, self.group)]);
        Rows { ledger, groups: self.groups, leaves, last: self.last }
    }
}
