//! A store in memory: the contract in its simplest form.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use granted_core::decision::document::{Document, DocumentName};
use granted_core::digest::Digest;
use granted_core::ledger::{Draft, Head, Line, Row, SealError, Subject, seal};
use granted_core::store::{
    AppendError, Appended, Condition, Documents, Ledger, Moved, NotWritten, RawLine, ReadError,
    Unfinished,
};
use granted_core::time::Clock;

/// A ledger that is gone with the process.
pub struct MemoryLedger {
    clock: Arc<dyn Clock>,
    lines: Mutex<Vec<(Line, Row)>>,
}

impl MemoryLedger {
    /// An empty one.
    pub fn new(clock: Arc<dyn Clock>) -> MemoryLedger {
        MemoryLedger { clock, lines: Mutex::new(Vec::new()) }
    }

    fn lines(&self) -> MutexGuard<'_, Vec<(Line, Row)>> {
        self.lines.lock().unwrap()
    }
}

fn last(lines: &[(Line, Row)], subject: &Subject) -> u64 {
    let moving = lines.iter().rev().find(|(_, row)| row.moves(subject).is_some());
    moving.map_or(0, |(line, _)| line.seq)
}

impl Ledger for MemoryLedger {
    fn head(&self) -> Result<Option<Head>, ReadError> {
        Ok(self.lines().last().map(|(line, _)| line.head()))
    }

    fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError> {
        let lines = self.lines();
        let rows = lines.iter().map(|(_, row)| row).filter(|row| row.seq > seq);
        Ok(rows.filter(|row| row.moves(subject).is_some()).cloned().collect())
    }

    fn row(&self, seq: u64) -> Result<Option<Row>, ReadError> {
        let lines = self.lines();
        Ok(lines.iter().find(|(line, _)| line.seq == seq).map(|(_, row)| row.clone()))
    }

    fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError> {
        let lines = self.lines().clone();
        let mut offset = 0;
        for (line, _) in &lines {
            let raw = RawLine { seq: line.seq, offset, bytes: &line.bytes };
            if line.seq >= from && visit(raw).is_break() {
                break;
            }
            offset += line.bytes.len() as u64 + 1;
        }
        Ok(None)
    }

    fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError> {
        let mut lines = self.lines();
        let head = lines.last().map(|(line, _)| line.head());
        let last = |subject: &Subject| Ok::<_, ()>(last(&lines, subject));
        let new = seal(head, drafts, self.clock.now(), last).map_err(|e| match e {
            SealError::TooLong => NotWritten::TooLong.into(),
            SealError::Conflict | SealError::Lookup(()) => AppendError::Conflict,
        })?;
        let position = lines.len() as u64;
        lines.extend(new.iter().map(|line| (line.clone(), Row::parse(&line.bytes).unwrap())));
        Ok(Appended { lines: new, position })
    }

    fn condition(&self) -> Result<Condition, ReadError> {
        Ok(Condition::default())
    }

    fn accept(
        &self,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError> {
        let head = self.head().unwrap();
        let last = |subject: &Subject| Ok(last(&self.lines(), subject));
        let lost = |_: &Subject| false;
        let moved =
            Moved { torn: None, bytes: &[], rollback: None, head, last: &last, lost: &lost };
        let drafts = drafts(&moved).map_err(|e| NotWritten::Unwritable(e.to_string()))?;
        self.append(&drafts)
    }

    fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError> {
        let lines = self.lines();
        Ok(appended.iter().all(|appended| {
            let from = usize::try_from(appended.position).unwrap();
            let held = lines.iter().map(|(line, _)| line).skip(from).take(appended.lines.len());
            held.eq(&appended.lines)
        }))
    }

    fn digest_at(&self, offset: u64) -> Result<Option<Digest>, ReadError> {
        let mut digest = None;
        self.scan(1, &mut |line| {
            digest = (line.offset == offset).then(|| Digest::of(line.bytes)).or(digest);
            ControlFlow::Continue(())
        })?;
        Ok(digest)
    }
}

/// Documents that are gone with the process.
#[derive(Default)]
pub struct MemoryDocuments(Mutex<BTreeMap<String, Vec<u8>>>);

impl MemoryDocuments {
    /// Puts a document there, as a person with an editor would; `None` deletes it.
    pub fn put(&self, name: &DocumentName, bytes: Option<Vec<u8>>) {
        let mut files = self.0.lock().unwrap();
        match bytes {
            Some(bytes) => files.insert(name.to_string(), bytes),
            None => files.remove(&name.to_string()),
        };
    }
}

impl Documents for MemoryDocuments {
    fn read(&self, name: &DocumentName) -> Document {
        let found = self.0.lock().unwrap().get(&name.to_string()).cloned();
        found.map_or(Document::Missing, Document::Bytes)
    }

    fn create(&self, documents: &[(DocumentName, Vec<u8>)]) -> Result<(), String> {
        let mut files = self.0.lock().unwrap();
        if let Some((name, _)) = documents.iter().find(|d| files.contains_key(&d.0.to_string())) {
            return Err(format!("`{name}` exists"));
        }
        files.extend(documents.iter().map(|(name, bytes)| (name.to_string(), bytes.clone())));
        Ok(())
    }

    fn refresh(&self, name: &DocumentName, text: &[u8]) -> Result<(), String> {
        match self.0.lock().unwrap().get_mut(&name.to_string()) {
            Some(bytes) => *bytes = text.to_vec(),
            None => return Err(format!("`{name}` is gone")),
        }
        Ok(())
    }

    fn remove(&self, names: &[DocumentName]) {
        let mut files = self.0.lock().unwrap();
        for name in names {
            files.remove(&name.to_string());
        }
    }

    fn list(&self, visit: &mut dyn FnMut(&str)) -> Result<(), String> {
        self.0.lock().unwrap().keys().for_each(|name| visit(name));
        Ok(())
    }

    fn path(&self, name: &DocumentName) -> String {
        format!("memory:{name}")
    }
}
