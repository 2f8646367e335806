//! What an object's grant, or one grant, is at the moment. Reads only.

use granted_core::decision::document::Standing;
use granted_core::decision::settle::is_interrupted;
use granted_core::decision::status::{Candidate, Status, as_folded, current};
use granted_core::decision::{Grant, Object};
use granted_core::id::Id;
use granted_core::ledger::{Row, Subject};
use granted_core::store::ReadError;
use granted_core::text::Name;
use granted_core::trust::{KeyId, Trust, Trusted};
use serde::Serialize;
use serde_json::value::RawValue;

use super::gather;
use crate::book::Book;

/// A grant as it stands.
#[derive(Clone, Debug)]
pub struct View {
    /// The status.
    pub status: Status,
    /// The grant as the fold has it; `None` if the object never had one.
    pub grant: Option<Grant>,
    /// What its document says.
    pub standing: Option<Standing>,
    /// The rows of the grant and of the last attempts that claimed it, oldest first.
    pub rows: Vec<Row>,
    /// An act that was cut off and that no row has settled yet.
    pub interrupted: Option<Id>,
    /// An act that runs.
    pub running: Option<Id>,
    /// The trusted keys that signed the grant.
    pub signed_by: Vec<SignedBy>,
}

/// A trusted key that signed a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignedBy {
    /// The key.
    pub key: KeyId,
    /// What the person calls it.
    pub name: Name,
}

/// How many of the last rows are shown with a status.
pub const LAST_ROWS: usize = 20;

/// A view as every door shows it: `{"status","grant","rows","signed_by"}`, the last where there are any.
#[derive(Serialize)]
pub(crate) struct ViewJson<'a> {
    status: Status,
    grant: Option<&'a Grant>,
    rows: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    signed_by: &'a [SignedBy],
}

impl View {
    /// The last rows, at most this many.
    pub(crate) fn last(&self, count: usize) -> &[Row] {
        self.rows.get(self.rows.len().saturating_sub(count)..).unwrap_or_default()
    }

    /// The view with its last rows as they stand in the ledger.
    pub(crate) fn json(&self, rows: usize) -> ViewJson<'_> {
        let raw = |row: &Row| {
            // A row's line is canonical JSON.
            String::from_utf8(row.line()).ok().and_then(|line| RawValue::from_string(line).ok())
        };
        let rows = self.last(rows).iter().filter_map(raw).collect();
        let (grant, signed_by) = (self.grant.as_ref(), self.signed_by.as_slice());
        ViewJson { status: self.status, grant, rows, signed_by }
    }
}

/// The grant that speaks for an object.
pub fn of_object(book: &Book, object: &Object) -> Result<View, ReadError> {
    let (states, _) = gather::grants_of(book, object)?;
    let trust = gather::trust(book)?;
    let candidate = |state| gather::signed_candidate(book, state, &trust);
    let candidates: Vec<Candidate> = states.into_iter().map(candidate).collect();
    // Only the last rows are shown, and the attempts before those that can have one are many.
    view(book, current(&candidates, book.now()), &trust, LAST_ROWS)
}

/// One grant, by its id; `None` if there is none.
pub fn of_grant(book: &Book, id: Id) -> Result<Option<View>, ReadError> {
    let Some(state) = gather::grant(book, id)? else { return Ok(None) };
    let trust = gather::trust(book)?;
    let candidate = gather::signed_candidate(book, state, &trust);
    view(book, Some(&candidate), &trust, usize::MAX).map(Some)
}

/// The view of a grant, with the rows of its last attempts.
fn view(
    book: &Book,
    candidate: Option<&Candidate>,
    trust: &Trust,
    attempts: usize,
) -> Result<View, ReadError> {
    let Some(candidate) = candidate else {
        return Ok(View {
            status: Status::None,
            grant: None,
            standing: None,
            rows: Vec::new(),
            interrupted: None,
            running: None,
            signed_by: Vec::new(),
        });
    };
    let (state, now) = (&candidate.state, book.now());
    let pending = gather::pending(book, [state])?;
    let act = state.running().and_then(|claim| {
        let seen = pending.iter().find(|seen| seen.discharge == claim.discharge)?;
        Some((claim.discharge, is_interrupted(claim, seen.act, now)))
    });
    let mut rows = book.ledger.rows(&Subject::grant(state.grant.id))?;
    for claim in state.claims.iter().rev().take(attempts) {
        rows.extend(book.ledger.rows(&Subject::discharge(claim.discharge))?);
    }
    let spending = state.spending().map(|claim| gather::attempt(book, claim.discharge));
    let spending = spending.transpose()?.flatten();
    rows.sort_by_key(|row| row.seq);
    rows.dedup_by_key(|row| row.seq);
    let signers = trust.signers(&state.grant).unwrap_or_default();
    let signed_by =
        |trusted: &Trusted| SignedBy { key: trusted.key.id(), name: trusted.name.clone() };
    Ok(View {
        status: candidate.status(now),
        grant: Some(as_folded(state, spending.as_ref())),
        standing: Some(candidate.standing.clone()),
        rows,
        interrupted: act.filter(|(_, cut_off)| *cut_off).map(|(id, _)| id),
        running: act.filter(|(_, cut_off)| !*cut_off).map(|(id, _)| id),
        signed_by: signers.into_iter().map(signed_by).collect(),
    })
}
