//! What nobody can do without: the appends, the syncs and the processes themselves.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use granted_core::digest::Digest;

/// A file to which the bytes of a discharge are appended.
pub struct Base {
    file: File,
    intent: Vec<u8>,
    outcome: Vec<u8>,
}

impl Base {
    /// Appends the bytes of the last discharge in this ledger, to a file beside it.
    pub fn beside(ledger: &Path) -> Base {
        let text = std::fs::read_to_string(ledger).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let [.., intent, result, outcome] = lines[..] else { panic!("no discharge in {text}") };
        assert!(intent.contains("decision.intent") && outcome.contains("decision.outcome"));
        let path = ledger.with_file_name("base");
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path).unwrap();
        let outcome = format!("{result}{outcome}").into_bytes();
        Base { file, intent: intent.into(), outcome }
    }

    /// Two synced appends; between them `/bin/true` is hashed and run with its output captured.
    pub fn act(&mut self) {
        self.append(true);
        std::hint::black_box(Digest::of(&std::fs::read("/bin/true").unwrap()));
        let run = Command::new("/bin/true").stdin(Stdio::null()).output().unwrap();
        assert!(run.status.success());
        self.append(false);
    }

    /// Two synced appends; between them `/bin/sh -c true` and `/bin/true` are run.
    pub fn process(&mut self) {
        self.append(true);
        assert!(Command::new("/bin/sh").args(["-c", "true"]).status().unwrap().success());
        spawn_true();
        self.append(false);
    }

    fn append(&mut self, first: bool) {
        let bytes = if first { &self.intent } else { &self.outcome };
        self.file.write_all(bytes).unwrap();
        self.file.sync_data().unwrap();
    }
}

/// Runs `/bin/true`.
pub fn spawn_true() {
    assert!(Command::new("/bin/true").status().unwrap().success());
}
