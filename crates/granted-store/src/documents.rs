//! The grant documents: files that a person can read, move or delete.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use granted_core::decision::document::{Document, DocumentName, MAX_DOCUMENT};
use granted_core::store::Documents;

use crate::custody::{Folder, How, Kept};
use crate::file::lines::{read_some, to_u64};
use crate::open::{self, OpenError, in_words};

/// More documents than this are made durable with one sync of the whole file system.
const MANY: usize = 64;

/// Documents as files below one folder, in a folder for each type of object.
///
/// What somebody else could have written is not read: see [`crate::custody`].
#[derive(Clone, Debug)]
pub struct FileDocuments {
    root: Folder,
}

/// Why a document is not there to be opened.
enum Absent {
    Missing,
    Unreadable(String),
}

impl From<OpenError> for Absent {
    fn from(error: OpenError) -> Absent {
        match error {
            OpenError::Missing(_) => Absent::Missing,
            e => Absent::Unreadable(e.to_string()),
        }
    }
}

impl FileDocuments {
    /// The documents below this folder, which is made when the first one is.
    pub fn new(root: impl Into<PathBuf>) -> FileDocuments {
        FileDocuments { root: Folder::new(root) }
    }

    /// In this home, if the folder lies in it: then custody begins there.
    pub fn within(self, home: &Folder) -> FileDocuments {
        FileDocuments { root: home.within(self.root()) }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    fn full(&self, name: &DocumentName) -> PathBuf {
        self.root().join(name.folder()).join(name.file())
    }

    fn open(&self, name: &DocumentName, how: How) -> Result<Kept<File>, Absent> {
        Ok(self.root.join(name.folder()).file(name.file(), how)?.sound()?)
    }

    fn read_bytes(&self, name: &DocumentName) -> Result<Vec<u8>, Absent> {
        let file = self.open(name, open::read_at)?;
        let shown = |e: &dyn std::fmt::Display| {
            Absent::Unreadable(format!("`{}`: {e}", self.full(name).display()))
        };
        let (size, file) = (file.size(), file.handle);
        let too_large = || shown(&format_args!("it has over {MAX_DOCUMENT} bytes"));
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MAX_DOCUMENT {
            return Err(too_large());
        }
        // One byte more than the size, to see that the file has not grown meanwhile.
        let mut bytes = vec![0; size + 1];
        let mut count = read_some(&file, &mut bytes, 0).map_err(|e| shown(&e))?;
        if count > size {
            bytes.resize(MAX_DOCUMENT + 1, 0);
            count = read_some(&file, &mut bytes, 0).map_err(|e| shown(&e))?;
        }
        if count > MAX_DOCUMENT {
            return Err(too_large());
        }
        bytes.truncate(count);
        Ok(bytes)
    }

    fn create_all(
        &self,
        documents: &[(DocumentName, Vec<u8>)],
        made: &mut Vec<DocumentName>,
    ) -> Result<(), String> {
        let each = documents.len() <= MANY;
        let mut folders = BTreeSet::new();
        let mut last = None;
        for (name, bytes) in documents {
            let path = self.full(name);
            let shown = |e: io::Error| format!("`{}`: {e}", path.display());
            let folder = self.root.join(name.folder());
            let opened = match folders.insert(name.folder()) {
                true => folder.make(),
                false => folder.open(),
            };
            let folder = opened.and_then(Kept::sound).map_err(|e| e.to_string())?;
            let create = folder.file(name.file(), open::create_at);
            let mut file = create.map_err(|e| e.to_string())?.handle;
            made.push(name.clone());
            file.write_all(bytes).map_err(shown)?;
            if each {
                open::sync(&file).map_err(shown)?;
            }
            last = Some(file);
        }
        if let Some(file) = last.filter(|_| !each) {
            rustix::fs::syncfs(&file)
                .map_err(|e| format!("`{}`: {}", self.root().display(), io::Error::from(e)))?;
        }
        // A file's sync does not make its name durable.
        for folder in folders {
            open::sync_folder(&self.root().join(folder)).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

impl Documents for FileDocuments {
    fn read(&self, name: &DocumentName) -> Document {
        match self.read_bytes(name) {
            Ok(bytes) => Document::Bytes(bytes),
            Err(Absent::Missing) => Document::Missing,
            Err(Absent::Unreadable(why)) => Document::Unreadable(why),
        }
    }

    fn create(&self, documents: &[(DocumentName, Vec<u8>)]) -> Result<(), String> {
        let mut made = Vec::new();
        self.create_all(documents, &mut made).inspect_err(|_| {
            // Of these no row tells yet, so they are nothing to anybody.
            self.remove(&made);
        })
    }

    fn refresh(&self, name: &DocumentName, text: &[u8]) -> Result<(), String> {
        let path = self.full(name);
        let shown = |e: &dyn std::fmt::Display| format!("`{}`: {e}", path.display());
        let file = self.open(name, open::write_at).map_err(|e| match e {
            Absent::Missing => shown(&"there is no such file"),
            Absent::Unreadable(why) => why,
        })?;
        let (stat, file) = (file.stat, file.handle);
        if stat.st_nlink != 1 {
            return Err(shown(&"it has a second name, which would change with it"));
        }
        let old = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
        if old > MAX_DOCUMENT {
            return Err(shown(&format_args!("it has over {MAX_DOCUMENT} bytes")));
        }
        // A replace by rename costs as much as two syncs. One write in place, never shorter than
        // what it covers, leaves no remains of the old text; and were it torn by a crash, the
        // grant is spent by the ledger, whatever its document looks like.
        let mut padded = text.to_vec();
        if padded.len() < old {
            if padded.last() == Some(&b'\n') {
                padded.pop();
            }
            padded.resize(old.saturating_sub(1), b' ');
            padded.push(b'\n');
        }
        match file.write_at(&padded, 0) {
            Ok(count) if to_u64(count) == to_u64(padded.len()) => Ok(()),
            Ok(count) => Err(shown(&format_args!("only {count} bytes of it were written"))),
            Err(e) => Err(shown(&e)),
        }
    }

    fn remove(&self, names: &[DocumentName]) {
        for name in names {
            if let Ok(folder) = self.root.join(name.folder()).open() {
                open::remove_at(folder.handle, OsStr::new(name.file()));
            }
        }
    }

    fn list(&self, visit: &mut dyn FnMut(&str)) -> Result<(), String> {
        let shown = |path: &Path, e: io::Error| format!("`{}`: {}", path.display(), in_words(&e));
        match self.root.open() {
            // Who could write there is no matter: the names alone are nobody's authority.
            Ok(_) => {}
            Err(OpenError::Missing(_)) => return Ok(()),
            Err(e) => return Err(e.to_string()),
        }
        let root = self.root();
        for folder in std::fs::read_dir(root).map_err(|e| shown(root, e))? {
            let folder = folder.map_err(|e| shown(root, e))?;
            let path = folder.path();
            // A link to a folder is not followed: no document is read through it either.
            if !folder.file_type().map_err(|e| shown(&path, e))?.is_dir() {
                continue;
            }
            for file in std::fs::read_dir(&path).map_err(|e| shown(&path, e))? {
                let file = file.map_err(|e| shown(&path, e))?;
                // Names that are no text are nobody's documents.
                if let (Some(folder), Some(file)) =
                    (folder.file_name().to_str(), file.file_name().to_str())
                {
                    visit(&format!("{folder}/{file}"));
                }
            }
        }
        Ok(())
    }

    fn path(&self, name: &DocumentName) -> String {
        self.full(name).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use granted_testkit::sample;
    use rustix::fs::{CWD, FileType, Mode};

    fn name(number: u64) -> DocumentName {
        DocumentName::new(&sample::object(number), sample::id(number))
    }

    #[test]
    fn makes_reads_refreshes_and_removes() {
        let dir = tempfile::tempdir().unwrap();
        let documents = FileDocuments::new(dir.path().join("grants"));
        assert_eq!(documents.read(&name(1)), Document::Missing);
        documents
            .create(&[(name(1), b"one\n".into()), (name(2), b"a longer one\n".into())])
            .unwrap();
        assert_eq!(documents.read(&name(1)), Document::Bytes(b"one\n".into()));
        documents.refresh(&name(1), b"spent\n").unwrap();
        assert_eq!(documents.read(&name(1)), Document::Bytes(b"spent\n".into()));
        documents.refresh(&name(2), b"spent\n").unwrap();
        assert_eq!(documents.read(&name(2)), Document::Bytes(b"spent       \n".into()));
        let mut listed = Vec::new();
        documents.list(&mut |name| listed.push(name.to_owned())).unwrap();
        listed.sort();
        assert_eq!(listed, [name(1).to_string(), name(2).to_string()]);
        documents.remove(&[name(1), name(3)]);
        assert_eq!(documents.read(&name(1)), Document::Missing);
        assert!(documents.refresh(&name(1), b"back?\n").is_err());
        assert_eq!(documents.read(&name(1)), Document::Missing);
    }

    #[test]
    fn leaves_none_where_one_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let documents = FileDocuments::new(dir.path());
        documents.create(&[(name(2), b"mine".into())]).unwrap();
        let error = documents.create(&[(name(1), vec![]), (name(2), vec![])]).unwrap_err();
        assert!(error.contains(&documents.path(&name(2))), "{error}");
        assert_eq!(documents.read(&name(1)), Document::Missing);
        assert_eq!(documents.read(&name(2)), Document::Bytes(b"mine".into()));
    }

    #[test]
    fn makes_many_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let documents = FileDocuments::new(dir.path());
        let many: Vec<_> = (0..100).map(|n| (name(n), b"x".to_vec())).collect();
        documents.create(&many).unwrap();
        assert!(many.iter().all(|(name, _)| documents.read(name) == Document::Bytes(b"x".into())));
    }

    #[test]
    fn says_quickly_what_else_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let documents = FileDocuments::new(dir.path());
        documents.create(&[(name(0), b"x".into())]).unwrap();
        let path = |n| PathBuf::from(documents.path(&name(n)));
        std::os::unix::fs::symlink(path(0), path(1)).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, path(2), FileType::Fifo, mode, 0).unwrap();
        std::fs::create_dir(path(3)).unwrap();
        open::create(&path(4)).unwrap().set_len(1 << 30).unwrap();
        open::create(&path(5)).unwrap().set_len(65_537).unwrap();
        for (number, what) in [
            (1, "a symbolic link"),
            (2, "a FIFO"),
            (3, "a directory"),
            (4, "over 65536 bytes"),
            (5, "over 65536 bytes"),
        ] {
            match documents.read(&name(number)) {
                Document::Unreadable(why) => assert!(why.contains(what), "{why}"),
                other => panic!("{number}: {other:?}"),
            }
            assert!(documents.refresh(&name(number), b"y").is_err());
        }
        std::fs::hard_link(path(0), path(6)).unwrap();
        assert!(documents.refresh(&name(6), b"y").is_err());
        assert_eq!(documents.read(&name(6)), Document::Bytes(b"x".into()));
        open::create(&path(7)).unwrap().set_len(65_536).unwrap();
        assert_eq!(documents.read(&name(7)), Document::Bytes(vec![0; 65_536]));
    }

    #[test]
    fn follows_no_link_to_a_folder_of_documents() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = FileDocuments::new(dir.path().join("elsewhere"));
        elsewhere.create(&[(name(1), b"x".into())]).unwrap();
        let root = dir.path().join("grants");
        std::fs::create_dir(&root).unwrap();
        let folder = name(1).folder().to_owned();
        std::os::unix::fs::symlink(elsewhere.root().join(&folder), root.join(&folder)).unwrap();
        let documents = FileDocuments::new(&root);
        assert!(matches!(documents.read(&name(1)), Document::Unreadable(_)));
        assert!(documents.create(&[(name(2), vec![])]).is_err());
        documents.list(&mut |name| panic!("{name}")).unwrap();
        // The folder above may be reached through one.
        std::os::unix::fs::symlink(elsewhere.root(), dir.path().join("link")).unwrap();
        let linked = FileDocuments::new(dir.path().join("link"));
        assert_eq!(linked.read(&name(1)), Document::Bytes(b"x".into()));
    }
}
