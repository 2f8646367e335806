//! A process that kills itself at each point of a discharge, where no other could aim as well.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use granted::{Book, Door, Home as Places, Request, Verdict};
use granted_core::decision::document::{Document, DocumentName};
use granted_core::digest::Digest;
use granted_core::ledger::{By, Draft, Head, Row, Subject};
use granted_core::store::{
    AppendError, Appended, Condition, Documents, Ledger, Moved, RawLine, ReadError, Unfinished,
};
use granted_core::time::{Clock, Stamp};
use granted_store::{FileDocuments, FileLedger};

use crate::crowd::{lines, reasons, said};
use crate::home::Home;

fn effects(home: &Home) -> usize {
    lines(&home.dir().join("effects"))
}

/// Where a process dies.
const POINTS: [&str; 7] = [
    "before append 1",
    "after append 1",
    "before the effect",
    "after the effect",
    "before append 2",
    "after append 2",
    "at refresh",
];

/// The point at which this process is to die, and the home in which.
const DIES: &str = "GRANTED_TEST_DIES_AT";
const HOME: &str = "GRANTED_TEST_HOME";

/// Ends this process as `kill -9` does, if it is to die at this point.
fn reach(point: &str) {
    if std::env::var(DIES).is_ok_and(|dies| dies == point) {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    }
}

/// Discharges `report/1` in a process of its own, which dies at this point.
fn dies(home: &Home, point: &str) {
    use std::os::unix::process::ExitStatusExt as _;
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["mortal::mortal", "--exact", "--quiet"])
        .env(DIES, point)
        .env(HOME, home.dir())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "{point}");
}

/// Runs in the process that is to die; does nothing otherwise.
#[test]
fn mortal() {
    let Some(home) = std::env::var_os(HOME).map(PathBuf::from) else { return };
    let places = Places::at(home.join(".granted"));
    let clock = Arc::new(Now);
    let by = By { agent: None, door: Door::Library, host: "box".into(), uid: 0 };
    let ledger = Mortal {
        inner: FileLedger::new(places.ledger(), clock.clone(), by),
        appends: AtomicUsize::new(0),
    };
    let documents = MortalDocuments(FileDocuments::new(places.documents()));
    let (ledger, documents) = (Arc::new(ledger), Arc::new(documents));
    let book = Book::with(places, Door::Library, ledger, documents, clock);
    let request = Request::new("report", "1", "closure").unwrap();
    granted::discharge(&book, &request, |_, act| {
        reach("before the effect");
        std::fs::write(home.join("effects"), "x\n").unwrap();
        reach("after the effect");
        act.result(true, None);
        Verdict::Done
    });
}

struct Now;

impl Clock for Now {
    fn now(&self) -> Stamp {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        Stamp::from_micros(now.as_micros().try_into().unwrap())
    }
}

/// A ledger whose process dies around an append.
struct Mortal {
    inner: FileLedger,
    appends: AtomicUsize,
}

impl Ledger for Mortal {
    fn head(&self) -> Result<Option<Head>, ReadError> {
        self.inner.head()
    }
    fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError> {
        self.inner.rows_after(subject, seq)
    }
    fn row(&self, seq: u64) -> Result<Option<Row>, ReadError> {
        self.inner.row(seq)
    }
    fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> std::ops::ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError> {
        self.inner.scan(from, visit)
    }
    fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError> {
        let count = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        reach(&format!("before append {count}"));
        let appended = self.inner.append(drafts);
        reach(&format!("after append {count}"));
        appended
    }
    fn condition(&self) -> Result<Condition, ReadError> {
        self.inner.condition()
    }
    fn accept(
        &self,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError> {
        self.inner.accept(drafts)
    }
    fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError> {
        self.inner.holds(appended)
    }
    fn digest_at(&self, offset: u64) -> Result<Option<Digest>, ReadError> {
        self.inner.digest_at(offset)
    }
}

/// Documents whose process dies when one is to be brought up to its grant.
struct MortalDocuments(FileDocuments);

impl Documents for MortalDocuments {
    fn read(&self, name: &DocumentName) -> Document {
        self.0.read(name)
    }
    fn create(&self, documents: &[(DocumentName, Vec<u8>)]) -> Result<(), String> {
        self.0.create(documents)
    }
    fn refresh(&self, name: &DocumentName, text: &[u8]) -> Result<(), String> {
        reach("at refresh");
        self.0.refresh(name, text)
    }
    fn remove(&self, names: &[DocumentName]) {
        self.0.remove(names);
    }
    fn list(&self, visit: &mut dyn FnMut(&str)) -> Result<(), String> {
        self.0.list(visit)
    }
    fn path(&self, name: &DocumentName) -> String {
        self.0.path(name)
    }
}

#[test]
fn killed_at_each_point_it_never_acts_twice() {
    for point in POINTS {
        let home = Home::new();
        home.mint("1", "");
        dies(&home, point);
        let (did, next, found): (usize, &str, &[&str]) = match point {
            "before append 1" => (0, "discharged: confirmed", &["discharged: confirmed"]),
            "after append 1" | "before the effect" => {
                (0, "refused: consumed", &["uncertain: interrupted", "refused: consumed"])
            }
            "after the effect" | "before append 2" => {
                (1, "refused: consumed", &["uncertain: interrupted", "refused: consumed"])
            }
            // The outcome is durable; only the document lags.
            _ => (1, "refused: consumed", &["discharged: confirmed", "refused: consumed"]),
        };
        assert_eq!(effects(&home), did, "{point}");
        let document = || std::fs::read_to_string(home.document("1")).unwrap();
        assert!(document().contains("\"consumed\": false"), "{point}");
        let again = home.discharge("1", "echo x >> effects", &[]);
        assert_eq!(said(&again), next, "{point}");
        assert_eq!(reasons(&home), found, "{point}");
        assert_eq!(effects(&home), did.max(usize::from(point == "before append 1")), "{point}");
        assert!(document().contains("\"consumed\": true"), "{point}");
        assert_eq!(home.status("1"), "consumed");
        home.verify();
    }
}
