//! Change sets through the program: the person's verbs, and processes that are killed.

mod kills;
mod person;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::event::Opened;
use granted_core::ledger::{By, Door, Draft, Event, Subject};
use granted_core::store::{AppendError, Ledger as _};
use granted_core::text::Note;
use granted_core::time::Stamp;
use granted_core::write::brief::{Brief, Tool};
use granted_core::write::decide::{self, Asker, Facts, Filing, Proposed};
use granted_core::write::request::Day;
use granted_core::write::{After, Before, FileChange, Project};
use granted_store::custody::Folder;
use granted_store::{Blobs, FileLedger, entropy};
use granted_testkit::FixedClock;

use crate::home::Home;

const BRIEF: &str = "\
[agents.producer]
tools = ['write_file']
write_scopes = ['src/']
";

/// A home, and a project in it.
struct Ground {
    home: Home,
}

impl Ground {
    fn new() -> Ground {
        let home = Home::new();
        // So that there is a book.
        home.mint("1", "");
        let ground = Ground { home };
        ground.put("granted.toml", BRIEF);
        ground
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.dir().canonicalize().unwrap().join("project").join(path)
    }

    fn put(&self, path: &str, text: &str) {
        self.home.write(&format!("project/{path}"), text);
    }

    /// What a file holds; `-` if it is not there.
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or("-".into())
    }

    /// Stages changes of the producer, as its server does: the id and the digest. Nothing is checked.
    fn stage(&self, changes: &[(&str, Option<&str>)]) -> (String, String) {
        self.stage_at(now(), changes)
    }

    fn stage_at(&self, now: Stamp, changes: &[(&str, Option<&str>)]) -> (String, String) {
        let by = By { agent: None, door: Door::Mcp, host: "box".into(), uid: 0 };
        let clock = Arc::new(FixedClock::new(now));
        let ledger = FileLedger::new(self.home.ledger(), clock, by.clone());
        if ledger.head().unwrap().is_none() {
            let book = Id::new(now, 7);
            let opened = Draft::new(Event::Opened(Opened { book }), by.clone(), Vec::new());
            ledger.append(&[opened]).unwrap();
        }
        let blobs = Blobs::beside(&Folder::new(self.home.root()));
        let project = Project::new(self.at("").to_str().unwrap().trim_end_matches('/')).unwrap();
        let brief: Brief = toml::from_str(BRIEF).unwrap();
        let agent = "producer".parse().unwrap();
        let whose = Asker::agent(&brief, &agent).unwrap();
        let change = |(path, to): &(&str, Option<&str>)| {
            let after = to.map(|text| After {
                bytes: text.len() as u64,
                mode: None,
                sha256: blobs.put(text.as_bytes()).unwrap(),
            });
            let before = fs::read(self.at(path)).ok().map(|bytes| Before {
                bytes: bytes.len() as u64,
                mode: mode(&self.at(path)),
                sha256: Digest::of(&bytes),
            });
            FileChange { after, before, path: path.parse().unwrap() }
        };
        let changes: Vec<FileChange> = changes.iter().map(change).collect();
        let filing = Filing {
            tool: Some(Tool::WriteFile),
            changes: Vec::<Proposed>::new(),
            rationale: "because\u{1b}[31m of \u{202e}it".parse::<Note>().unwrap(),
            gates: Vec::new(),
            key: None,
            reverts: None,
        };
        let id = Id::new(now, u128::from_ne_bytes(entropy::random().unwrap()));
        for _ in 0..3 {
            let rows = ledger.rows(&project.day(&agent, now)).unwrap();
            let today = Day { last: rows.last().map_or(0, |row| row.seq), ..Day::default() };
            let facts = Facts {
                project: &project,
                brief_sha256: Digest::of(BRIEF.as_bytes()),
                today: &today,
                waiting_since_yesterday: 0,
                dispatch: None,
                head: None,
                now,
            };
            let request = decide::request(&whose, &filing, changes.clone(), Vec::new(), &facts);
            let digest = request.digest.to_string();
            match ledger.append(&[decide::stage(id, request, None, &facts, &by)]) {
                Ok(_) => return (id.to_string(), digest),
                Err(AppendError::Conflict) => {}
                Err(e) => panic!("{e}"),
            }
        }
        panic!("it conflicts for ever")
    }

    /// Where a request stands.
    fn status(&self, id: &str) -> String {
        let shown = self.home.say(&format!("writes show {id} --json")).ok().json();
        shown["status"].as_str().unwrap().to_owned()
    }

    fn approve(&self, (id, digest): &(String, String)) -> crate::home::Run {
        self.home.say(&format!("writes approve {id} --digest {digest} --by me"))
    }
}

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o7777
}

/// The time, by the system's clock.
fn now() -> Stamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Stamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

/// The rows of a request.
fn rows_of(ground: &Ground, id: &str) -> Vec<String> {
    let owner = Subject::write(id.parse().unwrap());
    let rows = ground.home.rows().into_iter().filter(|row| row["refs"][0][0] == owner.as_str());
    rows.map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
}
