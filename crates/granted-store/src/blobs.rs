//! Contents, each in a file that is named by its digest.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use granted_core::digest::Digest;
use rustix::fs::RenameFlags;

use crate::custody::{Dir, Folder, Kept};
use crate::open::{self, OpenError};

/// The most bytes of a content that is read.
pub const MAX_BLOB: usize = 16 << 20;

/// The contents that the rows of one ledger name.
///
/// A content lies at `blobs/` and its digest, written once and never changed. What is read is held to its
/// name, so a damaged file gives an error and never wrong bytes.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: Folder,
}

/// Why a content was not read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The file does not hold what its name says.
    #[error("`{}` is damaged: it does not hold the content that it is named by", .0.display())]
    Damaged(PathBuf),
    /// More than [`MAX_BLOB`] bytes.
    #[error("`{}` has more than {MAX_BLOB} bytes", .0.display())]
    Large(PathBuf),
    /// It could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It could not be read.
    #[error("`{}`: {}", .path.display(), open::in_words(.source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Blobs {
    /// The contents of the ledger in this folder. Makes nothing yet.
    pub fn beside(ledger: &Folder) -> Blobs {
        Blobs { folder: ledger.join("blobs") }
    }

    /// Keeps a content durably: when this returns, its row may be written.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        self.put_all(&[bytes]).map(|digests| digests.first().copied().unwrap_or(Digest::ZERO))
    }

    /// Keeps several, with one sync of the folder.
    pub fn put_all(&self, contents: &[&[u8]]) -> io::Result<Vec<Digest>> {
        if contents.iter().any(|bytes| bytes.len() > MAX_BLOB) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let folder = self.folder.make().and_then(Kept::from_here).map_err(io::Error::other)?;
        let put = |bytes: &&[u8]| place(&folder, bytes);
        let digests = contents.iter().map(put).collect::<io::Result<_>>()?;
        // Also where each was there: whoever put it there may not have come to that.
        rustix::fs::fsync(&folder.handle)?;
        Ok(digests)
    }

    /// The content of this digest; `None` if it is not kept.
    pub fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, BlobError> {
        match self.folder.open() {
            Ok(folder) => read(&folder, digest),
            Err(OpenError::Missing(_)) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

/// Puts a content at its place, unless it is there; the folder is still to be synced.
fn place(folder: &Kept<Dir>, bytes: &[u8]) -> io::Result<Digest> {
    let digest = Digest::of(bytes);
    if !read(folder, digest).is_ok_and(|found| found.is_some()) {
        let (at, name) = (folder.handle.as_fd(), digest.to_string());
        let fill = |file: &mut BufWriter<File>| file.write_all(bytes);
        open::put_unsynced(at, name.as_ref(), &folder.path, RenameFlags::empty(), fill)?;
    }
    Ok(digest)
}

fn read(folder: &Kept<Dir>, digest: Digest) -> Result<Option<Vec<u8>>, BlobError> {
    let file = match folder.file(digest.to_string(), open::read_at) {
        Ok(file) => file,
        Err(OpenError::Missing(_)) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let path = file.path.clone();
    let size = usize::try_from(file.size()).map_or(MAX_BLOB, |size| size.min(MAX_BLOB));
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    match file.handle.take(MAX_BLOB as u64 + 1).read_to_end(&mut bytes) {
        Err(source) => Err(BlobError::Read { path, source }),
        Ok(_) if bytes.len() > MAX_BLOB => Err(BlobError::Large(path)),
        Ok(_) if Digest::of(&bytes) != digest => Err(BlobError::Damaged(path)),
        Ok(_) => Ok(Some(bytes)),
    }
}

#[cfg(test)]
mod tests;
