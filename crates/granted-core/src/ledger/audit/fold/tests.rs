use super::*;
use crate::decision::REASONS;

const OBJECT: u64 = 1;
const OTHER: u64 = 2;
const GRANT: u64 = 3;
const ONE: u64 = 10;
const TWO: u64 = 11;

/// A row as the moves that it makes, without their guards.
type Row = Vec<(u64, Step)>;

fn mint(session: bool) -> Row {
    let minted = Step::Minted { session, opens: 100, closes: 200, object: OBJECT };
    vec![(GRANT, minted), (OBJECT, Step::Object)]
}

fn claim_at(discharge: u64, at: i64) -> Row {
    vec![
        (discharge, Step::Intent { grant: GRANT, object: OBJECT }),
        (GRANT, Step::Claimed { discharge, at, object: OBJECT }),
    ]
}

fn claim(discharge: u64) -> Row {
    claim_at(discharge, 150)
}

fn result(discharge: u64, executor: bool, ok: bool) -> Row {
    vec![(discharge, Step::Result { executor, ok, declines: false })]
}

fn decline(discharge: u64) -> Row {
    vec![(discharge, Step::Result { executor: false, ok: false, declines: true })]
}

fn end(discharge: u64, reason: Reason) -> Row {
    vec![
        (discharge, Step::Outcome { grant: GRANT, object: OBJECT, reason }),
        (GRANT, Step::Settled { discharge, reason }),
    ]
}

fn turned(discharge: u64, reason: Reason) -> Row {
    vec![(discharge, Step::Turned { reason })]
}

fn late(discharge: u64) -> Row {
    vec![(discharge, Step::Late)]
}

fn resolve(discharge: u64) -> Row {
    vec![(discharge, Step::Resolved)]
}

fn revoke() -> Row {
    vec![(GRANT, Step::Revoked)]
}

fn expire(at: i64, uses: u64) -> Row {
    vec![(GRANT, Step::Expired { at, uses })]
}

fn close() -> Row {
    vec![(GRANT, Step::Closed)]
}

/// The rows as moves with the guards that they should have.
fn moves(rows: &[Row]) -> Vec<Move> {
    let mut last: HashMap<u64, u64> = HashMap::new();
    let mut moves = Vec::new();
    for (seq, row) in (2..).zip(rows) {
        for (subject, step) in row {
            let before = last.insert(*subject, seq).unwrap_or(0);
            moves.push(Move { subject: *subject, seq, before, step: *step });
        }
    }
    moves
}

fn check(rows: &[Row]) -> Result<(), Illegal> {
    check_subject_events(moves(rows))
}

/// A full use of the grant by this attempt, confirmed.
fn used(discharge: u64) -> [Row; 3] {
    [claim(discharge), result(discharge, false, true), end(discharge, Reason::Confirmed)]
}

fn story(parts: &[&[Row]]) -> Vec<Row> {
    parts.concat()
}

#[test]
fn legal_stories_pass() {
    use Reason::*;
    let (once, session) = (&[mint(false)][..], &[mint(true)][..]);
    let (one, two) = (&used(ONE)[..], &used(TWO)[..]);
    let declined = &[claim(ONE), decline(ONE), end(ONE, ExecutorDeclined)][..];
    let uncertain = &[claim(ONE), end(ONE, Interrupted)][..];
    for (name, rows) in [
        ("once", story(&[once, one])),
        ("two mints of an object", story(&[once, &[vec![(OBJECT, Step::Object)]]])),
        ("own result, then the wrapper's", {
            let results = [result(ONE, true, true), result(ONE, false, true)];
            story(&[once, &[claim(ONE)], &results, &[end(ONE, Confirmed)]])
        }),
        ("result without outcome yet", story(&[once, &used(ONE)[..2]])),
        ("failed", {
            story(&[once, &[claim(ONE), result(ONE, false, false), end(ONE, ExecutorFailed)]])
        }),
        ("could not be started", story(&[once, &[claim(ONE), end(ONE, UnknownExecutor)]])),
        ("declined, then used", story(&[once, declined, two])),
        ("declined by a closure, then used", {
            story(&[once, &[claim(ONE), end(ONE, ExecutorDeclined)], two])
        }),
        ("declined, then expired", story(&[once, declined, &[expire(200, 0)]])),
        ("session, twice", story(&[session, one, two])),
        ("session, used and expired", story(&[session, one, two, &[expire(200, 2)]])),
        ("session, declined between", story(&[session, declined, two, &[expire(201, 1)]])),
        ("revoked unused", story(&[once, &[revoke()]])),
        ("revoked while held", story(&[once, &used(ONE)[..1], &[revoke()], &used(ONE)[1..]])),
        ("session revoked between", story(&[session, one, &[revoke()]])),
        ("expired, then revoked", story(&[once, &[expire(200, 0), revoke()]])),
        ("refused, then late in life", story(&[&[turned(ONE, None)], once, two])),
        ("an attempt on an expired grant", story(&[once, &[turned(ONE, Expired)]])),
        ("late", story(&[once, uncertain, &[late(ONE)]])),
        ("late, resolved", story(&[once, uncertain, &[late(ONE), resolve(ONE)]])),
        ("resolved, late", story(&[once, uncertain, &[resolve(ONE), late(ONE)]])),
        (
            "late after a failure",
            story(&[once, &[claim(ONE), end(ONE, ExecutorFailed), late(ONE)]]),
        ),
        ("closed", story(&[once, &[close(), close(), revoke()]])),
        ("closed while held", story(&[once, &used(ONE)[..1], &[close()], &used(ONE)[1..]])),
        ("closed when spent", story(&[once, one, &[close()]])),
        ("closed, unknown", story(&[&[close(), close()]])),
        ("claimed at the first instant", story(&[once, &[claim_at(ONE, 100)]])),
        ("claimed at the last instant", story(&[once, &[claim_at(ONE, 199)]])),
    ] {
        assert_eq!(check(&rows), Ok(()), "{name}");
    }
}

