//! The decision whether an attempt may claim a grant, over every status and misfit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use granted_core::decision::discharge::{Decision, Executor, Facts, Request, decide};
use granted_core::decision::document::Standing;
use granted_core::decision::event::{About, ExecutorUsed, Intent, Minted, Outcome, Revoked};
use granted_core::decision::fold::{ClaimState, Noted};
use granted_core::decision::settle::{ActState, Pending};
use granted_core::decision::status::Candidate;
use granted_core::decision::{Grant, GrantState, Identity, Kind, Object, Permit, Reason, Use};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{By, Door, Draft, Event, Head, Subject};
use granted_core::store::Ledger as _;
use granted_core::text::{Name, Note, ObjectId, ObjectType, Words};
use granted_core::time::Stamp;
use granted_core::trust::Trust;
use granted_testkit::{FixedClock, MemoryLedger, sample};

fn now() -> Stamp {
    Stamp::parse("2026-09-30T12:00:00Z").unwrap()
}

fn id(n: u128) -> Id {
    Id::new(now(), n)
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn by() -> By {
    By { agent: None, door: Door::Cli, host: "box".into(), uid: 1000 }
}

fn object() -> Object {
    Object { id: ObjectId::new("42").unwrap(), r#type: ObjectType::new("report").unwrap() }
}

fn grant() -> Grant {
    Grant {
        agent: None,
        allowed_actions: vec![name("send")],
        binds: vec![],
        book: id(1),
        consumed: false,
        consumed_at: None,
        decision: Use::Once,
        executor: None,
        executor_bound: None,
        id: id(2),
        kind: Kind::V1,
        minted_at: now().minus(Duration::from_secs(60)),
        minted_by: Note::new("me").unwrap(),
        not_after: now().plus(Duration::from_secs(60)),
        not_before: None,
        not_scope: vec![],
        object: object(),
        receipt: None,
        scope: Words::default(),
        signatures: vec![],
    }
}

fn candidate(grant: Grant) -> Candidate {
    let state = GrantState {
        grant,
        minted: 2,
        last: 2,
        claims: vec![],
        revoked: None,
        expired: None,
        closed: None,
    };
    Candidate { state, standing: Standing::Agrees }
}

fn claim(n: u128, key: Option<&str>, outcome: Option<Reason>) -> ClaimState {
    let intent = Intent {
        act: "a".into(),
        action: Some(name("send")),
        deadline: now().plus(Duration::from_secs(30)),
        executor: ExecutorUsed { digest: None, name: name("mail") },
        key: key.map(name),
        object: object(),
        result_token_sha256: Digest::ZERO,
    };
    let outcome = outcome.map(|reason| Outcome {
        about: About { grant: Some(id(2)), object: object() },
        detail: "".into(),
        outcome: reason.class(),
        reason,
    });
    ClaimState {
        discharge: id(n),
        intent: Noted { seq: 3, at: now(), body: intent },
        by: by(),
        outcome: outcome.map(|body| Noted { seq: 5, at: now(), body }),
    }
}

fn request() -> Request {
    Request {
        object: object(),
        action: Some(name("send")),
        executor: name("mail"),
        agent: None,
        key: None,
        timeout: Duration::from_secs(10),
    }
}

fn facts(candidates: Vec<Candidate>) -> Facts {
    Facts {
        now: now(),
        head: Some(Head { seq: 9, at: now(), hash: Digest::ZERO }),
        candidates,
        pending: vec![],
        trust: Trust::default(),
        drift: vec![],
        executor: Executor::Ready { digest: None, types: vec![], actions: vec![] },
        sealed: None,
        discharge: id(99),
        act: "act".into(),
        token_sha256: Digest::ZERO,
        by: by(),
    }
}

/// The reasons of a denial; empty for a permit.
fn reasons(request: &Request, facts: &Facts) -> Vec<Reason> {
    match decide(request, facts) {
        Decision::Permit(_) => vec![],
        Decision::Deny(denial) => denial.reasons.iter().map(|(reason, _)| *reason).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_live_grant_that_fits_is_permitted() {
    let Decision::Permit(permit) = decide(&request(), &facts(vec![candidate(grant())])) else {
        panic!("not permitted");
    };
    assert_eq!(permit.grant().id, id(2));
}

#[test]
fn each_status_has_its_reason() {
    let edit = |change: &dyn Fn(&mut Candidate)| {
        let mut changed = candidate(grant());
        change(&mut changed);
        reasons(&request(), &facts(vec![changed]))
    };
    let minute = Duration::from_secs(60);
    let revoked = || Some(Noted { seq: 4, at: now(), body: Revoked { by: None, note: None } });
    assert_eq!(reasons(&request(), &facts(vec![])), [Reason::None]);
    assert_eq!(edit(&|c| c.standing = Standing::Missing), [Reason::None]);
    assert_eq!(edit(&|c| c.standing = Standing::Spent), [Reason::Consumed]);
    assert_eq!(edit(&|c| c.standing = Standing::Unreadable("x".into())), [Reason::Unreadable]);
    assert_eq!(edit(&|c| c.state.revoked = revoked()), [Reason::Revoked]);
    assert_eq!(edit(&|c| c.state.closed = Some(4)), [Reason::Consumed]);
    assert_eq!(edit(&|c| c.state.expired = Some(4)), [Reason::Expired]);
    assert_eq!(edit(&|c| c.state.grant.not_after = now()), [Reason::Expired]);
    assert_eq!(edit(&|c| c.state.grant.not_before = Some(now().plus(minute))), [Reason::NotYet]);
    assert_eq!(edit(&|c| c.state.grant.not_before = Some(now())), []);
    // The fold comes first, then revocation, then the document, then the window.
    assert_eq!(
        edit(&|c| {
            c.state.closed = Some(4);
            c.state.revoked = revoked();
            c.standing = Standing::Missing;
        }),
        [Reason::Consumed]
    );
    assert_eq!(
        edit(&|c| {
            c.standing = Standing::Unreadable("x".into());
            c.state.grant.not_after = now();
        }),
        [Reason::Unreadable]
    );
}

#[test]
fn only_a_decline_leaves_a_single_use_grant_live() {
    for (outcome, expected) in [
        (Reason::ExecutorDeclined, vec![]),
        (Reason::Confirmed, vec![Reason::Consumed]),
        (Reason::ExecutorFailed, vec![Reason::Consumed]),
        (Reason::ResultFailed, vec![Reason::Consumed]),
        (Reason::Timeout, vec![Reason::Consumed]),
        (Reason::Interrupted, vec![Reason::Consumed]),
    ] {
        let mut once = candidate(grant());
        once.state.claims.push(claim(7, None, Some(outcome)));
        assert_eq!(reasons(&request(), &facts(vec![once.clone()])), expected, "{outcome}");
        once.state.grant.decision = Use::Session;
        let expected = if outcome == Reason::Confirmed { vec![] } else { expected };
        assert_eq!(reasons(&request(), &facts(vec![once])), expected, "session {outcome}");
    }
}

#[test]
fn a_claim_that_runs_holds_the_grant() {
    for decision in [Use::Once, Use::Session] {
        let mut held = candidate(grant());
        held.state.grant.decision = decision;
        held.state.claims.push(claim(7, None, None));
        let mut facts = facts(vec![held]);
        facts.pending.push(Pending { discharge: id(7), last: 3, act: ActState::Running });
        assert_eq!(reasons(&request(), &facts), [Reason::ClaimLost]);
    }
}

#[test]
fn an_act_that_was_cut_off_is_settled_first() {
    let mut held = candidate(grant());
    held.state.claims.push(claim(7, None, None));
    let mut facts = facts(vec![held]);
    let settles = |facts: &Facts| matches!(decide(&request(), facts), Decision::Settle(_));
    for (act, later, expected) in [
        (ActState::Free, 0, true),
        (ActState::Running, 100_000, false),
        // Its deadline is 30 s away, and another host's act has 60 s more.
        (ActState::Absent, 89, false),
        (ActState::Absent, 91, true),
    ] {
        facts.pending = vec![Pending { discharge: id(7), last: 4, act }];
        facts.now = now().plus(Duration::from_secs(later));
        assert_eq!(settles(&facts), expected, "{act:?} {later}");
    }
}

#[test]
fn a_denial_holds_every_failed_check() {
    let mut narrow = grant();
    narrow.agent = Some(name("claude"));
    narrow.executor = Some(name("other"));
    let mut facts = facts(vec![candidate(narrow)]);
    facts.head = Some(Head { seq: 9, at: now().plus(Duration::from_secs(6)), hash: Digest::ZERO });
    facts.drift.push((id(2), "a file".into()));
    facts.executor = Executor::Missing("none".into());
    let request = Request { action: Some(name("archive")), ..request() };
    assert_eq!(
        reasons(&request, &facts),
        [
            Reason::ClockBehind,
            Reason::AgentNotNamed,
            Reason::ActionNotAllowed,
            Reason::ActionNotAllowed,
            Reason::BindingChanged,
            Reason::UnknownExecutor,
        ]
    );
}

#[test]
fn the_clock_may_be_five_seconds_behind() {
    let mut facts = facts(vec![candidate(grant())]);
    facts.head = Some(Head { seq: 9, at: now().plus(Duration::from_secs(5)), hash: Digest::ZERO });
    assert_eq!(reasons(&request(), &facts), []);
}

#[test]
fn a_window_is_held_against_the_time_that_the_row_would_bear() {
    // By a clock that is a little behind, the window is open; but no row can be in it any more.
    let closed = Grant { not_after: now().plus(Duration::from_secs(3)), ..grant() };
    let mut facts = facts(vec![candidate(closed)]);
    facts.head = Some(Head { seq: 9, at: now().plus(Duration::from_secs(3)), hash: Digest::ZERO });
    assert_eq!(reasons(&request(), &facts), [Reason::Expired]);
}

#[test]
fn what_stays_human_must_be_named() {
    let mut any = grant();
    any.allowed_actions.clear();
    let ask = |grant: &Grant, action: Option<&str>| {
        let request = Request { action: action.map(name), ..request() };
        reasons(&request, &facts(vec![candidate(grant.clone())]))
    };
    assert_eq!(ask(&any, None), []);
    assert_eq!(ask(&any, Some("anything")), []);
    for verb in ["hire", "negotiate", "sign", "pay", "first_contact"] {
        assert_eq!(ask(&any, Some(verb)), [Reason::ActionNotAllowed], "{verb}");
        let mut named = any.clone();
        named.allowed_actions.push(name(verb));
        assert_eq!(ask(&named, Some(verb)), [], "{verb}");
    }
    for verb in ["Pay", "PAY", "first-contact", "First.Contact"] {
        assert_eq!(ask(&any, Some(verb)), [Reason::ActionNotAllowed], "{verb}");
    }
    assert_eq!(ask(&grant(), None), [Reason::ActionNotAllowed]);
}

#[test]
fn a_bound_executor_must_be_sealed_and_the_same() {
    let was = sample::identity();
    let bound = Grant {
        executor: Some(name("mail")),
        executor_bound: Some(Box::new(was.clone())),
        ..grant()
    };
    let mut facts = facts(vec![candidate(bound)]);
    // Whatever the executor's digest was when it was found, what was sealed is what runs.
    let digest = Some(Digest::of(b"before"));
    facts.executor = Executor::Ready { digest, types: vec![], actions: vec![] };
    assert_eq!(reasons(&request(), &facts), [Reason::UnknownExecutor]);
    facts.sealed = Some(Err("there is no /proc".into()));
    assert_eq!(reasons(&request(), &facts), [Reason::UnknownExecutor]);
    let other = Identity { cwd: "/elsewhere".into(), ..was.clone() };
    facts.sealed = Some(Ok(Box::new(other)));
    assert_eq!(reasons(&request(), &facts), [Reason::BindingChanged]);
    facts.sealed = Some(Ok(Box::new(was.clone())));
    let Decision::Permit(permit) = decide(&request(), &facts) else { panic!("it may") };
    let intent = format!("{permit:?}");
    let intent = intent.split_once("Intent(").unwrap().1;
    assert!(intent.contains(&format!("digest: Some({:?})", was.digest)), "{intent}");
    // Something else against it: it was not sealed, and that is not said.
    facts.sealed = None;
    let wrong = Request { executor: name("post"), ..request() };
    assert_eq!(reasons(&wrong, &facts), [Reason::ActionNotAllowed]);
}

#[test]
fn an_executor_may_serve_some_types_and_actions_only() {
    let ask = |types: &[&str], actions: &[&str]| {
        let mut facts = facts(vec![candidate(grant())]);
        facts.executor = Executor::Ready {
            digest: None,
            types: types.iter().map(|t| ObjectType::new(*t).unwrap()).collect(),
            actions: actions.iter().map(|a| name(a)).collect(),
        };
        reasons(&request(), &facts)
    };
    assert_eq!(ask(&["report"], &["send"]), []);
    assert_eq!(ask(&["deploy"], &[]), [Reason::ActionNotAllowed]);
    assert_eq!(ask(&[], &["archive"]), [Reason::ActionNotAllowed]);
}

#[test]
fn of_two_live_grants_the_one_that_fits_and_ends_first_is_used() {
    let with = |n: u128, minutes: u64, action: &str| {
        let mut grant = grant();
        grant.id = id(n);
        grant.not_after = now().plus(Duration::from_secs(60 * minutes));
        grant.allowed_actions = vec![name(action)];
        candidate(grant)
    };
    let used = |candidates: Vec<Candidate>| match decide(&request(), &facts(candidates)) {
        Decision::Permit(permit) => permit.grant().id,
        other => panic!("{other:?}"),
    };
    assert_eq!(used(vec![with(1, 9, "send"), with(2, 5, "send")]), id(2));
    assert_eq!(used(vec![with(1, 9, "send"), with(2, 5, "archive")]), id(1));
}

#[test]
fn a_key_names_a_claim() {
    let keyed = Request { key: Some(name("k")), ..request() };
    let decide_with = |outcome: Option<Reason>, fresh: bool, request: &Request| {
        let mut used = candidate(grant());
        used.state.claims.push(claim(7, Some("k"), outcome));
        let mut candidates = vec![used];
        if fresh {
            let mut again = candidate(grant());
            again.state.grant.id = id(3);
            again.state.minted = 8;
            candidates.push(again);
        }
        let mut facts = facts(candidates);
        if outcome.is_none() {
            facts.pending.push(Pending { discharge: id(7), last: 3, act: ActState::Running });
        }
        decide(request, &facts)
    };
    for fresh in [false, true] {
        assert!(matches!(decide_with(None, fresh, &keyed), Decision::Wait(_)));
        for outcome in [Reason::Confirmed, Reason::Timeout, Reason::Interrupted] {
            assert!(matches!(decide_with(Some(outcome), fresh, &keyed), Decision::Replay(_)));
        }
        let declined = decide_with(Some(Reason::ExecutorDeclined), fresh, &keyed);
        assert!(matches!(declined, Decision::Permit(_)));
    }
    let failed = Some(Reason::ExecutorFailed);
    assert!(matches!(decide_with(failed, false, &keyed), Decision::Replay(_)));
    assert!(matches!(decide_with(failed, true, &keyed), Decision::Permit(_)));
    let other = Request { executor: name("other"), ..keyed.clone() };
    match decide_with(Some(Reason::Confirmed), false, &other) {
        Decision::Deny(denial) => assert_eq!(denial.reasons[0].0, Reason::InvalidRequest),
        other => panic!("{other:?}"),
    }
}

/// A ledger in which the first of two grants of the object is minted, and the draft that mints the
/// other, whose deadline is sooner.
fn two_grants() -> (MemoryLedger, Draft) {
    let ledger = MemoryLedger::new(Arc::new(FixedClock::new(now())));
    let minted = |grant: Grant, seen| {
        let refs = vec![(Subject::grant(grant.id), 0), (Subject::object(&grant.object), seen)];
        Draft { event: Event::Minted(Minted { grant }), refs, ..sample::opened() }
    };
    ledger.append(&[sample::opened(), minted(grant(), 0)]).unwrap();
    let sooner = now().plus(Duration::from_secs(30));
    (ledger, minted(Grant { id: id(3), not_after: sooner, ..grant() }, 2))
}

/// What a new attempt sees and may do.
fn permitted(ledger: &MemoryLedger, key: Option<&str>, discharge: u128) -> Permit {
    let seen = |grant| GrantState::fold(&ledger.rows(&Subject::grant(id(grant))).unwrap());
    let states = [2, 3].into_iter().filter_map(seen);
    let candidates = states.map(|state| Candidate { state, standing: Standing::Agrees }).collect();
    let request = Request { key: key.map(name), ..request() };
    match decide(&request, &Facts { discharge: id(discharge), ..facts(candidates) }) {
        Decision::Permit(permit) => *permit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn attempts_with_one_key_claim_one_grant() {
    for (key, claims) in [(Some("k"), 1), (None, 2)] {
        for the_later_one_is_first in [false, true] {
            let (ledger, mint) = two_grants();
            let earlier = permitted(&ledger, key, 50);
            ledger.append(&[mint]).unwrap();
            let later = permitted(&ledger, key, 51);
            assert_ne!(earlier.grant().id, later.grant().id);
            let permits = match the_later_one_is_first {
                true => [later, earlier],
                false => [earlier, later],
            };
            let claimed = permits.map(|permit| permit.claim(&ledger).is_ok());
            assert_eq!(claimed.iter().filter(|claimed| **claimed).count(), claims);
        }
    }
}
