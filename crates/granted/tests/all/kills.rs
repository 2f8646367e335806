//! Processes that are killed in the middle of a mint or a discharge, and what the next command
//! finds.

use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use granted::{Book, Door, Home as Places, Request};
use granted_core::ledger::By;
use granted_core::time::Stamp;
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::FixedClock;
use serde_json::Value;

use crate::crowd::{Gate, ends, files, lines, reasons, said, start, start_discharge, until};
use crate::home::{Home, Run};

/// Kills the process, for certain and while it is known to run.
fn kill(mut child: Child) -> Run {
    child.kill().unwrap();
    let run: Run = child.wait_with_output().unwrap().into();
    run.exits(-1)
}

fn effects(home: &Home) -> usize {
    lines(&home.dir().join("effects"))
}

/// What the executor does around killing its parent, and how many effects that makes.
const EXECUTORS: [(&str, usize); 5] = [
    ("kill -9 $PPID", 0),
    ("kill -9 $PPID; echo x >> effects; echo x >> done", 1),
    ("echo x >> effects; kill -9 $PPID", 1),
    ("echo x >> effects; kill -9 $PPID; exit 75", 1),
    ("echo x >> effects; \"$GRANTED\" result --ok; kill -9 $PPID", 1),
];

/// A home in which an executor killed its parent.
fn killed(exec: &str) -> Home {
    let home = Home::new();
    home.mint("1", "");
    let exec = exec.replace("$GRANTED\"", &format!("{}\"", env!("CARGO_BIN_EXE_granted")));
    let run = ends(vec![start_discharge(&home, "1", &exec, &["--key", "k"])]).remove(0);
    assert_eq!((run.code, run.stdout.as_str()), (-1, ""), "{run:?}");
    if exec.contains("done") {
        until("the executor is done", || home.dir().join("done").exists());
    }
    assert_eq!(home.rows_of("decision.outcome").len(), 0);
    home
}

#[test]
fn killed_by_its_executor_it_is_interrupted_and_spent() {
    for (exec, count) in EXECUTORS {
        let home = killed(exec);
        let own = usize::from(exec.contains("result --ok"));
        assert_eq!(home.rows_of("decision.result").len(), own);
        // Reading shows it and writes nothing.
        let before = std::fs::read(home.ledger()).unwrap();
        assert_eq!(home.status("1"), "consumed");
        assert_eq!(std::fs::read(home.ledger()).unwrap(), before);
        let again = home.discharge("1", "echo x >> effects", &[]);
        assert_eq!(said(&again), "refused: consumed", "{exec}: {again}");
        assert_eq!(reasons(&home), ["uncertain: interrupted", "refused: consumed"]);
        assert_eq!(effects(&home), count, "{exec}");
        let document: Value =
            serde_json::from_slice(&std::fs::read(home.document("1")).unwrap()).unwrap();
        assert_eq!(document["consumed"], true);
        assert_eq!(document["receipt"]["reason"], "interrupted");
        // The same key names the attempt that was cut off.
        let key = home.discharge("1", "echo x >> effects", &["--key", "k"]);
        assert_eq!((said(&key), &key["replayed"]), ("uncertain: interrupted".into(), &true.into()));
        assert_eq!(effects(&home), count, "{exec}");
        home.verify();
        // The lock file that it left is of no use any more.
        home.say("tick").ok();
        assert_eq!(files(&home.root().join("acts")), 0);
    }
}

#[test]
fn a_tick_settles_what_was_cut_off() {
    let home = killed(EXECUTORS[2].0);
    let ticked = home.say("tick --json").ok().json();
    assert_eq!(ticked["interrupted"][0]["object"]["id"], "1");
    assert_eq!(reasons(&home), ["uncertain: interrupted"]);
    assert_eq!(home.say("tick").ok().stdout, "");
    assert_eq!(home.status("1"), "consumed");
    home.verify();
}

#[test]
fn a_revocation_settles_what_was_cut_off() {
    let home = killed(EXECUTORS[2].0);
    home.say("revoke --type report --id 1").exits(1);
    assert_eq!(reasons(&home), ["uncertain: interrupted"]);
    home.verify();
}

#[test]
fn the_person_settles_what_was_cut_off() {
    let home = killed(EXECUTORS[2].0);
    let intent = home.rows_of("decision.intent").remove(0);
    let id = intent["refs"][0][0].as_str().unwrap().strip_prefix("discharge:").unwrap().to_owned();
    home.say(&format!("resolve {id} --happened --by me")).ok();
    assert_eq!(reasons(&home), ["uncertain: interrupted"]);
    assert_eq!(home.rows_of("decision.resolved").len(), 1);
    home.say(&format!("resolve {id} --did-not-happen --by me")).exits(1);
    assert_eq!(home.status("1"), "consumed");
    home.verify();
}

