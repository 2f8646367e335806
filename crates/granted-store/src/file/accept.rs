//! Accepting a damaged or rolled back ledger, on a person's word.

use std::fs::File;
use std::io;
use std::sync::Arc;

use granted_core::ledger::{Draft, Subject};
use granted_core::store::{AppendError, Appended, Moved, NotWritten, ReadError};

use super::Site;
use super::aside::move_aside;
use super::check::Rest;
use super::lines::{read_some, to_u64};
use super::writer::{Session, Writer, put_lines};

fn unwritable(why: String) -> AppendError {
    NotWritten::Unwritable(why).into()
}

impl Writer {
    /// See [`granted_core::store::Ledger::accept`].
    pub(crate) fn accept(
        &mut self,
        site: &Site,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError> {
        let mut session = self.begin(site)?;
        if let Some(breach) = session.locked.breach.take() {
            // What would be accepted may be another's.
            return Err(NotWritten::Custody(breach).into());
        }
        if session.rest == Rest::Torn {
            session = self.repaired(site, session)?;
        }
        let file = Arc::clone(&session.locked.file);
        let (start, size) = (session.good, session.locked.size);
        let damaged = session.rest != Rest::Nothing;
        let (torn, bytes) = match damaged {
            false => (None, Vec::new()),
            true => {
                // The ledger still holds what is copied here; a crash leaves one more copy.
                let torn = move_aside(site, &file, start.length, size).map_err(unwritable)?;
                let bytes = read_range(&file, start.length, size);
                (Some(torn), bytes.map_err(|e| unwritable(site.shown(&e)))?)
            }
        };
        let lines = {
            let last = |subject: &Subject| {
                self.last(&session, subject).map_err(|e| ReadError::Unreadable(site.shown(&e)))
            };
            let lost = |subject: &Subject| session.view.lost(&file, start.length, subject.as_str());
            let moved = Moved {
                torn,
                bytes: &bytes,
                rollback: session.view.rollback,
                head: session.good.head,
                last: &last,
                lost: &lost,
            };
            let drafts = drafts(&moved).map_err(|e| unwritable(e.to_string()))?;
            self.seal(site, &session, &drafts)?
        };
        let mut new = Vec::new();
        put_lines(&mut new, &lines);
        let appended = Appended { position: start.length, lines };
        let Some(last) = appended.lines.last() else {
            // There is no row to say that anything was accepted, so nothing is.
            return Ok(appended);
        };
        match damaged {
            false => self.write(site, &file, start, &new)?,
            true => self.overwrite(site, &session, &bytes, &new)?,
        }
        session.good.length = start.length + to_u64(new.len());
        session.good.head = Some(last.head());
        site.index.drop_unfit(&file, session.good.length);
        self.knows(&session);
        Ok(appended)
    }

    /// Puts rows in the place of damaged bytes, so that a crash at any point leaves either damage
    /// or the rows.
    fn overwrite(
        &mut self,
        site: &Site,
        session: &Session,
        damage: &[u8],
        rows: &[u8],
    ) -> Result<(), AppendError> {
        let (file, disk) = (&*session.locked.file, &site.disk);
        let (start, size) = (session.good.length, session.locked.size);
        let end = start + to_u64(rows.len());
        // First the damage is made longer than the rows, and to end with a whole line that is no
        // row. So while the rows are half there, what follows them is damage, never a torn line
        // that the next append would cut off.
        let mut padding = vec![b'#'; rows.len()];
        padding.push(b'\n');
        let written = disk
            .write(file, &padding, size)
            .and_then(|()| disk.sync(file))
            .and_then(|()| disk.write(file, rows, start))
            .and_then(|()| disk.sync(file));
        if let Err(e) = written {
            // Some of the rows may be there. The copy aside is no help to a ledger that lost its
            // damage, so the damage is put back.
            let undone = disk
                .write(file, damage, start)
                .and_then(|()| disk.cut(file, size))
                .and_then(|()| disk.sync(file));
            return Err(match undone {
                Ok(()) => unwritable(site.shown(&e)),
                Err(undo) => self.break_off(site, &e, &undo),
            });
        }
        // The rows are durable; until the cut is too, the ledger is damaged behind them.
        match disk.cut(file, end).and_then(|()| disk.sync(file)) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.break_off(site, &e, &io::Error::other("the rows are written"))),
        }
    }
}

fn read_range(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    match read_some(file, &mut bytes, from)? == length {
        true => Ok(bytes),
        false => Err(io::Error::other("it became shorter while it was read")),
    }
}
