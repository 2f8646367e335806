//! Samples of rows to be, each told apart by a number.

use std::time::Duration;

use granted_core::decision::event::{ActResult, ExecutorUsed, From, Intent, Minted, Revoked};
use granted_core::decision::identity::Confirm;
use granted_core::decision::{About, Bind, Grant, Identity, Kind, Object, Outcome, Reason, Use};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::event::{Accepted, Opened, What};
use granted_core::ledger::{By, Door, Draft, Event, Subject};
use granted_core::text::{Name, Note, ObjectId, ObjectType, Words};
use granted_core::time::Stamp;

/// The instant at which everything here happens.
pub fn now() -> Stamp {
    Stamp::parse("2026-09-30T08:00:00Z").unwrap()
}

/// The id with this number.
pub fn id(number: u64) -> Id {
    Id::new(now(), u128::from(number))
}

/// The person's own command line.
pub fn by() -> By {
    By { agent: None, door: Door::Cli, host: "box".into(), uid: 1000 }
}

/// `report/NUMBER`
pub fn object(number: u64) -> Object {
    Object {
        id: ObjectId::new(number.to_string()).unwrap(),
        r#type: ObjectType::new("report").unwrap(),
    }
}

/// The subject of a grant.
pub fn grant_subject(number: u64) -> Subject {
    Subject::grant(id(number))
}

/// The subject of a discharge.
pub fn discharge_subject(number: u64) -> Subject {
    Subject::discharge(id(number))
}

/// The subject of an object.
pub fn object_subject(number: u64) -> Subject {
    Subject::object(&object(number))
}

fn draft(event: Event, refs: Vec<(Subject, u64)>) -> Draft {
    Draft::new(event, by(), refs)
}

/// The first row of a book.
pub fn opened() -> Draft {
    draft(Event::Opened(Opened { book: id(0) }), vec![])
}

/// A grant for the object with the same number, to be used once within an hour.
pub fn grant(number: u64) -> Grant {
    Grant {
        agent: None,
        allowed_actions: vec![Name::new("send").unwrap()],
        binds: vec![],
        book: id(0),
        consumed: false,
        consumed_at: None,
        decision: Use::Once,
        executor: None,
        executor_bound: None,
        id: id(number),
        kind: Kind::V1,
        minted_at: now(),
        minted_by: Note::new("person").unwrap(),
        not_after: now().plus(Duration::from_secs(3_600)),
        not_before: None,
        not_scope: vec![],
        object: object(number),
        receipt: None,
        scope: Words::new("send the report").unwrap(),
        signatures: vec![],
    }
}

/// What an executor is that is a script and has a file.
pub fn identity() -> Identity {
    let bind =
        |path: &str| Bind { path: path.parse().unwrap(), sha256: Digest::of(path.as_bytes()) };
    Identity {
        argv: vec!["./send.sh".into(), "--now".into()],
        confirm: Some(Confirm { argv: vec!["is_sent".into()], program: bind("/bin/is_sent") }),
        cwd: "/home/ada".into(),
        digest: Digest::of(b"send_report"),
        env: vec!["MAIL_KEY".into()],
        files: vec![bind("/home/ada/list"), bind("/home/ada/text")],
        path: "/usr/bin:/bin".into(),
        program: bind("/home/ada/./send.sh"),
    }
}

/// Mints [`grant`]; `seen` is the last row of its object.
pub fn minted(number: u64, seen: u64) -> Draft {
    let refs = vec![(grant_subject(number), 0), (object_subject(number), seen)];
    draft(Event::Minted(Minted { grant: grant(number) }), refs)
}

/// Discharge `number` claims grant `grant`; `seen` is the grant's last row.
pub fn intent(number: u64, grant: u64, seen: u64) -> Draft {
    let event = Event::Intent(Intent {
        act: "0123456789abcdef0123456789abcdef".into(),
        action: Some(Name::new("send").unwrap()),
        deadline: now().plus(Duration::from_secs(600)),
        executor: ExecutorUsed { digest: None, name: Name::new("send_report").unwrap() },
        key: None,
        object: object(grant),
        result_token_sha256: Digest::of(b"token"),
    });
    draft(event, vec![(discharge_subject(number), 0), (grant_subject(grant), seen)])
}

/// What came back from discharge `number`; `seen` is its last row.
pub fn result(number: u64, seen: u64) -> Draft {
    let event = Event::Result(ActResult {
        ended: None,
        from: From::Executor,
        ok: true,
        receipt: None,
        stderr: None,
        stdout: None,
    });
    draft(event, vec![(discharge_subject(number), seen)])
}

/// Discharge `number` of grant `grant` ended well; `seen` are the last rows of both.
pub fn outcome(number: u64, grant: u64, seen: (u64, u64)) -> Draft {
    let event = Event::Outcome(Outcome {
        about: About { grant: Some(id(grant)), object: object(grant) },
        detail: "".into(),
        outcome: Reason::Confirmed.class(),
        reason: Reason::Confirmed,
    });
    let refs = vec![(discharge_subject(number), seen.0), (grant_subject(grant), seen.1)];
    draft(event, refs)
}

/// Takes grant `number` back; `seen` is its last row.
pub fn revoked(number: u64, seen: u64) -> Draft {
    let event = Event::Revoked(Revoked { by: None, note: None });
    draft(event, vec![(grant_subject(number), seen)])
}

/// Accepts these.
pub fn accepted(what: Vec<What>) -> Draft {
    let note = |text: &str| Note::new(text).unwrap();
    draft(
        Event::Accepted(Accepted {
            by: note("person"),
            reason: note("looked"),
            signature: None,
            what,
        }),
        vec![],
    )
}
