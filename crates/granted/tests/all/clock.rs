//! Clocks that go back, that were once far ahead, and windows that close.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use granted::{Book, Door, Json, Object, Report, Request, Status, Verdict, discharge, status};
use granted_core::ledger::By;
use granted_core::time::{Clock, Stamp};
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::FixedClock;

use crate::home::Home;

/// The library on this home, by this clock.
fn book(home: &Home, clock: Arc<dyn Clock>) -> Book {
    let by = By { agent: None, door: Door::Library, host: "test".into(), uid: 0 };
    let places = granted::Home::at(home.root());
    let ledger = Arc::new(FileLedger::new(places.ledger(), clock.clone(), by));
    let documents = Arc::new(FileDocuments::new(places.documents()));
    Book::with(places, Door::Library, ledger, documents, clock)
}

fn act(book: &Book, id: &str, during: impl FnOnce()) -> Report {
    let request = Request::new("report", id, "closure").unwrap();
    discharge(book, &request, |_, act| {
        during();
        act.result(true, Some(Json::Bool(true)));
        Verdict::Done
    })
}

/// The time of the last row.
fn last(home: &Home) -> Stamp {
    Stamp::parse(home.rows().last().unwrap()["at"].as_str().unwrap()).unwrap()
}

fn is(book: &Book, id: &str) -> Status {
    let object = Object { id: id.parse().unwrap(), r#type: "report".parse().unwrap() };
    status(book, &object).unwrap().status
}

#[test]
fn a_clock_set_back_is_refused_with_a_row() {
    let home = Home::new();
    home.mint("x", "");
    let reached = last(&home);
    let clock = Arc::new(FixedClock::new(reached));
    let book = book(&home, clock.clone());
    let epoch = Stamp::from_micros(0);
    for back in [
        reached.minus(Duration::from_secs(6)),
        reached.minus(Duration::from_micros(5_000_001)),
        epoch,
    ] {
        clock.set(back);
        let report = act(&book, "x", || panic!("nothing may be carried out"));
        assert_eq!(report.reason.as_str(), "clock_behind", "{report}");
        let row = home.rows().pop().unwrap();
        assert_eq!(row["body"]["reason"], "clock_behind");
        assert_eq!(last(&home), reached, "a row's time never goes back");
    }
    // What a running system corrects is no matter.
    clock.set(reached.minus(Duration::from_secs(5)));
    assert_eq!(act(&book, "x", || ()).reason.as_str(), "confirmed");
    assert_eq!(last(&home), reached);
    home.verify();
}

#[test]
fn a_clock_that_was_far_ahead_once_stops_widening_until_it_is_accepted() {
    let home = Home::new();
    let [.., revoked] = ["x", "y", "z"].map(|id| home.mint(id, ""));
    let uncertain = home.discharge("y", r#"rm "$GRANTED_GRANT_PATH""#, &[]);
    let ahead = Stamp::parse("2999-01-01T00:00:00Z").unwrap();
    let book = book(&home, Arc::new(FixedClock::new(ahead)));
    assert_eq!(is(&book, "x"), Status::Expired);
    assert_eq!(act(&book, "x", || panic!("expired")).reason.as_str(), "expired");
    drop(book);
    assert_eq!(last(&home), ahead);

    // The program itself goes by the real clock, which is far behind now.
    assert_eq!(home.status("x"), "live");
    let refused = home.discharge("x", "echo ran >> ran", &[]);
    assert_eq!(refused["reason"], "clock_behind", "{refused}");
    assert_eq!(home.rows().last().unwrap()["body"]["reason"], "clock_behind");
    let minted = home.say("mint --type report --id new --by me --for 1h").exits(1);
    assert!(minted.stderr.contains("hint: if the ledger's time was wrong: granted ledger accept"));
    assert_eq!(home.count("ran"), 0);
    // Narrowing goes on.
    home.run(["revoke", &revoked]).ok();
    let attempt = uncertain["discharge_id"].as_str().unwrap();
    home.run(["resolve", attempt, "--happened", "--by", "me"]).ok();
    home.say("tick").ok();
    home.verify();

    let accepted = home.say("ledger accept --by me --reason battery --json").ok().json();
    assert!(accepted["accepted"].to_string().contains("clock"), "{accepted}");
    assert!(last(&home) < ahead);
    assert_eq!(home.discharge("x", "echo ran >> ran", &[])["outcome"], "discharged");
    assert_eq!(home.status("z"), "revoked");
    home.mint("new", "");
    assert_eq!(
        home.say("ledger accept --by me --reason again").ok().stdout,
        "there is nothing to accept\n"
    );
    home.verify();
}

#[test]
fn a_window_that_the_ledger_has_passed_is_closed_though_the_clock_is_a_little_behind() {
    let home = Home::new();
    home.mint("x", "");
    let minted = &home.rows_of("decision.minted")[0]["body"]["grant"];
    let end = Stamp::parse(minted["not_after"].as_str().unwrap()).unwrap();
    let clock = Arc::new(FixedClock::new(end.plus(Duration::from_secs(2))));
    let book = book(&home, clock.clone());
    assert_eq!(act(&book, "none", || ()).reason.as_str(), "none");
    clock.set(end.minus(Duration::from_secs(1)));
    let report = act(&book, "x", || panic!("a claim would be written after the end"));
    assert_eq!(report.reason.as_str(), "expired", "{report}");
    home.verify();
}

#[test]
fn an_act_that_outlasts_its_grant_is_discharged() {
    let home = Home::new();
    home.mint("x", "");
    let minted = &home.rows_of("decision.minted")[0]["body"]["grant"];
    let end = Stamp::parse(minted["not_after"].as_str().unwrap()).unwrap();
    let clock = Arc::new(FixedClock::new(end.minus(Duration::from_secs(1))));
    let book = book(&home, clock.clone());
    let report = act(&book, "x", || clock.advance(Duration::from_secs(3_600)));
    assert_eq!(report.reason.as_str(), "confirmed", "{report}");
    assert!(last(&home) > end);
    assert_eq!(is(&book, "x"), Status::Consumed);
    home.verify();
}

/// A clock that passes a deadline between two of its readings.
struct Passing {
    readings: AtomicUsize,
    passes: usize,
    before: Stamp,
    after: Stamp,
}

impl Clock for Passing {
    fn now(&self) -> Stamp {
        match self.readings.fetch_add(1, Ordering::SeqCst) < self.passes {
            true => self.before,
            false => self.after,
        }
    }
}

#[test]
fn a_window_that_closes_between_two_readings_is_not_claimed() {
    let mut reasons = std::collections::BTreeSet::new();
    for passes in 0..12 {
        let home = Home::new();
        home.mint("x", "");
        let minted = &home.rows_of("decision.minted")[0]["body"]["grant"];
        let after = Stamp::parse(minted["not_after"].as_str().unwrap()).unwrap();
        let before = after.minus(Duration::from_micros(1));
        let clock = Passing { readings: AtomicUsize::new(0), passes, before, after };
        let book = book(&home, Arc::new(clock));
        let report = act(&book, "x", || ());
        let claims = home.rows_of("decision.intent");
        match report.reason.as_str() {
            "expired" => assert!(claims.is_empty(), "{passes}"),
            "confirmed" => {
                let at = Stamp::parse(claims[0]["at"].as_str().unwrap()).unwrap();
                assert_eq!(at, before, "{passes}");
            }
            other => panic!("{passes}: {other}"),
        }
        reasons.insert(report.reason.as_str());
        home.verify();
    }
    assert_eq!(reasons.len(), 2, "the deadline was passed before and after the claim");
}

#[test]
fn an_expiry_is_told_once() {
    let home = Home::new();
    for id in ["plain", "deleted", "session", "spent", "revoked"] {
        home.mint(id, if id == "session" { "--decision APPROVE_SESSION" } else { "" });
    }
    assert_eq!(home.discharge("session", "true", &[])["outcome"], "discharged");
    assert_eq!(home.discharge("spent", "true", &[])["outcome"], "discharged");
    home.say("revoke --type report --id revoked").ok();
    std::fs::remove_file(home.document("deleted")).unwrap();
    home.say("mint --type report --id gone --by me --for 1s").ok();
    std::fs::remove_file(home.document("gone")).unwrap();
    home.say("mint --type report --id short --by me --for 1s").ok();
    let live = ["status", "--type", "report", "--id", "short"];
    while home.run(live).code != 5 {}

    let args = ["discharge", "--type", "report", "--id", "short", "--exec", "echo ran >> ran"];
    let late = home.run(args).exits(5);
    assert!(
        late.stdout.starts_with("expired: expired (report/short) -- its window closed at "),
        "{late:?}"
    );
    let ticked = home.say("tick --json").ok().json();
    let names: Vec<_> =
        ticked["expired"].as_array().unwrap().iter().map(|e| &e["object"]["id"]).collect();
    assert_eq!(names, ["gone", "short"]);
    for _ in 0..3 {
        assert_eq!(home.say("tick").ok().stdout, "");
    }
    home.run(args).exits(5);
    let rows = home.rows_of("decision.expired");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["body"]["uses"], 0);
    // An attempt afterwards moves only itself.
    assert_eq!(home.rows().last().unwrap()["refs"].as_array().unwrap().len(), 1);
    assert_eq!(home.status("short"), "expired");
    assert_eq!(home.count("ran"), 0);
    home.verify();
}

#[test]
fn ticks_that_race_write_one_row_a_grant() {
    let home = Home::new();
    for id in ["a", "b", "c", "d"] {
        home.say(&format!("mint --type report --id {id} --by me --for 1s")).ok();
    }
    while home.run(["status", "--type", "report", "--id", "d"]).code != 5 {}
    let ticks: Vec<_> = (0..8).map(|_| home.command(["tick"]).spawn().unwrap()).collect();
    for mut tick in ticks {
        assert_eq!(tick.wait().unwrap().code(), Some(0));
    }
    assert_eq!(home.rows_of("decision.expired").len(), 4);
    home.verify();
}
