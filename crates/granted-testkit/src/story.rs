//! Ledgers that tell something: one with a row of every kind, one of any length.

use std::time::Duration;

use granted_core::decision::event::{Expired, Minted, Resolved, Revoked};
use granted_core::decision::{
    About, ActResult, Bind, Ended, ExecutorUsed, From, Grant, Intent, Kind, Object, Outcome,
    Reason, Tail, Use,
};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::json::Json;
use granted_core::ledger::event::{Accepted, Opened, Torn, What};
use granted_core::ledger::{Event, Line, Subject};
use granted_core::text::Name;
use granted_core::time::Stamp;
use granted_core::trust::event::{KeyTrusted, KeyUntrusted, ModeSet};
use granted_core::trust::{Mode, SecretKey, Statement};

use crate::scribe::Scribe;
use crate::spends;

/// A book being written.
pub struct Story {
    /// Its pen.
    pub scribe: Scribe,
    /// Its id.
    pub book: Id,
}

impl Story {
    /// Opens a book.
    pub fn open() -> (Story, Line) {
        let mut scribe = Scribe::default();
        let book = scribe.id();
        let opened = scribe.row(Event::Opened(Opened { book }), vec![]);
        (Story { scribe, book }, opened)
    }

    /// A grant for a day, not yet minted.
    pub fn grant(&mut self, r#type: &str, id: &str) -> Grant {
        let (id, object) = (self.scribe.id(), object(r#type, id));
        Grant {
            agent: None,
            allowed_actions: vec!["send".parse().unwrap()],
            binds: vec![],
            book: self.book,
            consumed: false,
            consumed_at: None,
            decision: Use::Once,
            executor: None,
            executor_bound: None,
            id,
            kind: Kind::V1,
            minted_at: self.scribe.now,
            minted_by: "owner keystroke".parse().unwrap(),
            not_after: self.scribe.now.plus(Duration::from_secs(86_400)),
            not_before: None,
            not_scope: vec!["any other recipient".parse().unwrap()],
            object,
            receipt: None,
            scope: "send the weekly report to the list it went to last week".parse().unwrap(),
            signatures: vec![],
        }
    }

    /// Mints it.
    pub fn mint(&mut self, grant: &Grant) -> Line {
        let moved = vec![Subject::grant(grant.id), Subject::object(&grant.object)];
        self.scribe.row(Event::Minted(Minted { grant: grant.clone() }), moved)
    }

    /// Claims it for a new attempt.
    pub fn claim(&mut self, grant: &Grant) -> (Id, Line) {
        let attempt = self.scribe.id();
        let intent = Intent {
            act: "4f1c9a0e7b2d4c6f8a1b3d5e7f9a0c2e".into(),
            action: Some("send".parse().unwrap()),
            deadline: self.scribe.now.plus(Duration::from_secs(600)),
            executor: ExecutorUsed {
                digest: Some(Digest::of(b"#!/bin/sh")),
                name: "send_report".parse().unwrap(),
            },
            key: None,
            object: grant.object.clone(),
            result_token_sha256: Digest::of(b"token"),
        };
        let moved = vec![Subject::discharge(attempt), Subject::grant(grant.id)];
        (attempt, self.scribe.row(Event::Intent(intent), moved))
    }

    /// The outcome row of an attempt that had claimed the grant.
    pub fn ended(grant: &Grant, attempt: Id, reason: Reason) -> (Event, Vec<Subject>) {
        let moved = vec![Subject::discharge(attempt), Subject::grant(grant.id)];
        (outcome(Some(grant.id), &grant.object, reason), moved)
    }

    /// The result row of an attempt whose program ended with this status.
    pub fn exited(attempt: Id, status: u8) -> (Event, Vec<Subject>) {
        (Event::Result(exit(status)), vec![Subject::discharge(attempt)])
    }
}

/// An object.
pub fn object(r#type: &str, id: &str) -> Object {
    Object { id: id.parse().unwrap(), r#type: r#type.parse().unwrap() }
}

fn exit(status: u8) -> ActResult {
    ActResult {
        ended: Some(Ended::Exit(status)),
        from: From::Wrapper,
        ok: status == 0,
        receipt: None,
        stderr: Some(Tail { bytes: 0, tail: "".into() }),
        stdout: Some(Tail { bytes: 5, tail: "sent\n".into() }),
    }
}

fn outcome(grant: Option<Id>, object: &Object, reason: Reason) -> Event {
    Event::Outcome(Outcome {
        about: About { grant, object: object.clone() },
        detail: "".into(),
        outcome: reason.class(),
        reason,
    })
}

/// A short life with every kind of row, the same bytes each time.
pub fn every_kind() -> Vec<Line> {
    let (mut story, opened) = Story::open();
    let mut lines = vec![opened];

    // Used: the executor's own result, then the wrapper's with the outcome.
    let report = story.grant("report", "2026-09-30");
    lines.push(story.mint(&report));
    story.scribe.by.agent = Some("claude".parse().unwrap());
    let (attempt, intent) = story.claim(&report);
    let receipt = Json::object([("message_id", Json::from("<42@example>"))]);
    let own = ActResult {
        ended: None,
        from: From::Executor,
        receipt: Some(receipt),
        stderr: None,
        stdout: None,
        ..exit(0)
    };
    lines.push(intent);
    lines.push(story.scribe.row(Event::Result(own), vec![Subject::discharge(attempt)]));
    let end = Story::ended(&report, attempt, Reason::Confirmed);
    lines.extend(story.scribe.append(vec![Story::exited(attempt, 0), end]));

    // Asked again: refused before a claim.
    let again = story.scribe.id();
    let refused = outcome(Some(report.id), &report.object, Reason::Consumed);
    lines.push(story.scribe.row(refused, vec![Subject::discharge(again)]));

    story.scribe.by.agent = None;

    // A session whose second act is cut off, comes back late and is settled by the person.
    let session = Grant {
        agent: Some("claude".parse().unwrap()),
        binds: vec![Bind {
            path: "/home/ada/report.txt".parse().unwrap(),
            sha256: Digest::of(b"report"),
        }],
        decision: Use::Session,
        executor: Some("send_report".parse().unwrap()),
        not_before: Some(story.scribe.now),
        ..story.grant("report", "é/€ \"1\"")
    };
    lines.push(story.mint(&session));
    story.scribe.by.agent = session.agent.clone();
    let (attempt, intent) = story.claim(&session);
    lines.push(intent);
    let end = Story::ended(&session, attempt, Reason::Confirmed);
    lines.extend(story.scribe.append(vec![Story::exited(attempt, 0), end]));
    let (attempt, intent) = story.claim(&session);
    lines.push(intent);
    let (event, moved) = Story::ended(&session, attempt, Reason::Interrupted);
    lines.push(story.scribe.row(event, moved));
    let late = vec![Subject::discharge(attempt)];
    lines.push(story.scribe.row(Event::LateResult(exit(0)), late.clone()));
    story.scribe.by.agent = None;
    let resolved = Resolved {
        by: "ada".parse().unwrap(),
        happened: true,
        note: Some("the list got it".parse().unwrap()),
        signature: None,
    };
    lines.push(story.scribe.row(Event::Resolved(resolved), late));

    // Taken back; and never used, until its window closed.
    let draft = story.grant("post", "42");
    lines.push(story.mint(&draft));
    let revoked = Revoked { by: Some("ada".parse().unwrap()), note: None };
    lines.push(story.scribe.row(Event::Revoked(revoked), vec![Subject::grant(draft.id)]));
    let idle = story.grant("post", "43");
    lines.push(story.mint(&idle));
    let (damaged, reason) = (story.grant("post", "44"), Reason::Expired);
    lines.push(story.mint(&damaged));
    story.scribe.now = idle.not_after;
    let expired = Expired { outcome: reason.class(), reason, uses: 0 };
    lines.push(story.scribe.row(Event::Expired(expired), vec![Subject::grant(idle.id)]));

    // Two tails moved aside, and a clock that had been ahead.
    let torn = |name: &str| Torn {
        bytes: 317,
        file: format!("ledger.torn-{name}").into(),
        sha256: Digest::of(name.as_bytes()),
    };
    lines.push(story.scribe.row(Event::Torn(torn("20261001T080019Z")), vec![]));
    let was = story.scribe.now;
    story.scribe.now = Stamp::parse("2026-09-30T09:00:00Z").unwrap();
    let accepted = Accepted {
        by: "ada".parse().unwrap(),
        reason: "the disk was full; the clock was a day ahead".parse().unwrap(),
        signature: None,
        what: vec![What::Damage(torn("20260930T090000Z")), What::Clock { was }],
    };
    lines.push(story.scribe.row(Event::Accepted(accepted), vec![Subject::grant(damaged.id)]));

    // A key, and another that it signs for; signatures asked for, and no more; the other key lost.
    let (ada, laptop) = (SecretKey::new(&[8; 32]).unwrap(), SecretKey::new(&[9; 32]).unwrap());
    let (moved, name) = (vec![Subject::trust()], |name: &str| name.parse::<Name>().unwrap());
    let trusted = |key: &SecretKey, name: Name, signature| {
        Event::KeyTrusted(KeyTrusted { key: key.public().clone(), name, signature })
    };
    let first = story.scribe.row(trusted(&ada, name("ada"), None), moved.clone());
    let second = Statement::trust(story.book, first.seq, laptop.public(), &name("laptop"));
    lines.push(first);
    let second = trusted(&laptop, name("laptop"), Some(ada.sign(&second)));
    lines.push(story.scribe.row(second, moved.clone()));
    let signed = Event::ModeSet(ModeSet { mode: Mode::Signed, signature: None });
    let signed = story.scribe.row(signed, moved.clone());
    let open = Some(ada.sign(&Statement::open(story.book, signed.seq)));
    lines.push(signed);
    let open = Event::ModeSet(ModeSet { mode: Mode::Open, signature: open });
    lines.push(story.scribe.row(open, moved.clone()));
    let note = Some("it was left on a train".parse().unwrap());
    let lost = Event::KeyUntrusted(KeyUntrusted { key: laptop.public().id(), note });
    lines.push(story.scribe.row(lost, moved));
    lines.extend(spends::every_kind(&mut story.scribe, story.book));
    lines
}

/// The rows of a busy life: mints and confirmed discharges, until at least that many rows are
/// shown.
pub fn busy(rows: u64, mut show: impl FnMut(&Line)) {
    let (mut story, opened) = Story::open();
    show(&opened);
    let mut last = opened.seq;
    while last < rows {
        let id = format!("2026-09-30-{last:08}");
        let grant = story.grant("report", &id);
        show(&story.mint(&grant));
        let (attempt, intent) = story.claim(&grant);
        show(&intent);
        let end = Story::ended(&grant, attempt, Reason::Confirmed);
        let lines = story.scribe.append(vec![Story::exited(attempt, 0), end]);
        lines.iter().for_each(&mut show);
        last = lines.last().map_or(rows, |line| line.seq);
    }
}
