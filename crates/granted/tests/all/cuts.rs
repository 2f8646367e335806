//! The ledger cut at every byte of its last append, as a crash in the middle of a write leaves it.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use granted::ledger::verify::verify;
use granted::{Book, Door, Home as Places, Request, Verdict};
use granted_core::ledger::{By, Event};
use granted_core::store::Ledger;
use granted_core::time::Stamp;
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::FixedClock;

use crate::crowd::{ends, lines, said, start_discharge};
use crate::home::Home;

/// A home as it was before a crash.
struct Scene {
    ledger: Vec<u8>,
    /// The offset of the last append.
    last: usize,
    /// The one document, unspent, by its file name.
    document: (String, Vec<u8>),
    /// When another host's act counts as cut off.
    late: Stamp,
}

impl Scene {
    /// What `report/1` left after `rows` rows, the last `count` of which are one append.
    fn of(home: &Home, document: Vec<u8>, rows: usize, count: usize) -> Scene {
        let text = std::fs::read_to_string(home.ledger()).unwrap();
        let length = |rows: usize| text.split_inclusive('\n').take(rows).map(str::len).sum();
        let ledger: usize = length(rows);
        let name = home.document("1").file_name().unwrap().to_str().unwrap().to_owned();
        let intents = home.rows_of("decision.intent");
        let deadline = intents[0]["body"]["deadline"].as_str().unwrap();
        Scene {
            ledger: text.as_bytes()[..ledger].to_vec(),
            last: length(rows - count),
            document: (name, document),
            late: Stamp::parse(deadline).unwrap().plus(Duration::from_secs(60)),
        }
    }

    /// The home after a crash that left so much of the ledger. No process of it lives, and its
    /// lock files are gone, as after a restart.
    fn cut(&self, at: usize) -> Home {
        let home = Home::new();
        home.write(".granted/ledger.jsonl", &self.ledger[..at]);
        home.write(&format!(".granted/grants/report/{}", self.document.0), &self.document.1);
        home
    }
}

/// The rows opened, minted, intent, result, outcome of a discharge by a real process.
fn scene(rows: usize, count: usize) -> Scene {
    let home = Home::new();
    home.mint("1", "");
    let document = std::fs::read(home.document("1")).unwrap();
    ends(vec![start_discharge(&home, "1", "echo some output", &["--timeout", "5s"])])
        .remove(0)
        .ok();
    assert_eq!(home.rows().len(), 5);
    Scene::of(&home, document, rows, count)
}

/// Does this for each of these cuts, some at a time: most of the time is spent waiting for the disk.
fn at_each(cuts: RangeInclusive<usize>, check: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(*cuts.start());
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if !cuts.contains(&at) {
                return;
            }
            check(at);
        }
    };
    std::thread::scope(|scope| (0..16).for_each(|_| drop(scope.spawn(worker))));
}

/// The home's ledger and book, as a process would open them that comes at that time.
fn opened(home: &Home, now: Stamp) -> (Arc<FileLedger>, Book) {
    let places = Places::at(home.root());
    let clock = Arc::new(FixedClock::new(now));
    let by = By { agent: None, door: Door::Library, host: "box".into(), uid: 0 };
    let ledger = Arc::new(FileLedger::new(places.ledger(), clock.clone(), by));
    let documents = Arc::new(FileDocuments::new(places.documents()));
    let book = Book::with(places, Door::Library, ledger.clone(), documents, clock);
    (ledger, book)
}

