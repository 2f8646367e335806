//! What a person is told of, once for what, and in which words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Duration;

use granted_core::decision::notice::{Notice, Occasion, in_one};
use granted_core::decision::{GrantState, REASONS, Reason, Report};
use granted_core::store::Ledger as _;
use granted_core::text::is_shown;
use granted_core::time::Stamp;
use granted_testkit::{FixedClock, MemoryLedger, sample};

fn report(reason: Reason) -> Report {
    Report {
        outcome: reason.class(),
        reason,
        object: sample::object(7),
        grant_id: Some(sample::id(7)),
        discharge_id: Some(sample::id(100)),
        detail: "why".into(),
        receipt: None,
        replayed: false,
    }
}

fn notice(reason: Reason) -> Notice {
    Notice::of_report(&report(reason)).unwrap()
}

fn now() -> Stamp {
    sample::now()
}

/// Whoever is away hears of what they alone can act on, and of nothing else.
#[test]
fn few_reasons_are_told() {
    let told = REASONS.iter().filter(|reason| Notice::of_report(&report(**reason)).is_some());
    let told: Vec<String> = told
        .map(|reason| format!("{}: {reason}", Occasion::of(*reason).unwrap().as_str()))
        .collect();
    let expected = [
        "refused: unreadable",
        "refused: binding_changed",
        "refused: ledger_unwritable",
        "refused: ledger_rolled_back",
        "refused: clock_behind",
        "uncertain: executor_uncertain",
        "uncertain: timeout",
        "uncertain: no_result_row",
        "uncertain: not_confirmed",
        "uncertain: receipt_mismatch",
        "uncertain: interrupted",
        "expired: expired",
    ];
    assert_eq!(told, expected);
}

/// A row and the answer that is made of it are told as the same.
#[test]
fn a_row_is_told_as_its_report_is() {
    let mut draft = sample::outcome(100, 7, (3, 3));
    assert_eq!(Notice::of_draft(&draft), None);
    assert_eq!(Notice::of_draft(&sample::intent(100, 7, 2)), None);
    let granted_core::ledger::Event::Outcome(outcome) = &mut draft.event else { panic!() };
    (outcome.outcome, outcome.reason) = (Reason::Timeout.class(), Reason::Timeout);
    outcome.detail = "why".into();
    assert_eq!(Notice::of_draft(&draft), Some(notice(Reason::Timeout)));
}

#[test]
fn an_event_has_one_key_a_subject() {
    let key = |notice: &Notice| notice.key(now());
    // An attempt is told once, whatever is found out later, and each attempt for itself.
    let timeout = notice(Reason::Timeout);
    assert_eq!(key(&timeout), key(&notice(Reason::Interrupted)));
    let other = Notice { discharge: Some(sample::id(101)), ..timeout.clone() };
    assert_ne!(key(&timeout), key(&other));
    // A grant is told once an event and, of refusals, once a reason, whichever the attempt.
    let all = [Reason::Expired, Reason::Unreadable, Reason::BindingChanged].map(notice);
    for (at, one) in all.iter().enumerate() {
        let again = Notice { discharge: Some(sample::id(101)), detail: "".into(), ..one.clone() };
        assert_eq!(key(one), key(&again));
        let later = one.key(now().plus(Duration::from_secs(86_400)));
        assert_eq!(key(one), later);
        let next_grant = Notice { grant: Some(sample::id(8)), ..one.clone() };
        assert_ne!(key(one), key(&next_grant));
        for two in &all[at + 1..] {
            assert_ne!(key(one), key(two));
        }
    }
    // The tick and an attempt find the same expiry.
    let state = state();
    assert_eq!(key(&Notice::expired(&state)), key(&notice(Reason::Expired)));
    assert_ne!(key(&Notice::due(&state.grant)), key(&Notice::expired(&state)));
}

#[test]
fn trouble_with_the_book_is_told_once_a_day() {
    let day = Stamp::parse("2026-09-30T00:00:00Z").unwrap();
    let (noon, evening) =
        (day.plus(Duration::from_secs(43_200)), day.plus(Duration::from_secs(86_399)));
    let next = day.plus(Duration::from_secs(86_400));
    for reason in [Reason::LedgerUnwritable, Reason::LedgerRolledBack, Reason::ClockBehind] {
        let one = notice(reason);
        let two = Notice { grant: None, discharge: None, object: sample::object(8), ..one.clone() };
        assert_eq!(one.key(day), two.key(noon));
        assert_eq!(one.key(day), two.key(evening));
        assert_ne!(one.key(day), two.key(next));
        assert_ne!(one.key(day), notice(Reason::Unreadable).key(day));
    }
    let before = Stamp::parse("1969-12-31T23:59:59Z").unwrap();
    let epoch = Stamp::parse("1970-01-01T00:00:00Z").unwrap();
    let one = notice(Reason::ClockBehind);
    assert_ne!(one.key(before), one.key(epoch));
}

fn state() -> GrantState {
    let ledger = MemoryLedger::new(std::sync::Arc::new(FixedClock::default()));
    ledger.append(&[sample::opened()]).unwrap();
    ledger.append(&[sample::minted(7, 0)]).unwrap();
    GrantState::fold(&ledger.rows(&sample::grant_subject(7)).unwrap()).unwrap()
}

#[test]
fn the_text_is_one_shown_line_that_begins_with_the_event() {
    let id = sample::id(100);
    for (notice, text) in [
        (
            Notice::due(&state().grant),
            "due (report/7) -- its window closes at 2026-09-30T09:00:00Z, and it is not spent"
                .to_owned(),
        ),
        (
            Notice::expired(&state()),
            "expired (report/7) -- its window closed at 2026-09-30T09:00:00Z, unused".into(),
        ),
        (notice(Reason::Expired), "expired (report/7) -- why".into()),
        (notice(Reason::BindingChanged), "refused: binding_changed (report/7) -- why".into()),
        (
            notice(Reason::Timeout),
            format!(
                "uncertain: timeout (report/7) -- why; look, then say what you found: granted resolve {id}"
            ),
        ),
    ] {
        assert_eq!(notice.to_string(), text);
    }
    let hostile = "a\n\u{1b}[2J\u{202e}\0".to_owned() + &"x".repeat(10_000);
    let text = Notice { detail: hostile, ..notice(Reason::Timeout) }.to_string();
    assert!(text.chars().all(is_shown) && text.len() < 600, "{text}");
    assert!(text.contains("-- a\\u{a}\\u{1b}[2J\\u{202e}\\u{0}x"), "{text}");
}

#[test]
fn many_are_counted_in_one() {
    let due = Notice::due(&state().grant);
    let all = [due.clone(), notice(Reason::Expired), due, notice(Reason::Timeout)];
    assert_eq!(
        in_one(&all),
        "more: 2 due, 1 expired, 1 uncertain; see granted list --all, and granted ledger --kind decision.outcome"
    );
}
