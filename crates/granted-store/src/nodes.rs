//! The nodes of the tree over the rows, kept beside the index as `index/rows.tree`.
//!
//! ```text
//! "grantre1", the number of groups, the hash of the last row that they cover
//! the root over each group of 256 rows, in order
//! the SHA-256 of all that
//! ```
//!
//! The number has 8 bytes, big-endian. What is below a group is read from the ledger, and what is
//! above is hashed from the groups. The file may be deleted; one that is damaged or belongs to another
//! ledger is not there.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use granted_core::digest::Digest;
use sha2::{Digest as _, Sha256};

use crate::custody::{Folder, Kept};
use crate::file::lines::to_u64;
use crate::{index, open};

/// How many rows a group has, as a power of two.
pub const GROUP_LEVEL: u32 = 8;

/// How many rows a group has.
pub const GROUP: u64 = 1 << GROUP_LEVEL;

const FORMAT: &[u8; 8] = b"grantre1";

/// The file's name in `index/`.
pub const NAME: &str = "rows.tree";

/// The most bytes that are read: for over a thousand million rows.
const MAX: u64 = 1 << 27;

/// The roots over the groups of a ledger's first rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The hash of the last row that they cover.
    pub last: Digest,
    /// The root over each group, in order.
    pub roots: Vec<Digest>,
}

impl Default for Groups {
    /// None.
    fn default() -> Groups {
        Groups { last: Digest::ZERO, roots: Vec::new() }
    }
}

impl Groups {
    /// Those that are kept beside the ledger of this folder; none if anything is wrong with the file, or
    /// if somebody else could have written it.
    pub fn load(ledger: &Folder) -> Groups {
        let read = || {
            let folder = folder(ledger).open().and_then(Kept::from_here).ok()?;
            let file = folder.file(NAME, open::read_at).and_then(Kept::sound).ok()?;
            Groups::read(file.handle)
        };
        read().unwrap_or_default()
    }

    /// Those in a file of this form; `None` if anything is wrong with it.
    pub fn read(file: File) -> Option<Groups> {
        let mut bytes = Vec::new();
        file.take(MAX).read_to_end(&mut bytes).ok()?;
        parse(&bytes)
    }

    /// Keeps them beside the ledger of this folder.
    pub fn save(&self, ledger: &Folder) -> io::Result<()> {
        let folder = folder(ledger).make().and_then(Kept::from_here).map_err(io::Error::other)?;
        folder.replace(NAME, |file| file.write_all(&self.bytes()))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = FORMAT.to_vec();
        bytes.extend(to_u64(self.roots.len()).to_be_bytes());
        bytes.extend(self.last.0);
        self.roots.iter().for_each(|root| bytes.extend(root.0));
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        bytes.extend(digest);
        bytes
    }
}

fn folder(ledger: &Folder) -> Folder {
    ledger.join(index::NAME)
}

fn parse(bytes: &[u8]) -> Option<Groups> {
    let (all, digest) = bytes.split_last_chunk::<32>()?;
    let count = all.strip_prefix(FORMAT)?;
    if Sha256::digest(all)[..] != digest[..] {
        return None;
    }
    let (count, rest) = count.split_first_chunk::<8>()?;
    let (last, roots) = rest.split_first_chunk::<32>()?;
    let (roots, left) = roots.as_chunks::<32>();
    let fits = left.is_empty() && to_u64(roots.len()) == u64::from_be_bytes(*count);
    fits.then(|| Groups { last: Digest(*last), roots: roots.iter().copied().map(Digest).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_damaged_in_any_byte_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Folder::new(dir.path());
        assert_eq!(Groups::load(&ledger), Groups::default());
        let groups = Groups { last: Digest::of(b"9"), roots: vec![Digest::of(b"1"); 3] };
        groups.save(&ledger).unwrap();
        assert_eq!(Groups::load(&ledger), groups);
        let good = groups.bytes();
        assert_eq!(parse(&good), Some(groups));
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            assert_eq!(parse(&bytes), None, "byte {at}");
            assert_eq!(parse(&good[..at]), None, "cut at {at}");
        }
        assert_eq!(parse(&[good.as_slice(), b"x"].concat()), None);
    }
}
