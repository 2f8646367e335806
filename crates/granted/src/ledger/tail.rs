//! The last rows of the ledger that are about something. Reads only.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use granted_core::decision::fold::{discharge_of, grant_of};
use granted_core::id::Id;
use granted_core::ledger::{Event, Row, RowError};
use granted_core::store::{Ledger, ReadError, Unfinished};
use granted_core::time::Stamp;
use serde::Deserialize;

/// Which rows are wanted. What is `None` does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// About objects of this id, of any type, or about the change set or direct grant that has it.
    pub object_id: Option<String>,
    /// About this grant.
    pub grant: Option<Id>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Written at or after this instant.
    pub since: Option<Stamp>,
    /// Of a kind that begins with one of these; any if there are none.
    pub kinds: &'static [&'static str],
}

/// A line of the ledger.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The bytes as they lie there.
    pub raw: Vec<u8>,
    /// The row; an error for one that this program does not understand.
    pub row: Result<Row, RowError>,
}

impl Shown {
    /// The line as JSON, also where a newer program wrote it; an error if it is no row.
    pub fn value(&self) -> Result<serde_json::Value, String> {
        match &self.row {
            Err(RowError::Malformed(why)) => Err(format!("a line of the ledger is no row: {why}")),
            Ok(_) | Err(RowError::Newer(_)) => {
                serde_json::from_slice(&self.raw).map_err(|e| e.to_string())
            }
        }
    }
}

/// The last `count` rows that pass, the newest last; and the unfinished append behind them.
pub fn tail(
    ledger: &dyn Ledger,
    filter: &Filter,
    count: usize,
) -> Result<(Vec<Shown>, Option<Unfinished>), ReadError> {
    let head = ledger.head()?.map_or(0, |head| head.seq);
    let mut window = u64::try_from(count).unwrap_or(u64::MAX);
    loop {
        let from = match filter.restricts() {
            true => 1,
            false => head.saturating_sub(window).saturating_add(1),
        };
        let (last, unfinished) = tail_from(ledger, filter, count, from)?;
        if last.len() >= count || from == 1 {
            return Ok((last.into(), unfinished));
        }
        // Rows of other kinds lay in between.
        window = window.saturating_mul(16);
    }
}

fn tail_from(
    ledger: &dyn Ledger,
    filter: &Filter,
    count: usize,
    from: u64,
) -> Result<(VecDeque<Shown>, Option<Unfinished>), ReadError> {
    let mut related = Related::default();
    let mut last: VecDeque<Shown> = VecDeque::new();
    let unfinished = ledger.scan(from, &mut |line| {
        let row = Row::parse(line.bytes);
        if filter.passes(line.bytes, &row, &mut related) {
            last.push_back(Shown { raw: line.bytes.to_vec(), row });
            if last.len() > count {
                last.pop_front();
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok((last, unfinished))
}

/// What is read of a row that this program does not understand.
#[derive(Deserialize)]
struct Label {
    kind: String,
}

/// The grants and attempts that the rows so far tied to what is wanted.
#[derive(Default)]
struct Related {
    grants: HashSet<Id>,
    attempts: HashSet<Id>,
}

impl Filter {
    fn restricts(&self) -> bool {
        let Filter { object_id, grant, kind, since, kinds: _ } = self;
        object_id.is_some() || grant.is_some() || kind.is_some() || since.is_some()
    }

    fn passes(&self, raw: &[u8], row: &Result<Row, RowError>, related: &mut Related) -> bool {
        let row = match row {
            Ok(row) => row,
            // Nothing is known of it but that it is there, and often its kind.
            Err(_) => {
                let label = serde_json::from_slice(raw).ok();
                let of_kind = label.is_none_or(|label: Label| self.is_of_kinds(&label.kind));
                return !self.restricts() && of_kind;
            }
        };
        let about = self.is_about(row, related);
        about
            && self.is_of_kinds(row.event.kind())
            && self.kind.as_deref().is_none_or(|kind| kind == row.event.kind())
            && self.since.is_none_or(|since| row.at >= since)
    }

    fn is_of_kinds(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|beginning| kind.starts_with(beginning))
    }

    /// Whether the row is about the object and grant that are wanted; remembers what it ties to
    /// them.
    fn is_about(&self, row: &Row, related: &mut Related) -> bool {
        if self.object_id.is_none() && self.grant.is_none() {
            return true;
        }
        let (grant, attempt) = (grant_of(row), discharge_of(row));
        let known = grant.is_some_and(|id| related.grants.contains(&id))
            || attempt.is_some_and(|id| related.attempts.contains(&id));
        let (object, about_grant) = match &row.event {
            Event::Minted(minted) => (Some(&minted.grant.object), grant),
            Event::Intent(intent) => (Some(&intent.object), grant),
            Event::Outcome(outcome) => (Some(&outcome.about.object), outcome.about.grant),
            _ => (None, grant),
        };
        let by_object = self
            .object_id
            .as_ref()
            .is_none_or(|id| object.is_some_and(|o| o.id.as_str() == id) || moves_write(row, id));
        let by_grant = self.grant.is_none_or(|id| about_grant == Some(id));
        let named = by_object && by_grant;
        if named || known {
            related.attempts.extend(attempt);
            if named {
                related.grants.extend(grant);
            }
        }
        named || known
    }
}

/// Whether the row moves a change set or a direct grant that has this id.
fn moves_write(row: &Row, id: &str) -> bool {
    let subjects = row.refs.iter().map(|(subject, _)| subject);
    let mut ids = subjects.filter_map(|s| s.write_id().or_else(|| s.direct_id()));
    id.parse().is_ok_and(|id: Id| ids.any(|moved| moved == id))
}
