//! Moving the ledger's end aside: a durable copy beside the ledger.

use std::fs::File;
use std::io::{self, Write};

use granted_core::digest::Digest;
use granted_core::ledger::event::Torn;
use sha2::{Digest as _, Sha256};

use super::Site;
use super::lines::{read_some, to_u64};
use crate::open::{self, OpenError};

/// Copies everything between two offsets to a new file `ledger.torn-TIME`, durably. The ledger is
/// not changed. An error names the path.
pub(crate) fn move_aside(site: &Site, file: &File, from: u64, to: u64) -> Result<Torn, String> {
    let time: String =
        site.clock.now().to_string().chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let mut name = format!("ledger.torn-{time}");
    let folder = site.folder.open().map_err(|e| e.to_string())?;
    let create = |name: &str| folder.file(name, open::create_at).map(|kept| kept.handle);
    let mut copy = create(&name);
    for number in 2..100 {
        // Two repairs may come at one time, by a clock that stands.
        let exists = |source: &io::Error| source.kind() == io::ErrorKind::AlreadyExists;
        match &copy {
            Err(OpenError::Io { source, .. }) if exists(source) => {
                name = format!("ledger.torn-{time}-{number}");
                copy = create(&name);
            }
            _ => break,
        }
    }
    let mut copy = copy.map_err(|e| e.to_string())?;
    let path = site.folder.path().join(&name);
    let copied = copy_range(file, from, to, &mut copy).and_then(|copied| {
        open::sync(&copy)?;
        rustix::fs::fsync(&folder.handle)?;
        Ok(copied)
    });
    match copied {
        Ok((bytes, sha256)) => Ok(Torn { bytes, file: name.into(), sha256 }),
        Err(e) => {
            // A part of a copy is of no use: the ledger still holds all of it.
            let _ = std::fs::remove_file(&path);
            Err(format!("`{}`: {e}", path.display()))
        }
    }
}

fn copy_range(file: &File, from: u64, to: u64, copy: &mut File) -> io::Result<(u64, Digest)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut offset = from;
    while offset < to {
        let room = usize::try_from(to - offset).unwrap_or(buffer.len()).min(buffer.len());
        let count = read_some(file, buffer.get_mut(..room).unwrap_or_default(), offset)?;
        if count == 0 {
            break;
        }
        let read = buffer.get(..count).unwrap_or_default();
        hash.update(read);
        copy.write_all(read)?;
        offset += to_u64(count);
    }
    Ok((offset - from, Digest(hash.finalize().into())))
}
