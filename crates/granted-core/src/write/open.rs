//! What of writes may still be used, from one pass over the ledger: what an accept may have to close.

use std::collections::BTreeMap;

use crate::ledger::{Event, Row, Subject};

/// The change sets that have not ended, and the direct grants and dispatches that were not taken back.
///
/// Some may have expired or be used up: by which clock, and by how much, is what is in doubt.
#[derive(Clone, Debug, Default)]
pub struct Open {
    /// Whether each was claimed at once, for a change set.
    subjects: BTreeMap<Subject, bool>,
}

impl Open {
    /// Takes the next row.
    pub fn apply(&mut self, row: &Row) {
        let Some((owner, _)) = row.refs.first() else { return };
        match &row.event {
            Event::WriteStaged(_) | Event::WriteDispatched(_) | Event::DirectGranted(_) => {
                self.subjects.insert(owner.clone(), false);
            }
            Event::WriteDirect(_) => {
                self.subjects.insert(owner.clone(), true);
            }
            Event::WriteUndone(_) if self.subjects.get(owner) == Some(&false) => {}
            Event::WriteApplied(_) | Event::WriteUndone(_) | Event::WriteRejected(_) => {
                self.subjects.remove(owner);
            }
            Event::WriteExpired(_) | Event::DirectRevoked(_) => {
                self.subjects.remove(owner);
            }
            Event::Accepted(_) => {
                for (closed, _) in &row.refs {
                    self.subjects.remove(closed);
                }
            }
            _ => {}
        }
    }

    /// The subjects.
    pub fn into_subjects(self) -> impl Iterator<Item = Subject> {
        self.subjects.into_keys()
    }
}
