//! Where everything lies, and the one door to the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use granted_core::custody::Breach;
use granted_store::custody::Folder;
use granted_store::open;

/// The places of one book.
#[derive(Clone, Debug)]
pub struct Home {
    root: Folder,
    ledger: PathBuf,
    documents: PathBuf,
}

/// The config's name in the home.
pub(crate) const CONFIG: &str = "config.toml";

/// Why the places are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HomeError {
    /// Neither `GRANTED_HOME` nor `HOME` is set.
    #[error("there is no home: set GRANTED_HOME, or HOME")]
    NoHome,
    /// `GRANTED_STORE` names a database.
    #[error("GRANTED_STORE names a database, and this granted keeps grants in a folder")]
    Database,
}

impl Home {
    /// The places below this folder.
    pub fn at(root: impl Into<PathBuf>) -> Home {
        let root = absolute(root.into());
        let (ledger, documents) = (root.join("ledger.jsonl"), root.join("grants"));
        Home { root: Folder::new(root), ledger, documents }
    }

    /// The places that the environment names: `GRANTED_HOME` (else `~/.granted`), and
    /// `GRANTED_LEDGER` and `GRANTED_STORE` where they lie elsewhere.
    pub fn from_env() -> Result<Home, HomeError> {
        let root = match var("GRANTED_HOME") {
            Some(root) => PathBuf::from(root),
            None => PathBuf::from(var("HOME").ok_or(HomeError::NoHome)?).join(".granted"),
        };
        let mut home = Home::at(root);
        if let Some(ledger) = var("GRANTED_LEDGER") {
            home.ledger = absolute(ledger.into());
        }
        if let Some(documents) = var("GRANTED_STORE") {
            let text = documents.to_string_lossy();
            if text.starts_with("postgres://") || text.starts_with("postgresql://") {
                return Err(HomeError::Database);
            }
            home.documents = absolute(documents.into());
        }
        Ok(home)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The ledger. Its index, locks and files put aside lie beside it.
    pub fn ledger(&self) -> &Path {
        &self.ledger
    }

    /// The folder of the grant documents.
    pub fn documents(&self) -> &Path {
        &self.documents
    }

    /// The config.
    pub fn config(&self) -> PathBuf {
        self.root().join(CONFIG)
    }

    /// The folder of the wallet: `SATS_DIR`, else `sats` in the home.
    pub(crate) fn sats_from_env() -> Result<Folder, HomeError> {
        match var("SATS_DIR") {
            Some(folder) => Ok(Folder::new(absolute(folder.into()))),
            None => Ok(Home::from_env()?.folder().join("sats")),
        }
    }

    /// The folder itself, as custody has it.
    pub(crate) fn folder(&self) -> &Folder {
        &self.root
    }

    /// The folder of the ledger, likewise.
    pub(crate) fn ledger_folder(&self) -> Folder {
        self.folder_of(&self.ledger)
    }

    /// The folder that holds a file, likewise.
    pub(crate) fn folder_of(&self, file: &Path) -> Folder {
        self.root.within(file.parent().unwrap_or(Path::new("")))
    }

    /// What keeps the ledger from being relied on. One that cannot be opened has no breach: whoever
    /// reads it says so.
    pub(crate) fn ledger_breach(&self) -> Option<Breach> {
        let name = self.ledger.file_name().unwrap_or_default();
        self.ledger_folder().file(name, open::read_at).ok()?.breach
    }

    /// The folder of the grant documents, likewise.
    pub(crate) fn documents_folder(&self) -> Folder {
        self.root.within(&self.documents)
    }
}

/// An environment variable, unless it is empty.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The environment variables of these names or beginnings that are set.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn vars(names: &[String], beginnings: &[&str]) -> Vec<(OsString, OsString)> {
    let wanted = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        names.iter().any(|n| *n == name) || beginnings.iter().any(|b| name.starts_with(b))
    };
    std::env::vars_os().filter(wanted).collect()
}

/// The path from the root, without asking the disk; as it is where there is no current folder.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
