//! The digest of a program: its definition and the bytes of its files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use granted_core::digest::Digest;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::{Definition, Missing, Why};

/// Stands before everything that is hashed.
const TAG: &[u8] = b"granted executor 1";
/// How many files' digests are remembered at most.
const REMEMBERED: usize = 1024;
/// A file that changed this lately may change again without looking different.
const SETTLED: Duration = Duration::from_secs(2);

/// The digest of a definition, the programs that it names, and its files.
///
/// Each text has its length before it and each list its count, as eight bytes, the highest first.
/// A file is its path as it was found and the digest of its bytes.
pub(super) fn digest<'a>(
    definition: &Definition,
    programs: impl Iterator<Item = &'a PathBuf>,
) -> Result<Digest, Missing> {
    let Definition { name, argv, cwd, path, env: _, asks, files, confirm } = definition;
    let mut hash = Encoding(Sha256::new());
    hash.text(TAG);
    hash.text(name.as_str().as_bytes());
    hash.list(argv);
    hash.text(cwd.as_os_str().as_bytes());
    hash.text(path.as_bytes());
    hash.list(asks);
    hash.list(confirm.as_deref().unwrap_or_default());
    for program in programs {
        hash.file("program", program)?;
    }
    hash.number(files.len());
    for path in files {
        hash.file("file", &cwd.join(path))?;
    }
    Ok(Digest(hash.0.finalize().into()))
}

struct Encoding(Sha256);

impl Encoding {
    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_be_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len());
        self.0.update(text);
    }

    fn list(&mut self, texts: &[impl AsRef<OsStr>]) {
        self.number(texts.len());
        for text in texts {
            self.text(text.as_ref().as_bytes());
        }
    }

    fn file(&mut self, what: &'static str, path: &Path) -> Result<(), Missing> {
        self.text(path.as_os_str().as_bytes());
        let bytes = of_file(path);
        self.0.update(bytes.map_err(|why| Missing::At { what, path: path.to_owned(), why })?.0);
        Ok(())
    }
}

/// What a file is told by: the same in all of these, it is taken to hold the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Look {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

static SEEN: LazyLock<Mutex<HashMap<Look, Digest>>> = LazyLock::new(Mutex::default);

/// The digest of a file's bytes, read once as long as it looks the same.
fn of_file(path: &Path) -> Result<Digest, Why> {
    // Opening a pipe or a device must not wait for somebody at its other end.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty()).map_err(Why::of)?;
    let found = fstat(&file).map_err(Why::of)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(Why::Directory),
        _ => return Err(Why::NotRegular),
    }
    let look = look(&found);
    // A panic while it was locked can only have lost an entry.
    let seen = || SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = seen().get(&look) {
        return Ok(*digest);
    }
    let digest = of_bytes(&file).map_err(Why::of)?;
    let after = fstat(&file).map_err(Why::of)?;
    if self::look(&after) == look && is_settled(&after) {
        let mut seen = seen();
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(look, digest);
    }
    Ok(digest)
}

fn look(found: &Stat) -> Look {
    Look {
        device: found.st_dev,
        inode: found.st_ino,
        size: found.st_size,
        modified: (found.st_mtime, found.st_mtime_nsec as i64),
        changed: (found.st_ctime, found.st_ctime_nsec as i64),
    }
}

/// Whether the file's last change lies far enough back that the next one will show.
fn is_settled(found: &Stat) -> bool {
    let changed = Duration::from_secs(u64::try_from(found.st_ctime).unwrap_or_default());
    changed + SETTLED < crate::boot::of_files()
}

/// The most bytes of a file that is part of an identity: hashing is not to hold an attempt up.
const MAX_FILE: usize = 1 << 30;

fn of_bytes(file: &OwnedFd) -> Result<Digest, Errno> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 16 << 10];
    let mut left = MAX_FILE;
    loop {
        match rustix::io::read(file, &mut buffer) {
            Ok(0) => return Ok(Digest(hash.finalize().into())),
            Ok(read) if read > left => return Err(Errno::FBIG),
            Ok(read) => {
                left -= read;
                hash.update(buffer.get(..read).unwrap_or_default());
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