/// The last row of each story is the illegal one.
#[test]
fn illegal_rows_are_refused() {
    use Reason::*;
    let (once, session) = (&[mint(false)][..], &[mint(true)][..]);
    let one = &used(ONE)[..];
    let held = &[mint(false), claim(ONE)][..];
    let uncertain = &[mint(false), claim(ONE), end(ONE, Timeout)][..];
    let cases: Vec<(Vec<Row>, &str)> = vec![
        // Claims.
        (story(&[&[claim(ONE)]]), "never minted"),
        (story(&[once, one, &[claim(TWO)]]), "the grant is spent"),
        (story(&[uncertain, &[claim(TWO)]]), "the grant is spent"),
        (story(&[held, &[end(ONE, ExecutorFailed), claim(TWO)]]), "the grant is spent"),
        (story(&[session, &[claim(ONE), end(ONE, ResultFailed), claim(TWO)]]), "is spent"),
        (story(&[session, &[claim(ONE), end(ONE, NoResultRow), claim(TWO)]]), "is spent"),
        (story(&[held, &[claim(TWO)]]), "still holds"),
        (story(&[session, &[claim(ONE), claim(TWO)]]), "still holds"),
        (story(&[held, &[claim(ONE)]]), "has claimed a grant already"),
        (story(&[once, &[turned(ONE, NotYet), claim(ONE)]]), "has its outcome already"),
        (story(&[session, one, &[claim(ONE)]]), "has its outcome already"),
        (story(&[once, &[revoke(), claim(ONE)]]), "is revoked"),
        (story(&[session, one, &[revoke(), claim(TWO)]]), "is revoked"),
        (story(&[once, &[expire(200, 0), claim(ONE)]]), "has expired"),
        (story(&[once, &[close(), claim(ONE)]]), "closed by an accepted row"),
        (story(&[&[close(), claim(ONE)]]), "an accepted row closed"),
        (story(&[once, &[claim_at(ONE, 99)]]), "has not opened"),
        (story(&[once, &[claim_at(ONE, 200)]]), "has closed"),
        (story(&[once, &[claim_at(ONE, 5_000)]]), "has closed"),
        (
            story(&[
                once,
                &[vec![(GRANT, Step::Claimed { discharge: ONE, at: 150, object: OTHER })]],
            ]),
            "another object",
        ),
        // Mints.
        (story(&[once, &[mint(false)]]), "minted before"),
        (story(&[once, one, &[mint(false)]]), "minted before"),
        (story(&[&[close(), mint(false)]]), "an accepted row closed"),
        // Results.
        (story(&[&[result(ONE, false, true)]]), "has no intent"),
        (story(&[held, &[result(ONE, true, true), result(ONE, true, true)]]), "stands before"),
        (story(&[held, &[result(ONE, false, true), result(ONE, false, true)]]), "stands before"),
        (story(&[held, &[result(ONE, false, true), result(ONE, true, true)]]), "stands before"),
        (story(&[once, one, &[result(ONE, true, true)]]), "has its outcome already"),
        (story(&[&[turned(ONE, None), result(ONE, true, true)]]), "has its outcome already"),
        // Outcomes.
        (story(&[once, &[end(ONE, Timeout)]]), "has no intent"),
        (story(&[held, &[end(ONE, Confirmed)]]), "no result row"),
        (story(&[held, &[result(ONE, true, false), end(ONE, Confirmed)]]), "no result row"),
        (
            story(&[
                held,
                &[result(ONE, true, true), result(ONE, false, false), end(ONE, Confirmed)],
            ]),
            "no result row",
        ),
        (story(&[held, &[result(ONE, false, true), end(ONE, ExecutorDeclined)]]), "declined"),
        (story(&[held, &[result(ONE, false, false), end(ONE, ExecutorDeclined)]]), "declined"),
        (
            story(&[held, &[result(ONE, true, true), decline(ONE), end(ONE, ExecutorDeclined)]]),
            "declined",
        ),
        (story(&[held, &[turned(ONE, Revoked)]]), "does not move the grant"),
        (story(&[uncertain, &[end(ONE, Timeout)]]), "has its outcome already"),
        (story(&[uncertain, &[turned(ONE, None)]]), "has its outcome already"),
        (story(&[&[turned(ONE, None), turned(ONE, None)]]), "has its outcome already"),
        (
            story(&[held, &[vec![(GRANT, Step::Settled { discharge: TWO, reason: Timeout })]]]),
            "hold",
        ),
        (
            story(&[
                uncertain,
                &[vec![(GRANT, Step::Settled { discharge: ONE, reason: Timeout })]],
            ]),
            "does not hold",
        ),
        (story(&[&[vec![(GRANT, Step::Settled { discharge: ONE, reason: Timeout })]]]), "never"),
        (
            story(&[
                held,
                &[vec![(ONE, Step::Outcome { grant: 99, object: OBJECT, reason: Timeout })]],
            ]),
            "another grant",
        ),
        (
            story(&[
                held,
                &[vec![(ONE, Step::Outcome { grant: GRANT, object: OTHER, reason: Timeout })]],
            ]),
            "another object",
        ),
        // Late results and resolutions.
        (story(&[&[late(ONE)]]), "has no intent"),
        (story(&[held, &[late(ONE)]]), "no outcome yet"),
        (story(&[&[turned(ONE, None), late(ONE)]]), "claimed nothing"),
        (story(&[uncertain, &[late(ONE), late(ONE)]]), "late result"),
        (story(&[&[resolve(ONE)]]), "has no intent"),
        (story(&[held, &[resolve(ONE)]]), "no outcome yet"),
        (story(&[once, one, &[resolve(ONE)]]), "not uncertain"),
        (story(&[held, &[end(ONE, ExecutorFailed), resolve(ONE)]]), "not uncertain"),
        (story(&[&[turned(ONE, None), resolve(ONE)]]), "not uncertain"),
        (story(&[uncertain, &[resolve(ONE), resolve(ONE)]]), "is resolved"),
        // Revocations.
        (story(&[&[revoke()]]), "never minted"),
        (story(&[once, &[revoke(), revoke()]]), "is revoked"),
        (story(&[once, one, &[revoke()]]), "is spent"),
        (story(&[&[close(), revoke()]]), "an accepted row closed"),
        // Expiries.
        (story(&[&[expire(200, 0)]]), "never minted"),
        (story(&[once, &[expire(199, 0)]]), "window has not closed"),
        (story(&[once, &[expire(200, 1)]]), "`uses`"),
        (story(&[session, one, &[expire(200, 0)]]), "`uses`"),
        (story(&[once, one, &[expire(200, 1)]]), "is spent"),
        (story(&[once, &[expire(200, 0), expire(201, 0)]]), "has expired"),
        (story(&[once, &[revoke(), expire(200, 0)]]), "is revoked"),
        (story(&[once, &[close(), expire(200, 0)]]), "closed by"),
        (story(&[held, &[expire(200, 0)]]), "still holds"),
        // One subject's steps done to another.
        (story(&[once, &[vec![(GRANT, Step::Object)]]]), "grant what only"),
        (story(&[once, &[vec![(OBJECT, Step::Revoked)]]]), "object what only"),
        (story(&[held, &[vec![(ONE, Step::Revoked)]]]), "discharge what only"),
    ];
    for (rows, cause) in cases {
        let fault = check(&rows).expect_err(cause);
        assert!(fault.cause.contains(cause), "`{}` is not `{cause}`", fault.cause);
        let last = u64::try_from(rows.len()).unwrap() + 1;
        assert_eq!(fault.line, last, "{}", fault.cause);
    }
}

#[test]
fn each_reason_stands_on_one_side_of_the_claim() {
    for reason in REASONS {
        let before = check(&[turned(ONE, *reason)]).is_ok();
        let results = match reason {
            Reason::ExecutorDeclined => [decline(ONE)],
            _ => [result(ONE, false, true)],
        };
        let after =
            check(&story(&[&[mint(false), claim(ONE)], &results, &[end(ONE, *reason)]])).is_ok();
        let both = *reason == Reason::UnknownExecutor;
        assert!(before != after || both, "{reason}: before {before}, after {after}");
    }
}

#[test]
fn every_wrong_guard_is_found() {
    let good = moves(&story(&[&[mint(false)], &used(ONE), &[turned(TWO, Reason::Consumed)]]));
    assert_eq!(check_subject_events(good.clone()), Ok(()));
    for (index, right) in good.iter().enumerate() {
        for wrong in 0..10 {
            if wrong != right.before {
                let mut bad = good.clone();
                bad[index].before = wrong;
                let fault = check_subject_events(bad).unwrap_err();
                assert!(fault.line == right.seq && fault.cause.contains("`refs`"), "{fault}");
            }
        }
    }
}
