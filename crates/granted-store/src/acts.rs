//! Lock files by which a process shows that it still acts.
//!
//! A process that acts holds one locked file from before its first act. Its name stands in every
//! row that starts an act, so that whoever reads such a row can see whether the process lives.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use granted_core::decision::settle::ActState;

use crate::custody::{Folder, Kept};
use crate::entropy;
use crate::open::{self, Identity, OpenError};

/// The lock files of one ledger, and this process's own.
///
/// When it is dropped, its own file goes, unless [`Acts::keep`] was called.
#[derive(Debug)]
pub struct Acts {
    folder: Folder,
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    held: Option<(Box<str>, File)>,
    keep: bool,
}

impl Acts {
    /// The lock files of the ledger in this folder. Makes nothing yet.
    pub fn beside(ledger: &Folder) -> Acts {
        Acts { folder: ledger.join("acts"), own: Mutex::default() }
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of this process's lock file, which is made and locked the first time.
    ///
    /// After an error no act may begin, and there is no file.
    pub fn begin(&self) -> io::Result<Box<str>> {
        let mut own = self.own();
        let folder = self.folder.make().and_then(Kept::from_here).map_err(io::Error::other)?;
        if let Some((name, file)) = &own.held {
            // Somebody may have taken the file away; then rows that name it would say nothing.
            if Identity::at(&folder.handle, &entry(name))? == Some(Identity::of(file)?.0) {
                return Ok(name.clone());
            }
        }
        loop {
            let name: Box<str> = entropy::hex::<16>()?.into();
            let file = folder.file(entry(&name), open::create_at).map_err(io::Error::other)?.handle;
            // No row names it yet. The lock is needed only while this process and this boot last,
            // so nothing is synced.
            if let Err(e) = file.lock() {
                open::remove_at(&folder.handle, &entry(&name));
                return Err(e);
            }
            // A sweep may have taken the file away before it was locked.
            if Identity::at(&folder.handle, &entry(&name))? == Some(Identity::of(&file)?.0) {
                own.held = Some((name.clone(), file));
                return Ok(name);
            }
        }
    }

    /// What the lock file with this name says.
    ///
    /// An error means that nothing is known of the act; it is to be taken for running.
    pub fn state(&self, name: &str) -> io::Result<ActState> {
        if !is_name(name) {
            // No process ever had such a file, and it must not lead elsewhere.
            return Ok(ActState::Absent);
        }
        if self.own().held.as_ref().is_some_and(|(own, _)| **own == *name) {
            return Ok(ActState::Running);
        }
        let folder = self.folder.open().and_then(Kept::from_here);
        match folder.and_then(|folder| folder.file(entry(name), open::read_at)) {
            Ok(file) => {
                free(&file.handle).map(|free| if free { ActState::Free } else { ActState::Running })
            }
            Err(OpenError::Missing(_)) => Ok(ActState::Absent),
            Err(e) => Err(io::Error::other(e)),
        }
    }

    /// Takes the lock file of a process that died, so that of all who see to what it left only one does;
    /// `None` if it is held. One that is gone is made anew; a sweep takes it away.
    pub fn take(&self, name: &str) -> io::Result<Option<Taken>> {
        if !is_name(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let folder = self.folder.make().and_then(Kept::from_here).map_err(io::Error::other)?;
        let file = match folder.file(entry(name), open::read_at) {
            Err(OpenError::Missing(_)) => folder.file(entry(name), open::create_at),
            found => found,
        };
        let file = file.map_err(io::Error::other)?.handle;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(e)) => return Err(e),
        }
        // A sweep may have taken the file away before it was locked.
        let is_there = Identity::at(&folder.handle, &entry(name))? == Some(Identity::of(&file)?.0);
        Ok(is_there.then_some(Taken { file }))
    }

    /// Lets this process's file stay when it ends: an act that names it has no durable outcome,
    /// and the free file will show that it was interrupted.
    pub fn keep(&self) {
        self.own().keep = true;
    }

    /// The files whose processes have ended. What such a process appended is in the ledger by now.
    pub fn left(&self) -> Vec<String> {
        let folder = self.folder.open().map_err(io::Error::other);
        let names = folder.and_then(|folder| open::names(folder.handle)).unwrap_or_default();
        let names =
            names.into_iter().filter_map(|file| Some(file.strip_suffix(".lock")?.to_owned()));
        names.filter(|name| matches!(self.state(name), Ok(ActState::Free))).collect()
    }

    /// Removes those of the files that were left which `needed` does not claim: no unsettled act names
    /// them. What is needed must be read from the ledger after the files were found left, or an act
    /// that is cut off in between loses its file.
    pub fn sweep(&self, left: &[String], needed: &mut dyn FnMut(&str) -> bool) {
        let Ok(folder) = self.folder.open() else { return };
        for name in left.iter().filter(|name| !needed(name)) {
            // Under its lock, so that a process which has just made the file finds it gone.
            if let Ok(file) = folder.file(entry(name), open::read_at)
                && file.handle.try_lock().is_ok()
            {
                open::remove_at(&folder.handle, &entry(name));
                let _ = file.handle.unlock();
            }
        }
    }
}

