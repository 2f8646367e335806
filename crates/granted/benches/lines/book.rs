//! Books: small ones that the program mints, and large ones written straight into their files.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use granted::{Grant, Home, Reason};
use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::event::Minted;
use granted_core::ledger::{Draft, Event, Line, Subject};
use granted_core::store::{Documents as _, Ledger as _};
use granted_core::time::{Clock, Stamp};
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::FixedClock;
use granted_testkit::story::Story;
use serde_json::Value;

/// How many of a large book's grants have a document, and may be asked for.
pub const ASKED: usize = 100;

/// The wall clock.
pub struct Wall;

impl Clock for Wall {
    fn now(&self) -> Stamp {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Stamp::from_micros(now.as_micros().try_into().unwrap())
    }
}

/// The id of the object with this number.
pub fn id(number: usize) -> String {
    format!("{number:07}")
}

/// The number of the grant that is asked for in this turn, of so many in the book.
pub fn asked(turn: usize, grants: usize) -> usize {
    turn % ASKED.min(grants) * step(grants)
}

/// Every such grant has a document.
fn step(grants: usize) -> usize {
    // Even: those with odd numbers are spent.
    (grants / ASKED).next_multiple_of(2).max(1)
}

/// Has the program mint grants of `report/0000000` and on, in one append.
pub fn mint(program: &str, root: &Path, grants: usize) -> Home {
    let sheet = root.with_extension("sheet");
    let line =
        |number| format!("{{\"object\":{{\"id\":\"{}\",\"type\":\"report\"}}}}\n", id(number));
    std::fs::write(&sheet, (0..grants).map(line).collect::<String>()).unwrap();
    let mut mint = Command::new(program);
    mint.env("GRANTED_HOME", root).args(["mint", "--by", "bench", "--for", "24h", "--sheet"]);
    let run = mint.arg(&sheet).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(run.success(), "{mint:?}");
    Home::at(root)
}

/// Writes a book of so many grants, by the real writers of rows, documents and index: every other
/// grant is spent, the others are live, and every so many of those has its document.
pub fn write(root: &Path, grants: usize) -> Value {
    let home = Home::at(root);
    DirBuilder::new().mode(0o700).create(root).unwrap();
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(home.ledger()).unwrap();
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let mut put = |line: &Line| {
        file.write_all(&line.bytes).unwrap();
        file.write_all(b"\n").unwrap();
    };
    let (mut story, opened) = Story::open();
    put(&opened);
    let not_after = Wall.now().plus(Duration::from_secs(30 * 86_400));
    let mut documents = Vec::new();
    for number in 0..grants {
        let grant = Grant { not_after, ..story.grant("report", &id(number)) };
        put(&story.mint(&grant));
        if number % step(grants) == 0 {
            let name = DocumentName::new(&grant.object, grant.id);
            documents.push((name, render(&grant).into_bytes()));
        } else if number % 2 == 1 {
            let (attempt, intent) = story.claim(&grant);
            put(&intent);
            let end = Story::ended(&grant, attempt, Reason::Confirmed);
            story.scribe.append(vec![Story::exited(attempt, 0), end]).iter().for_each(&mut put);
        }
    }
    file.into_inner().unwrap().sync_all().unwrap();
    FileDocuments::new(home.documents()).create(&documents).unwrap();
    index(&home, &mut story);
    Value::Null
}

/// Has the ledger's own store write the index: an append covers 64 MiB more of it.
fn index(home: &Home, story: &mut Story) {
    let clock = Arc::new(FixedClock::new(story.scribe.now));
    let ledger = FileLedger::new(home.ledger(), clock, story.scribe.by.clone());
    let bytes = std::fs::metadata(home.ledger()).unwrap().len();
    // A small ledger has no index.
    let appends = if bytes > 1 << 20 { bytes.div_ceil(63 << 20) } else { 0 };
    for number in 0..appends {
        let grant = story.grant("index", &id(number.try_into().unwrap()));
        let refs = vec![(Subject::grant(grant.id), 0), (Subject::object(&grant.object), 0)];
        let event = Event::Minted(Minted { grant });
        let by = story.scribe.by.clone();
        ledger.append(&[Draft::new(event, by, refs)]).unwrap();
    }
    ledger.tidy();
}
