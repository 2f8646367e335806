//! Appending under the lock: catch up, repair, check guards, write, sync.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use granted_core::digest::Digest;
use granted_core::ledger::row::Moves;
use granted_core::ledger::{Draft, Event, Line, SealError, Subject, seal};
use granted_core::store::{AppendError, Appended, NotWritten};

use super::Site;
use super::aside::move_aside;
use super::check::{Good, Rest, check};
use super::lines::{line_before, to_u64};
use super::lock::Locked;
use super::queue::Answer;
use super::search::search;
use crate::index::View;
use crate::open::Identity;

/// What this process knows of the ledger from its last append.
#[derive(Default)]
pub(crate) struct Writer {
    file: Option<Arc<File>>,
    known: Option<(Identity, Good)>,
    recent: Recent,
    /// Why this process appends no more.
    broken: Option<String>,
}

/// The last row of each subject that was moved from some offset on.
#[derive(Default)]
struct Recent {
    from: u64,
    last: HashMap<Box<str>, u64>,
}

/// More subjects than this are forgotten as soon as the index covers them.
const RECENT: usize = 8_192;

impl Recent {
    fn start(&mut self, from: u64) {
        self.from = from;
        self.last.clear();
    }
}

/// Rows that are durable, for the index: the ledger and the length up to which they are.
pub(crate) type Synced = Option<(Arc<File>, u64)>;

/// The ledger under the lock, whole up to `good`.
pub(crate) struct Session {
    pub locked: Locked,
    pub view: Arc<View>,
    pub good: Good,
    pub rest: Rest,
}

fn unwritable(why: impl Into<String>) -> AppendError {
    NotWritten::Unwritable(why.into()).into()
}

impl Writer {
    /// Appends each of these on its own, with one write and one sync for all.
    pub(crate) fn batch(&mut self, site: &Site, batch: &[&[Draft]]) -> (Vec<Answer>, Synced) {
        let mut session = match self.begin(site).and_then(|s| self.repaired(site, s)) {
            Ok(session) => session,
            // Nothing of the batch was written: it had not been made.
            Err(e) => return (batch.iter().map(|_| Err(e.clone())).collect(), None),
        };
        let start = session.good;
        let mut buffer = Vec::new();
        let mut answers: Vec<Answer> = Vec::with_capacity(batch.len());
        for drafts in batch {
            let sealed = self.seal(site, &session, drafts);
            answers.push(sealed.map(|lines| {
                let appended = self.place(&mut session, lines);
                put_lines(&mut buffer, &appended.lines);
                appended
            }));
        }
        // After a conflict the file is read afresh: what is remembered of it may be what contradicts
        // it, where a row was changed in place.
        let conflict = answers.iter().any(|answer| matches!(answer, Err(AppendError::Conflict)));
        let known = |good| (!conflict).then_some((session.locked.identity, good));
        if buffer.is_empty() {
            self.known = known(start);
            return (answers, None);
        }
        match self.write(site, &session.locked.file, start, &buffer) {
            Ok(()) => {
                self.known = known(session.good);
                let synced = (Arc::clone(&session.locked.file), session.good.length);
                (answers, Some(synced))
            }
            Err(e) => {
                // One write for all: what is known of it holds for each that was part of it.
                let tell = |answer: Answer| answer.and(Err(e.clone()));
                (answers.into_iter().map(tell).collect(), None)
            }
        }
    }

    /// Locks and catches up with what others appended.
    pub(crate) fn begin(&mut self, site: &Site) -> Result<Session, AppendError> {
        if let Some(why) = &self.broken {
            return Err(unwritable(why.clone()));
        }
        // Nothing is written before the lock is held.
        let locked = Locked::acquire(site, &mut self.file).map_err(unwritable)?;
        self.catch_up(site, locked).map_err(|e| unwritable(site.shown(&e)))
    }

