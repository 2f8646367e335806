//! What a person who is away is told of: which events, for what once, in which words.

use std::fmt;

use super::{Class, Grant, GrantState, Object, Reason, Report, fold};
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{Draft, Event, Subject};
use crate::text::{Shown, cut};
use crate::time::Stamp;

/// The most characters of a detail that are told.
const MAX_DETAIL: usize = 300;

/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// The word for the notice that counts others.
pub const MORE: &str = "more";

/// Something that happened and that a person should know of before they come and look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub occasion: Occasion,
    /// Why, where an attempt ended so.
    pub reason: Option<Reason>,
    /// The object.
    pub object: Object,
    /// The grant, if there is one.
    pub grant: Option<Id>,
    /// The attempt, if it was one and has an id.
    pub discharge: Option<Id>,
    /// More, for people.
    pub detail: String,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A live grant is in the last tenth of its window.
    Due,
    /// A window closed before its grant was spent.
    Expired,
    /// Nobody can say whether it was done.
    Uncertain,
    /// An attempt was refused, and so will the next be until a person acts.
    Refused,
}

impl Occasion {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Occasion::Due => "due",
            Occasion::Expired => "expired",
            Occasion::Uncertain => "uncertain",
            Occasion::Refused => "refused",
        }
    }

    /// What a person is told of an attempt that ended for this reason; of most, nothing.
    pub fn of(reason: Reason) -> Option<Occasion> {
        match reason.class() {
            Class::Uncertain => Some(Occasion::Uncertain),
            Class::Expired => Some(Occasion::Expired),
            Class::Refused if is_stuck(reason) => Some(Occasion::Refused),
            Class::Refused | Class::Discharged => None,
        }
    }
}

/// Whether a refusal means that nothing more will come of the grant until a person acts, who cannot
/// know of it.
fn is_stuck(reason: Reason) -> bool {
    reason == Reason::BindingChanged || reason == Reason::Unreadable || is_of_the_book(reason)
}

/// Whether the trouble is with the book or its host, whatever the grant.
fn is_of_the_book(reason: Reason) -> bool {
    matches!(reason, Reason::LedgerRolledBack | Reason::LedgerUnwritable | Reason::ClockBehind)
}

impl Notice {
    /// A grant is in the last tenth of its window.
    pub fn due(grant: &Grant) -> Notice {
        let detail = format!("its window closes at {:.0}, and it is not spent", grant.not_after);
        Notice::of_grant(Occasion::Due, grant, detail)
    }

    /// A grant's window closed without its being spent.
    pub fn expired(state: &GrantState) -> Notice {
        let grant = &state.grant;
        let uses = match state.uses() {
            0 => "unused".to_owned(),
            1 => "after 1 use".to_owned(),
            uses => format!("after {uses} uses"),
        };
        let detail = format!("its window closed at {:.0}, {uses}", grant.not_after);
        Notice::of_grant(Occasion::Expired, grant, detail)
    }

    fn of_grant(occasion: Occasion, grant: &Grant, detail: String) -> Notice {
        Notice {
            occasion,
            reason: None,
            object: grant.object.clone(),
            grant: Some(grant.id),
            discharge: None,
            detail,
        }
    }

    /// What a row that was written is told of, if it is the outcome of an attempt.
    pub fn of_draft(draft: &Draft) -> Option<Notice> {
        let Event::Outcome(outcome) = &draft.event else { return None };
        Some(Notice {
            occasion: Occasion::of(outcome.reason)?,
            reason: Some(outcome.reason),
            object: outcome.about.object.clone(),
            grant: outcome.about.grant,
            discharge: fold::moved(&draft.refs, "discharge:"),
            detail: outcome.detail.to_string(),
        })
    }

    /// What a caller's answer is told of.
    pub fn of_report(report: &Report) -> Option<Notice> {
        Some(Notice {
            occasion: Occasion::of(report.reason)?,
            reason: Some(report.reason),
            object: report.object.clone(),
            grant: report.grant_id,
            discharge: report.discharge_id,
            detail: report.detail.clone(),
        })
    }

    /// What is told once: the same for every notice of this event on its subject, whoever finds it.
    ///
    /// An uncertain attempt is told once, whatever more is found out about it. Trouble with the
    /// book has no subject that goes away, so it is told once a day while it lasts.
    pub fn key(&self, now: Stamp) -> Digest {
        let grant = || match self.grant {
            Some(grant) => Subject::grant(grant),
            None => Subject::object(&self.object),
        };
        let (reason, subject) = match (self.occasion, self.reason, self.discharge) {
            (Occasion::Refused, Some(reason), _) if is_of_the_book(reason) => {
                (reason.as_str(), format!("day:{}", now.micros().div_euclid(DAY)))
            }
            (Occasion::Refused, Some(reason), _) => (reason.as_str(), grant().as_str().into()),
            (Occasion::Uncertain, _, Some(attempt)) => {
                ("", Subject::discharge(attempt).as_str().into())
            }
            _ => ("", grant().as_str().into()),
        };
        Digest::of(format!("{} {reason} {subject}", self.occasion.as_str()).as_bytes())
    }
}

/// One line for people, all of it shown text. It begins with the event's word.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.occasion.as_str())?;
        if let Some(reason) = self.reason.filter(|reason| reason.as_str() != self.occasion.as_str())
        {
            write!(f, ": {reason}")?;
        }
        write!(f, " ({})", self.object)?;
        if !self.detail.is_empty() {
            write!(f, " -- {}", Shown(&cut(&self.detail, MAX_DETAIL)))?;
        }
        match (self.occasion, self.discharge) {
            (Occasion::Uncertain, Some(attempt)) => {
                write!(f, "; look, then say what you found: granted resolve {attempt}")
            }
            _ => Ok(()),
        }
    }
}

/// One line that stands for so many notices.
pub fn in_one(notices: &[Notice]) -> String {
    let all = [Occasion::Due, Occasion::Expired, Occasion::Uncertain, Occasion::Refused];
    let count = |occasion: Occasion| {
        let count = notices.iter().filter(|notice| notice.occasion == occasion).count();
        (count > 0).then(|| format!("{count} {}", occasion.as_str()))
    };
    let counts: Vec<String> = all.into_iter().filter_map(count).collect();
    let counts = counts.join(", ");
    format!("{MORE}: {counts}; see granted list --all, and granted ledger --kind decision.outcome")
}