impl Drop for Acts {
    fn drop(&mut self) {
        let own = self.own();
        if let Some((name, file)) = &own.held {
            if !own.keep
                && let Ok(folder) = self.folder.open()
            {
                open::remove_at(folder.handle, &entry(name));
            }
            // Explicitly: a child between fork and exec holds the descriptor too.
            let _ = file.unlock();
        }
    }
}

/// The lock file of a process that died, held by whoever sees to what it left: to others its act runs.
#[derive(Debug)]
pub struct Taken {
    file: File,
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Explicitly: a child between fork and exec holds the descriptor too.
        let _ = self.file.unlock();
    }
}

/// The name that the file has in its folder.
fn entry(name: &str) -> OsString {
    format!("{name}.lock").into()
}

/// Whether nobody holds the lock. Tried as a shared one, so that two who look at once do not take
/// each other for the holder.
fn free(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

fn is_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_who_runs_and_who_was_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let acts = || Acts::beside(&Folder::new(dir.path()));
        let (ours, theirs) = (acts(), acts());
        assert!(!dir.path().join("acts").exists());
        let name = ours.begin().unwrap();
        assert_eq!(ours.begin().unwrap(), name);
        assert_eq!(ours.state(&name).unwrap(), ActState::Running);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Running);
        theirs.sweep(&theirs.left(), &mut |_| false);
        drop(ours);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Absent);

        let ours = acts();
        let name = ours.begin().unwrap();
        ours.keep();
        drop(ours);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Free);
        theirs.sweep(&theirs.left(), &mut |needed| needed == &*name);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Free);
        theirs.sweep(&theirs.left(), &mut |_| false);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Absent);
    }

    /// It had not ended when the files were looked at, so a claim of its may not have been read.
    #[test]
    fn one_that_is_cut_off_during_a_sweep_keeps_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let acts = || Acts::beside(&Folder::new(dir.path()));
        let (ours, theirs) = (acts(), acts());
        let name = ours.begin().unwrap();
        let left = theirs.left();
        ours.keep();
        drop(ours);
        theirs.sweep(&left, &mut |_| false);
        assert_eq!(theirs.state(&name).unwrap(), ActState::Free);
    }

    #[test]
    fn names_lead_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let acts = Acts::beside(&Folder::new(dir.path()));
        for name in ["", "..", "../ledger", &"A".repeat(32), &"0".repeat(31)] {
            assert_eq!(acts.state(name).unwrap(), ActState::Absent);
        }
        let name = "0".repeat(32);
        std::fs::create_dir_all(dir.path().join(format!("acts/{name}.lock"))).unwrap();
        assert!(acts.state(&name).is_err());
    }

    #[test]
    fn a_folder_that_others_can_write_says_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let acts = || Acts::beside(&Folder::new(dir.path()));
        let ours = acts();
        let name = ours.begin().unwrap();
        ours.keep();
        drop(ours);
        let folder = dir.path().join("acts");
        let set = |mode| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o770);
        assert!(acts().state(&name).is_err());
        assert!(acts().begin().is_err());
        assert_eq!(acts().left(), Vec::<String>::new());
        set(0o700);
        assert_eq!(acts().state(&name).unwrap(), ActState::Free);
    }

    #[test]
    fn only_one_sees_to_what_a_process_left() {
        let dir = tempfile::tempdir().unwrap();
        let acts = || Acts::beside(&Folder::new(dir.path()));
        let (ours, theirs) = (acts(), acts());
        let name = ours.begin().unwrap();
        assert!(theirs.take(&name).unwrap().is_none());
        ours.keep();
        drop(ours);
        let taken = theirs.take(&name).unwrap().unwrap();
        assert!(acts().take(&name).unwrap().is_none());
        assert_eq!(acts().state(&name).unwrap(), ActState::Running);
        drop(taken);
        assert_eq!(acts().state(&name).unwrap(), ActState::Free);
        // One that is gone is made anew.
        std::fs::remove_dir_all(dir.path().join("acts")).unwrap();
        let taken = theirs.take(&name).unwrap().unwrap();
        assert_eq!(acts().state(&name).unwrap(), ActState::Running);
        drop(taken);
        assert!(theirs.take("../ledger").is_err());
    }

    #[test]
    fn a_file_that_was_taken_away_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let acts = Acts::beside(&Folder::new(dir.path()));
        let name = acts.begin().unwrap();
        std::fs::remove_dir_all(dir.path().join("acts")).unwrap();
        assert_ne!(acts.begin().unwrap(), name);
    }
}
