//! Where a wallet lies: the seed, the config, and a folder for each network.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use granted_core::spend::Network;
use granted_store::custody::{Folder, Kept};
use granted_store::open::{self, OpenError};

use crate::seed::{SealError, Seed};
use crate::wallet::Wallet;

/// The name of the sealed seed.
const SEED: &str = "seed.sealed";

/// The most bytes of any file that is read whole.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The wallet's home: the folder that holds the seed and the networks.
#[derive(Clone, Debug)]
pub struct Home {
    folder: Folder,
}

/// A file of the wallet could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct FileError {
    /// What is wrong, with the path.
    pub what: String,
    /// The command that mends it, where there is one.
    pub mend: Option<String>,
}

impl From<OpenError> for FileError {
    fn from(error: OpenError) -> FileError {
        match error {
            OpenError::Custody { breach } => {
                FileError { what: breach.to_string(), mend: Some(breach.mend()) }
            }
            error => FileError { what: error.to_string(), mend: None },
        }
    }
}

/// Why the seed was not had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// There is none.
    #[error("there is no wallet in `{}`", .0.display())]
    None(PathBuf),
    /// There is one already.
    #[error("there is a wallet in `{}` already", .0.display())]
    Exists(PathBuf),
    /// It is not opened.
    #[error("`{}`: {error}", .path.display())]
    Seal {
        /// The file.
        path: PathBuf,
        /// Why.
        error: SealError,
    },
    /// Its file.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Home {
    /// The wallet in this folder, which need not be there yet.
    pub fn new(folder: Folder) -> Home {
        Home { folder }
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The folder itself.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The wallet of a network, which need not be there yet.
    pub fn wallet(&self, network: Network) -> Wallet {
        Wallet::new(self.folder.join(network.as_str()), network)
    }

    /// The place of the seed.
    pub fn seed_path(&self) -> PathBuf {
        self.path().join(SEED)
    }

    /// Whether there is a seed.
    pub fn has_seed(&self) -> Result<bool, FileError> {
        match self.folder.file(SEED, open::read_at) {
            Ok(_) => Ok(true),
            Err(OpenError::Missing(_)) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Whether the sealed seed is whole, as far as can be told without its password; `false` if there is
    /// none.
    pub fn check_seed(&self) -> Result<bool, SeedError> {
        let Some(kept) = self.secret()? else { return Ok(false) };
        let sealed = |error| SeedError::Seal { path: self.seed_path(), error };
        Seed::check(&text(kept)?).map(|()| true).map_err(sealed)
    }

    fn secret(&self) -> Result<Option<Kept<File>>, FileError> {
        let kept = sound(&self.folder, SEED)?;
        match kept.as_ref().and_then(Kept::leak) {
            Some(breach) => Err(OpenError::Custody { breach }.into()),
            None => Ok(kept),
        }
    }

    /// Opens the seed. Nobody else may be able to write or read its file.
    pub fn open_seed(&self, password: &[u8]) -> Result<Seed, SeedError> {
        let Some(kept) = self.secret()? else {
            return Err(SeedError::None(self.path().to_owned()));
        };
        let text = text(kept)?;
        let sealed = |error| SeedError::Seal { path: self.seed_path(), error };
        Seed::open(&text, password).map_err(sealed)
    }

    /// Seals a seed with this password and writes it, durably. One that is there stays.
    pub fn write_seed(&self, seed: &Seed, password: &[u8]) -> Result<(), SeedError> {
        let sealed = |error| SeedError::Seal { path: self.seed_path(), error };
        let text = seed.seal(password).map_err(sealed)?;
        let folder = self.folder.make().map_err(FileError::from)?;
        folder.place(SEED, |file| file.write_all(text.as_bytes())).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => SeedError::Exists(self.path().to_owned()),
            _ => failed(&self.seed_path(), &e).into(),
        })
    }
}

/// The text of a file that only the person could have written; `None` if there is none.
pub(crate) fn read(folder: &Folder, name: &str) -> Result<Option<String>, FileError> {
    sound(folder, name)?.map(text).transpose()
}

fn sound(folder: &Folder, name: &str) -> Result<Option<Kept<File>>, FileError> {
    match folder.file(name, open::read_at).and_then(Kept::sound) {
        Ok(kept) => Ok(Some(kept)),
        Err(OpenError::Missing(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn text(kept: Kept<File>) -> Result<String, FileError> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = kept.handle.take(MAX_FILE).read_to_string(&mut text);
    read.map_err(|e| failed(&kept.path, &e))?;
    Ok(text)
}

/// Puts a file there, whole and durably, whatever was there before.
pub(crate) fn replace(folder: &Folder, name: &str, text: &str) -> Result<(), FileError> {
    let kept = folder.make()?;
    let put = kept.replace(name, |file| file.write_all(text.as_bytes()));
    put.map_err(|e| failed(&kept.path.join(name), &e))
}

/// What the system says of a path.
pub(crate) fn failed(path: &std::path::Path, error: &io::Error) -> FileError {
    FileError { what: format!("`{}`: {}", path.display(), open::in_words(error)), mend: None }
}
