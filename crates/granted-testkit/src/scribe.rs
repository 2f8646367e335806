//! Writes rows as a store would, into memory.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use granted_core::id::Id;
use granted_core::ledger::{By, Door, Draft, Event, Head, Line, Subject, seal};
use granted_core::time::Stamp;

/// Seals rows one append after the other, a second between two appends.
pub struct Scribe {
    head: Option<Head>,
    last: HashMap<Subject, u64>,
    /// The time of the next append.
    pub now: Stamp,
    /// Who writes it.
    pub by: By,
    ids: u128,
}

impl Default for Scribe {
    fn default() -> Scribe {
        let now = Stamp::parse("2026-09-30T08:00:00.25Z").unwrap();
        let by = By { agent: None, door: Door::Cli, host: "box".into(), uid: 1000 };
        Scribe { head: None, last: HashMap::new(), now, by, ids: 0 }
    }
}

impl Scribe {
    /// The next id: the same ones each time.
    pub fn id(&mut self) -> Id {
        self.ids += 1;
        Id::new(self.now, self.ids * 0x9e37_79b9_7f4a_7c15)
    }

    /// The lines of one append of these rows, each with the subjects that it moves.
    pub fn append(&mut self, rows: Vec<(Event, Vec<Subject>)>) -> Vec<Line> {
        let seen = |subject: Subject| {
            let seq = self.last.get(&subject).copied().unwrap_or(0);
            (subject, seq)
        };
        let draft = |(event, subjects): (Event, Vec<Subject>)| {
            Draft::new(event, self.by.clone(), subjects.into_iter().map(seen).collect())
        };
        let drafts: Vec<Draft> = rows.into_iter().map(draft).collect();
        let last =
            |subject: &Subject| Ok::<u64, Infallible>(self.last.get(subject).copied().unwrap_or(0));
        let lines = seal(self.head, &drafts, self.now, last).expect("rows that can be sealed");
        for (draft, line) in drafts.into_iter().zip(&lines) {
            self.last.extend(draft.refs.into_iter().map(|(subject, _)| (subject, line.seq)));
            self.head = Some(line.head());
        }
        self.now = self.now.plus(Duration::from_secs(1));
        lines
    }

    /// The line of an append of one row.
    pub fn row(&mut self, event: Event, subjects: Vec<Subject>) -> Line {
        self.append(vec![(event, subjects)]).remove(0)
    }
}