/// What two attempts at that time come to, one after the other, and how often they acted. The
/// ledger is whole afterwards and tells of an unfinished append.
fn attempts(home: &Home, now: Stamp, unfinished: bool) -> (Vec<String>, u32) {
    let (ledger, book) = opened(home, now);
    let request = Request::new("report", "1", "closure").unwrap();
    let calls = Cell::new(0);
    let attempt = |_| {
        let report = granted::discharge(&book, &request, |_, act| {
            calls.set(calls.get() + 1);
            act.result(true, None);
            Verdict::Done
        });
        format!("{}: {}", report.outcome, report.reason)
    };
    let said = [1, 2].map(attempt).to_vec();
    let found = verify(&*ledger, &mut |_| {}).unwrap();
    assert_eq!((found.fault, found.unfinished), (None, None));
    let mut torn = 0;
    for seq in 1..=found.rows {
        torn += usize::from(matches!(ledger.row(seq).unwrap().unwrap().event, Event::Torn(_)));
    }
    assert_eq!(torn, usize::from(unfinished));
    (said, calls.get())
}

#[test]
fn in_the_last_append_of_a_discharge() {
    let scene = scene(5, 2);
    at_each(scene.last..=scene.ledger.len(), |at| {
        let home = scene.cut(at);
        let whole = at == scene.ledger.len();
        let unfinished = at > scene.last && !whole;
        // While it may still run elsewhere, it is held; later it is spent. It never acts again.
        let early = if whole { "refused: consumed" } else { "refused: claim_lost" };
        assert_eq!(attempts(&home, scene.late, unfinished), (vec![early.into(); 2], 0), "{at}");
        let after = scene.late.plus(Duration::from_micros(1));
        let spent = vec!["refused: consumed".to_owned(); 2];
        assert_eq!(attempts(&home, after, unfinished), (spent, 0), "{at}");
    });
}

#[test]
fn in_the_last_append_of_a_discharge_by_processes() {
    let scene = scene(5, 2);
    for at in (scene.last..scene.ledger.len()).step_by(61) {
        let home = scene.cut(at);
        assert_eq!(home.status("1"), "consumed", "{at}");
        assert_eq!(std::fs::read(home.ledger()).unwrap().len(), at);
        let again = home.discharge("1", "echo x >> effects", &[]);
        assert_eq!(said(&again), "refused: claim_lost", "{at}");
        assert_eq!(lines(&home.dir().join("effects")), 0);
        home.verify();
    }
}

#[test]
fn in_the_claim() {
    let scene = scene(3, 1);
    at_each(scene.last..=scene.ledger.len(), |at| {
        let home = scene.cut(at);
        let whole = at == scene.ledger.len();
        let unfinished = at > scene.last && !whole;
        let after = scene.late.plus(Duration::from_micros(1));
        let (first, acted) =
            if whole { ("refused: consumed", 0) } else { ("discharged: confirmed", 1) };
        let said = vec![first.to_owned(), "refused: consumed".to_owned()];
        assert_eq!(attempts(&home, after, unfinished), (said, acted), "{at}");
    });
}

#[test]
fn in_a_mint() {
    let scene = scene(2, 1);
    at_each(scene.last..=scene.ledger.len(), |at| {
        let home = scene.cut(at);
        let whole = at == scene.ledger.len();
        let unfinished = at > scene.last && !whole;
        let (said, acted) = match whole {
            true => (["discharged: confirmed", "refused: consumed"], 1),
            false => (["refused: none"; 2], 0),
        };
        let said = said.map(String::from).to_vec();
        assert_eq!(attempts(&home, scene.late, unfinished), (said, acted), "{at}");
    });
}

#[test]
fn in_a_mint_by_processes() {
    let scene = scene(2, 1);
    for at in (0..scene.ledger.len()).step_by(47) {
        let home = scene.cut(at);
        if at < scene.last {
            // The book is opened, durably, before the first document is made.
            std::fs::remove_dir_all(home.root().join("grants")).unwrap();
        }
        assert_eq!(home.status("1"), "none", "{at}");
        home.mint("1", "");
        let report = home.discharge("1", "echo x >> effects", &[]);
        assert_eq!(said(&report), "discharged: confirmed", "{at}");
        assert_eq!(lines(&home.dir().join("effects")), 1);
        home.verify();
    }
}