#[test]
fn killed_before_its_intent_nothing_happened() {
    let home = Home::new();
    home.mint("1", "");
    let before = std::fs::read(home.ledger()).unwrap();
    let gate = Gate::closed(&home);
    let child = start_discharge(&home, "1", "echo x >> effects", &[]);
    until("it wants to append", || files(&home.root().join("acts")) == 1);
    kill(child);
    gate.open();
    assert_eq!(std::fs::read(home.ledger()).unwrap(), before);
    assert_eq!((effects(&home), home.status("1").as_str()), (0, "live"));
    let again = home.discharge("1", "echo x >> effects", &[]);
    assert_eq!((said(&again).as_str(), effects(&home)), ("discharged: confirmed", 1));
    home.say("tick").ok();
    assert_eq!(files(&home.root().join("acts")), 0);
    home.verify();
}

#[test]
fn killed_between_its_document_and_its_row_a_mint_leaves_an_orphan() {
    let home = Home::new();
    home.mint("other", "");
    let documents = home.root().join("grants/report");
    let gate = Gate::closed(&home);
    let mint = "mint --type report --id 1 --by me --for 1h";
    let child = start(&home, &mint.split(' ').collect::<Vec<_>>());
    until("its document is there", || files(&documents) == 2);
    kill(child);
    gate.open();
    assert_eq!(home.status("1"), "none");
    let refused = home.discharge("1", "echo x >> effects", &[]);
    assert_eq!((said(&refused).as_str(), effects(&home)), ("refused: none", 0));
    let orphan = home.document("1").file_name().unwrap().to_str().unwrap().to_owned();
    let ticked = home.say("tick --json").ok().json();
    assert_eq!(ticked["orphans"], serde_json::json!([format!("report/{orphan}")]));
    home.say(mint).ok();
    let again = home.discharge("1", "echo x >> effects", &[]);
    assert_eq!((said(&again).as_str(), effects(&home)), ("discharged: confirmed", 1));
    home.verify();
}

#[test]
fn what_comes_back_after_it_was_settled_is_kept_as_evidence() {
    let home = Home::new();
    home.mint("1", "");
    let child = start_discharge(&home, "1", "kill -STOP $PPID; echo x >> effects", &[]);
    let stat = PathBuf::from(format!("/proc/{}/stat", child.id()));
    until("it is stopped", || std::fs::read_to_string(&stat).unwrap().contains(") T "));
    until("the act is over", || effects(&home) == 1);
    // Its process lives, whatever the deadline: nobody settles it.
    assert_eq!(said(&home.discharge("1", "echo x >> effects", &[])), "refused: claim_lost");
    assert_eq!(home.say("tick").ok().stdout, "");
    // As another host sees it, once the deadline is past: there is no lock file.
    std::fs::remove_dir_all(home.root().join("acts")).unwrap();
    let intent = home.rows_of("decision.intent").remove(0);
    let deadline = Stamp::parse(intent["body"]["deadline"].as_str().unwrap()).unwrap();
    let clock = Arc::new(FixedClock::new(deadline.plus(Duration::from_secs(60))));
    let book = library(&home, clock.clone());
    let request = Request::new("report", "1", "closure").unwrap();
    let attempt = || granted::discharge(&book, &request, |_, _| unreachable!()).to_string();
    assert!(attempt().starts_with("refused: claim_lost"), "{}", attempt());
    clock.advance(Duration::from_secs(1));
    assert!(attempt().starts_with("refused: consumed"), "{}", attempt());
    // Then it comes back.
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::CONT,
    )
    .unwrap();
    let late = ends(vec![child]).remove(0).exits(4).json();
    assert_eq!(said(&late), "uncertain: interrupted");
    let row = home.rows_of("decision.late_result").remove(0);
    assert_eq!(row["body"]["ok"], true);
    assert_eq!((home.rows().last().unwrap(), effects(&home)), (&row, 1));
    assert_eq!(home.status("1"), "consumed");
    home.verify();
}

/// The home's book, by this clock.
fn library(home: &Home, clock: Arc<FixedClock>) -> Book {
    let places = Places::at(home.root());
    let ledger = Arc::new(FileLedger::new(places.ledger(), clock.clone(), by()));
    let documents = Arc::new(FileDocuments::new(places.documents()));
    Book::with(places, Door::Library, ledger, documents, clock)
}

fn by() -> By {
    By { agent: None, door: Door::Library, host: "box".into(), uid: 0 }
}