    fn catch_up(&mut self, site: &Site, locked: Locked) -> io::Result<Session> {
        let (file, size) = (&locked.file, locked.size);
        let view = site.index.view(&locked.folder, file, locked.identity, size);
        // What is known is put back at the end, so that after an error or a panic nothing is.
        let known = match self.known.take() {
            // A shorter file, or another, is read afresh, and so is one whose last row is another.
            Some((identity, good)) if identity == locked.identity && good.length <= size => {
                is_there(file, good)?.then_some(good)
            }
            _ => None,
        };
        let mut end = None;
        if let Some(good) = known {
            let recent = &mut self.recent.last;
            let mut note = |line: &[u8]| {
                // The line was just read as a row of the chain; one whose refs do not read moves
                // nothing.
                if let Ok(row) = Moves::parse(line) {
                    recent.extend(row.refs.into_iter().map(|(subject, _)| (subject, row.seq)));
                }
            };
            match check(file, good, size, &mut note)? {
                (good, Rest::Nothing) => end = Some((good, Rest::Nothing)),
                // Lines were noted that may not stay.
                _ => self.recent.start(0),
            }
        }
        let (good, rest) = match end {
            Some(end) => end,
            None => {
                let end = check(file, view.good, size, &mut |_| {})?;
                self.recent.start(end.0.length);
                end
            }
        };
        if self.recent.last.len() > RECENT && view.good.length > self.recent.from {
            self.recent.start(good.length);
        }
        if size == 0 {
            // The file may be new, and its name must be durable before any row in it is.
            rustix::fs::fsync(&locked.folder.handle)?;
        }
        Ok(Session { locked, view, good, rest })
    }

    /// Moves an unfinished last append aside; refuses a damaged ledger.
    pub(crate) fn repaired(
        &mut self,
        site: &Site,
        mut session: Session,
    ) -> Result<Session, AppendError> {
        match &session.rest {
            Rest::Nothing => return Ok(session),
            Rest::Torn => {}
            Rest::Damage { line, offset, cause } => {
                let path = site.path.display();
                return Err(unwritable(format!(
                    "`{path}` is damaged at line {line} (byte {offset}): {cause}; \
                     `granted ledger accept` moves the damage aside"
                )));
            }
        }
        let file = Arc::clone(&session.locked.file);
        let (from, size) = (session.good.length, session.locked.size);
        // Until the cut, the ledger is as it was, with one more copy of its end.
        let torn = move_aside(site, &file, from, size).map_err(unwritable)?;
        site.disk.cut(&file, from).map_err(|e| unwritable(site.shown(&e)))?;
        session.rest = Rest::Nothing;
        if session.good.head.is_none() {
            // There is no row to follow. The ledger starts over, and the copy tells of it.
            site.disk.sync(&file).map_err(|e| unwritable(site.shown(&e)))?;
            return Ok(session);
        }
        let draft = Draft::new(Event::Torn(torn), site.by.clone(), vec![]);
        let start = session.good;
        let lines = self.seal(site, &session, &[draft])?;
        let appended = self.place(&mut session, lines);
        let mut buffer = Vec::new();
        put_lines(&mut buffer, &appended.lines);
        // If this fails, the batch that waits for it was not begun.
        self.write(site, &file, start, &buffer).map_err(|e| unwritable(e.to_string()))?;
        Ok(session)
    }

    /// Checks the guards and makes the rows of one append.
    pub(crate) fn seal(
        &self,
        site: &Site,
        session: &Session,
        drafts: &[Draft],
    ) -> Result<Vec<Line>, AppendError> {
        let uses_authority = drafts.iter().any(|draft| draft.event.uses_authority());
        if let Some(rows) = session.view.rollback.filter(|_| uses_authority) {
            let path = site.path.display();
            return Err(NotWritten::RolledBack(format!(
                "`{path}` is shorter than it was, or another: its index has seen row {rows}"
            ))
            .into());
        }
        if let Some(breach) = session.locked.breach.as_ref().filter(|_| uses_authority) {
            return Err(NotWritten::Custody(breach.clone()).into());
        }
        let last = |subject: &Subject| self.last(session, subject);
        seal(session.good.head, drafts, site.clock.now(), last).map_err(|e| match e {
            SealError::Conflict => AppendError::Conflict,
            SealError::TooLong => NotWritten::TooLong.into(),
            // The guard is not known, so nothing may be written.
            SealError::Lookup(e) => unwritable(site.shown(&e)),
        })
    }

