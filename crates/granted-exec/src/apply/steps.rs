//! Every call by which a change set changes anything on the disk: the one place of each.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags, fchmod, fchown, fgetxattr,
    flistxattr, fremovexattr, fsetxattr, fstat, fsync, mkdirat, openat, renameat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;

use super::Source;
use crate::tree::Tree;

/// What the steps are taken in, and whom each is announced to.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) tree: &'a Tree,
    pub(super) source: &'a dyn Source,
}

/// The permission bits that a file may have: none of those that lend its owner's rights.
const BITS: u32 = 0o777;
/// The access list.
const ACL: &[u8] = b"system.posix_acl_access";
/// The most bytes of a list of attributes, or of one of them, as the kernel has it.
const MAX_ATTRIBUTE: usize = 64 << 10;

impl Steps<'_> {
    /// Makes a folder in another; whether it was not there.
    pub(super) fn make_folder(self, above: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        self.source.step("make a folder")?;
        match mkdirat(above, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Removes a folder if it is there and empty.
    pub(super) fn remove_folder(self, above: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        self.source.step("remove a folder")?;
        match unlinkat(above, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Writes a new file, durably. It looks as `like` does, or has these permission bits.
    pub(super) fn write(
        self,
        folder: BorrowedFd<'_>,
        name: &str,
        bytes: &[u8],
        like: Option<&OwnedFd>,
        mode: u32,
    ) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.source.step("make a new file")?;
        let file = openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = std::fs::File::from(file);
        self.source.step("write a new file")?;
        file.write_all(bytes)?;
        self.source.step("set what a new file looks like")?;
        match like {
            None => fchmod(&file, Mode::from_raw_mode(mode & BITS))?,
            Some(old) => look_like(&file, old)?,
        }
        self.source.step("sync a new file")?;
        Ok(fsync(&file)?)
    }

    /// Renames a file in its folder, if nothing has the new name.
    pub(super) fn rename(self, folder: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        self.source.step("rename a file")?;
        match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot promise that.
            Err(Errno::INVAL) => match rustix::fs::statat(folder, to, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => Ok(renameat(folder, from, folder, to)?),
                Err(e) => Err(e.into()),
                Ok(_) => Err(Errno::EXIST.into()),
            },
            other => Ok(other?),
        }
    }

    /// Exchanges two files of a folder; whether this file system can.
    pub(super) fn exchange(
        self,
        folder: BorrowedFd<'_>,
        one: &str,
        other: &str,
    ) -> io::Result<bool> {
        let exchanged = self
            .source
            .step("exchange two files")
            .and_then(|()| Ok(renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)?));
        match exchanged {
            Ok(()) => Ok(true),
            Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Renames a file in its folder, whatever has the new name.
    pub(super) fn replace(self, folder: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        self.source.step("replace a file")?;
        Ok(renameat(folder, from, folder, to)?)
    }

    /// Removes a file if it is there.
    pub(super) fn remove(self, folder: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        self.source.step("remove a file")?;
        match unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Makes the names in a folder durable.
    pub(super) fn sync(self, folder: BorrowedFd<'_>) -> io::Result<()> {
        self.source.step("sync a folder")?;
        Ok(fsync(folder)?)
    }
}

/// Gives a new file the owner, the attributes and the permission bits of the one that it replaces.
fn look_like(new: &impl AsFd, old: &OwnedFd) -> io::Result<()> {
    let (from, own) = (fstat(old)?, fstat(new)?);
    give(new, &from, &own)?;
    match fremovexattr(new, ACL) {
        // It had one of its folder's.
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => {}
        Err(e) => return Err(e.into()),
    }
    for name in names(old)?.split(|byte| *byte == 0) {
        if name == ACL || name.starts_with(b"user.") {
            let mut value = vec![0; MAX_ATTRIBUTE];
            let length = fgetxattr(old, name, &mut *value)?;
            value.truncate(length);
            fsetxattr(new, name, &value, XattrFlags::empty())?;
        }
    }
    // After the access list, which has a say in them.
    Ok(fchmod(new, Mode::from_raw_mode(from.st_mode & BITS))?)
}

fn give(new: &impl AsFd, from: &Stat, own: &Stat) -> io::Result<()> {
    let owner = (from.st_uid != own.st_uid).then(|| Uid::from_raw(from.st_uid));
    let group = (from.st_gid != own.st_gid).then(|| Gid::from_raw(from.st_gid));
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    fchown(new, owner, group).map_err(|_| {
        let (uid, gid) = (from.st_uid, from.st_gid);
        io::Error::other(format!(
            "it belongs to user {uid} and group {gid}, and a file of theirs cannot be made"
        ))
    })
}

/// The names of a file's attributes, each with a NUL behind it; none where there are no attributes.
fn names(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut names = vec![0; MAX_ATTRIBUTE];
    match flistxattr(file, &mut *names) {
        Ok(length) => names.truncate(length),
        Err(Errno::NOTSUP | Errno::NOSYS) => names.clear(),
        Err(e) => return Err(e.into()),
    }
    Ok(names)
}
