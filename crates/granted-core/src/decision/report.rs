//! What a caller is told of an attempt.

use std::fmt;

use serde::Serialize;

use super::fold::Attempt;
use super::{Class, Object, Reason};
use crate::id::Id;
use crate::json::Json;
use crate::text::Shown;

/// The answer to one attempt: returned, never raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Class,
    /// Why.
    pub reason: Reason,
    /// What it was about.
    pub object: Object,
    /// The grant that it used or would have used.
    pub grant_id: Option<Id>,
    /// The attempt; `None` only where not even its row could be written.
    pub discharge_id: Option<Id>,
    /// More, for people.
    pub detail: String,
    /// What the result row shows for the act.
    pub receipt: Option<Json>,
    /// Whether this is the stored outcome of an earlier attempt with the same key.
    pub replayed: bool,
}

impl Report {
    /// The report of an attempt that has an outcome, from its rows.
    pub fn of(attempt: &Attempt, replayed: bool) -> Option<Report> {
        let outcome = &attempt.outcome.as_ref()?.body;
        let result = attempt.result();
        let confirmed = result.filter(|_| outcome.reason == Reason::Confirmed);
        let row = confirmed.map(|result| format!("result row line {}", result.seq));
        let more = Some(outcome.detail.to_string()).filter(|detail| !detail.is_empty());
        Some(Report {
            outcome: outcome.outcome,
            reason: outcome.reason,
            object: outcome.about.object.clone(),
            grant_id: outcome.about.grant,
            discharge_id: Some(attempt.id),
            detail: row.into_iter().chain(more).collect::<Vec<_>>().join("; "),
            receipt: result.and_then(|result| result.body.evidence()),
            replayed,
        })
    }

    /// This report with another reason and detail: what the caller is told where it differs from
    /// what the ledger could be made to say.
    pub fn but(self, reason: Reason, detail: String) -> Report {
        Report { outcome: reason.class(), reason, detail, ..self }
    }
}

impl fmt::Display for Report {
    /// `OUTCOME: REASON (TYPE/ID) -- DETAIL`, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.outcome, self.reason, self.object)?;
        match self.detail.is_empty() {
            true => Ok(()),
            false => write!(f, " -- {}", Shown(&self.detail)),
        }
    }
}