    /// The seq of the last row that moves a subject, 0 if none.
    pub(crate) fn last(&self, session: &Session, subject: &Subject) -> io::Result<u64> {
        let text = subject.as_str();
        if let Some(seq) = self.recent.last.get(text) {
            return Ok(*seq);
        }
        let moves = |line: &[u8]| {
            let row = Moves::parse(line).map_err(io::Error::other)?;
            let moved = row.refs.iter().any(|(moved, _)| **moved == *text);
            Ok::<_, io::Error>(moved.then_some(row.seq))
        };
        let file = &session.locked.file;
        let (hits, covered) = session.view.hits(text);
        let mut lines = Vec::new();
        let end = self.recent.from.min(session.good.length);
        search(file, covered, end, &subject.needle(), &mut |_, line| lines.push(line.to_vec()))?;
        for line in lines.iter().rev() {
            if let Some(seq) = moves(line)? {
                return Ok(seq);
            }
        }
        for hit in hits.iter().rev() {
            let line = View::hit_line(file, session.good.length, text, hit)?.map_err(|cause| {
                let (seq, offset) = (hit.seq, hit.offset);
                io::Error::other(format!("line {seq} (byte {offset}) is damaged: {cause}"))
            })?;
            if let Some(seq) = moves(&line)? {
                return Ok(seq);
            }
        }
        Ok(0)
    }

    /// Puts sealed rows behind the last good one, for the guards of those that follow.
    fn place(&mut self, session: &mut Session, lines: Vec<Line>) -> Appended {
        let position = session.good.length;
        for line in &lines {
            if let Ok(row) = Moves::parse(&line.bytes) {
                let refs = row.refs.into_iter().map(|(subject, _)| (subject, row.seq));
                self.recent.last.extend(refs);
            }
            session.good.length += to_u64(line.bytes.len()) + 1;
            session.good.head = Some(line.head());
        }
        Appended { lines, position }
    }

    /// Writes and syncs at the end. What fails is undone.
    pub(crate) fn write(
        &mut self,
        site: &Site,
        file: &File,
        end: Good,
        bytes: &[u8],
    ) -> Result<(), AppendError> {
        let result = site.disk.write(file, bytes, end.length).and_then(|()| site.disk.sync(file));
        let Err(e) = result else { return Ok(()) };
        self.recent.start(end.length);
        // Any part of the bytes may be in the file, and any part of those on the disk.
        match site.disk.cut(file, end.length).and_then(|()| site.disk.sync(file)) {
            // The file is durably as it was.
            Ok(()) => Err(unwritable(site.shown(&e))),
            // What a read shows now comes from memory and says nothing of the disk.
            Err(undo) => Err(self.break_off(site, &e, &undo)),
        }
    }

    /// Ends this process's appends: it is not known what the disk holds.
    pub(crate) fn break_off(
        &mut self,
        site: &Site,
        e: &io::Error,
        undo: &io::Error,
    ) -> AppendError {
        let path = site.path.display();
        self.broken = Some(format!(
            "`{path}`: an earlier write failed and could not be undone; this process appends no more"
        ));
        AppendError::Unknown(format!("`{path}`: {e}; undoing it: {undo}"))
    }

    /// Remembers where the ledger ends.
    pub(crate) fn knows(&mut self, session: &Session) {
        self.recent.start(session.good.length);
        self.known = Some((session.locked.identity, session.good));
    }
}

/// Whether the file still has the last row of this end in its place.
fn is_there(file: &File, end: Good) -> io::Result<bool> {
    let Some(head) = end.head else { return Ok(true) };
    let line = line_before(file, end.length)?;
    Ok(line.is_some_and(|(_, line)| Digest::of(&line) == head.hash))
}

/// Puts the lines, each with its LF, behind what the buffer holds.
pub(crate) fn put_lines(buffer: &mut Vec<u8>, lines: &[Line]) {
    for line in lines {
        buffer.extend_from_slice(&line.bytes);
        buffer.push(b'\n');
    }
}
