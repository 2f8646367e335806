//! One file of a change set: its folder held open, and its temporary names.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::rc::Rc;

use granted_core::digest::Digest;
use granted_core::write::path::ProjectPath;
use rustix::fs::{AtFlags, FileType, statat};
use rustix::process::geteuid;

use super::steps::Steps;
use super::{FileChange, Order};
use crate::tree::{Found, TreeFault, read_in};

/// The most bytes of a file that is looked at; a larger one is nobody's that is known here.
pub(super) const MAX_CONTENT: usize = 64 << 20;

const NO_LINK: AtFlags = AtFlags::SYMLINK_NOFOLLOW;

/// A file of a change set.
pub(super) struct File<'a> {
    pub(super) change: &'a FileChange,
    /// The folder in which it lies; none while that is missing.
    pub(super) folder: Option<Rc<OwnedFd>>,
    /// Beside the file: its new content, complete, and after the exchange what was displaced. Nothing
    /// else ever has this name, so a content that is neither was displaced.
    pub(super) temp: String,
    /// Beside the file: its new content while that is written.
    pub(super) part: String,
    /// Whether it was found to hold its new content already.
    pub(super) is_new: bool,
    /// Whether this process began to put its new content in the place of the old one.
    pub(super) touched: bool,
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Nothing,
    Content(Digest),
    /// No regular file, one that is too large, or one that changes all the time.
    Other,
}

impl Held {
    /// Whether it is what a change set says of a file.
    pub(super) fn is(self, content: Option<Digest>) -> bool {
        match self {
            Held::Nothing => content.is_none(),
            Held::Content(digest) => content == Some(digest),
            Held::Other => false,
        }
    }

    fn of(found: Result<Found, TreeFault>) -> io::Result<Held> {
        match found {
            Ok(Found::Absent) => Ok(Held::Nothing),
            Ok(Found::File(content)) => Ok(Held::Content(content.digest)),
            Err(TreeFault::Io(e)) => Err(e),
            Err(_) => Ok(Held::Other),
        }
    }
}

/// The files of a change set. Folders that are missing stay so.
pub(super) fn open<'a>(order: &'a Order, steps: Steps<'_>) -> io::Result<Vec<File<'a>>> {
    let file = |(n, change): (usize, &'a FileChange)| {
        let temp = format!(".granted-{}-{n}", order.id);
        let part = format!("{temp}.part");
        File { change, folder: None, temp, part, is_new: false, touched: false }
    };
    let mut files = order.changes.iter().enumerate().map(file).collect::<Vec<_>>();
    open_folders(&mut files, steps)?;
    Ok(files)
}

/// Opens the folders that are not open yet and are there, each once.
pub(super) fn open_folders(files: &mut [File<'_>], steps: Steps<'_>) -> io::Result<()> {
    let mut opened: BTreeMap<Option<ProjectPath>, Option<Rc<OwnedFd>>> = BTreeMap::new();
    for file in files.iter_mut().filter(|file| file.folder.is_none()) {
        let above = file.change.path.parent();
        file.folder = match opened.get(&above) {
            Some(folder) => folder.clone(),
            None => {
                let folder = steps.tree.folder(above.as_ref()).map_err(io::Error::other)?;
                opened.entry(above).or_insert(folder.map(Rc::new)).clone()
            }
        };
    }
    Ok(())
}

impl File<'_> {
    /// The folder; an error while it is missing.
    pub(super) fn folder(&self) -> io::Result<BorrowedFd<'_>> {
        let missing = || io::Error::other("its folder is missing");
        self.folder.as_ref().map(|folder| folder.as_fd()).ok_or_else(missing)
    }

    /// What has the file's own name.
    pub(super) fn named(&self) -> io::Result<Held> {
        self.held(self.change.path.name())
    }

    /// What has its temporary name.
    pub(super) fn beside(&self) -> io::Result<Held> {
        self.held(&self.temp)
    }

    /// Whether what has its temporary name is a file of ours: one of this user, or of the file's own.
    pub(super) fn is_ours(&self) -> io::Result<bool> {
        let look = |name: &str| Ok::<_, io::Error>(statat(self.folder()?, name, NO_LINK)?);
        let beside = look(&self.temp)?;
        let owner = || look(self.change.path.name()).is_ok_and(|f| f.st_uid == beside.st_uid);
        let is_file = FileType::from_raw_mode(beside.st_mode) == FileType::RegularFile;
        Ok(is_file && (beside.st_uid == geteuid().as_raw() || owner()))
    }

    /// Why nothing is done while somebody else's file has its temporary name.
    pub(super) fn in_the_way(&self) -> String {
        let folder = self.change.path.parent().map(|above| format!("{above}/"));
        format!("`{}{}` is in the way", folder.unwrap_or_default(), self.temp)
    }

    fn held(&self, name: &str) -> io::Result<Held> {
        match &self.folder {
            None => Ok(Held::Nothing),
            Some(folder) => Held::of(read_in(folder.as_fd(), name, MAX_CONTENT)),
        }
    }

    /// What is reached by the file's path, whatever became of the folder that is held open.
    pub(super) fn by_path(&self, steps: Steps<'_>) -> io::Result<Held> {
        Held::of(steps.tree.read(&self.change.path, MAX_CONTENT).map_err(|e| e.fault))
    }

    /// Whether what is there is neither the old nor the new content.
    pub(super) fn is_foreign(&self, held: Held) -> bool {
        !held.is(self.change.before) && !held.is(self.change.after)
    }
}

/// Makes the folders of some files durable, each once.
pub(super) fn sync(files: &[File<'_>], steps: Steps<'_>) -> io::Result<()> {
    let mut synced: Vec<&Rc<OwnedFd>> = Vec::new();
    for folder in files.iter().filter_map(|file| file.folder.as_ref()) {
        if !synced.iter().any(|other| Rc::ptr_eq(other, folder)) {
            steps.sync(folder.as_fd())?;
            synced.push(folder);
        }
    }
    Ok(())
}

/// Makes the folders that were missing when the change set was decided on, and says which of them
/// were missing still.
pub(super) fn make_folders<'a>(
    order: &'a Order,
    steps: Steps<'_>,
    made: &mut Vec<&'a ProjectPath>,
) -> io::Result<()> {
    for folder in &order.folders {
        let above = steps.tree.folder(folder.parent().as_ref()).map_err(io::Error::other)?;
        let above = above.ok_or_else(|| io::Error::other("a folder is missing"))?;
        if steps.make_folder(above.as_fd(), folder.name())? {
            made.push(folder);
            steps.sync(above.as_fd())?;
        }
    }
    Ok(())
}

/// Removes those of some folders that are empty; each stands behind the one in which it lies.
pub(super) fn remove_folders<'a>(
    folders: impl DoubleEndedIterator<Item = &'a ProjectPath>,
    steps: Steps<'_>,
) -> io::Result<()> {
    for folder in folders.rev() {
        let above = steps.tree.folder(folder.parent().as_ref()).map_err(io::Error::other)?;
        if let Some(above) = above {
            steps.remove_folder(above.as_fd(), folder.name())?;
            steps.sync(above.as_fd())?;
        }
    }
    Ok(())
}
