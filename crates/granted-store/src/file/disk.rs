//! The three calls by which the ledger file is changed, so that tests can make them fail.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Changes the ledger file.
pub trait Disk: Send + Sync {
    /// Writes all of these bytes at this offset. On an error any part of them may be there.
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the file's bytes and size durable. After an error the kernel takes the pages for
    /// clean, so trying again would say nothing: nobody does.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Cuts the file to this length.
    fn cut(&self, file: &File, length: u64) -> io::Result<()>;
}

/// The real calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(file)?)
    }

    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }
}
