//! Writing units so that all can be taken back, and removing them.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use granted_store::open::{self, OpenError};

use super::TimerError;
use super::units::MARK;
use crate::files;

/// The most bytes of a unit that is there already.
const MAX_UNIT: u64 = 1024 * 1024;

/// What lies in the place of a unit or a drop-in.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// What granted wrote.
    Own,
    /// Something else, at this path.
    Foreign(PathBuf),
}

/// Looks what lies at a path, and whether the folder of its drop-ins is one.
pub(super) fn found(path: &Path) -> Result<Found, TimerError> {
    let folder = path.parent().filter(|folder| is_of_drop_ins(folder));
    if let Some(link) = folder.filter(|folder| folder.is_symlink()) {
        return Ok(Found::Foreign(link.to_owned()));
    }
    let file = match open::read(path) {
        Ok(file) => file,
        Err(OpenError::Missing(_)) => return Ok(Found::Nothing),
        Err(OpenError::Kind { path, .. }) => return Ok(Found::Foreign(path)),
        Err(e) => return Err(TimerError::File(e.to_string())),
    };
    let mut start = Vec::new();
    file.take(MARK.len() as u64).read_to_end(&mut start).map_err(|e| failed(path, &e))?;
    Ok(if start == MARK.as_bytes() { Found::Own } else { Found::Foreign(path.to_owned()) })
}

fn is_of_drop_ins(folder: &Path) -> bool {
    folder.extension() == Some("d".as_ref())
}

/// Files that were written, with what was there before.
#[derive(Debug, Default)]
pub(super) struct Written(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Written {
    /// Writes a file, and makes the folders above it.
    pub(super) fn write(&mut self, path: PathBuf, text: &str) -> Result<(), TimerError> {
        let before = files::read(&path, MAX_UNIT).map_err(TimerError::File)?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(TimerError::File(format!("`{}` is no file", path.display())));
        };
        open::make_folder(folder).map_err(|e| TimerError::File(e.to_string()))?;
        let name = name.to_string_lossy();
        open::replace(folder, &name, |file| file.write_all(text.as_bytes()))
            .map_err(|e| failed(&path, &e))?;
        self.0.push((path, before));
        Ok(())
    }

    /// Puts back what was there before, as far as it can.
    pub(super) fn undo(self) {
        for (path, before) in self.0.into_iter().rev() {
            match before {
                None => {
                    let _ = remove(&path);
                }
                Some(bytes) => {
                    let (folder, name) = (path.parent(), path.file_name());
                    if let (Some(folder), Some(name)) = (folder, name) {
                        let name = name.to_string_lossy();
                        let _ = open::replace(folder, &name, |file| file.write_all(&bytes));
                    }
                }
            }
        }
    }

    /// Which they are.
    pub(super) fn paths(&self) -> Vec<String> {
        self.0.iter().map(|(path, _)| path.display().to_string()).collect()
    }
}

/// Removes a file, and the folder of drop-ins that it leaves empty; whether it was there.
pub(super) fn remove(path: &Path) -> Result<bool, TimerError> {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(failed(path, &e)),
    }
    if let Some(folder) = path.parent().filter(|folder| is_of_drop_ins(folder)) {
        // One that holds a drop-in of the person's stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(true)
}

fn failed(path: &Path, error: &std::io::Error) -> TimerError {
    TimerError::File(format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_can_be_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("own.service.d")).unwrap();
        let mut written = Written::default();
        for (name, text) in [("a", "old"), ("own.service.d/own.conf", "own")] {
            written.write(at(name), text).unwrap();
        }
        let mut written = Written::default();
        for name in ["a", "b", "own.service.d/granted.conf", "new.service.d/granted.conf"] {
            written.write(at(name), "new").unwrap();
        }
        std::os::unix::fs::symlink("a", at("link")).unwrap();
        written.write(at("link"), "through").unwrap_err();
        assert_eq!(written.paths().len(), 4);
        written.undo();
        assert_eq!(files::read(&at("a"), 9).unwrap().unwrap(), b"old");
        assert!(!at("b").exists() && !at("new.service.d").exists());
        assert_eq!(std::fs::read_dir(at("own.service.d")).unwrap().count(), 1);
        assert!(!remove(&at("b")).unwrap());
    }
}
