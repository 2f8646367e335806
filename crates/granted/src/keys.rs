//! The person's key files: `keys/NAME.pem` in the home, each a line with the public half and the private
//! one sealed below it.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use granted_core::text::Name;
use granted_core::trust::{PublicKey, SecretKey};
use granted_store::custody::{Folder, Kept};
use granted_store::entropy;
use granted_store::open::{self, OpenError};
use zeroize::Zeroizing;

use crate::home::Home;

/// The most bytes of a key's file.
pub(crate) const MAX_FILE: usize = 8_192;

/// What the name of a key's file ends with.
pub(crate) const ENDING: &str = ".pem";

/// The name of a key file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName(Name);

impl KeyName {
    /// The name.
    pub fn name(&self) -> &Name {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyName, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        match Name::new(text) {
            // What `--sign-with ssh` means is another thing.
            Ok(name) if begins && text.chars().all(plain) && text != "ssh" => Ok(KeyName(name)),
            _ => {
                Err("the name of a key file is 1 to 64 of A-Z a-z 0-9 . _ -, begins with a letter \
                      or digit, and is not `ssh`"
                    .into())
            }
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key file that was read. What it says of its public half is only said until it was opened.
pub struct Stored {
    /// Its place.
    pub path: PathBuf,
    /// Its public half by its first line, if that is one.
    pub public: Option<PublicKey>,
    text: String,
}

impl Stored {
    /// Opens it.
    pub fn open(&self, password: &[u8]) -> Result<SecretKey, String> {
        let opened = SecretKey::open(&self.text, password);
        opened.map_err(|e| format!("`{}`: {e}", self.path.display()))
    }
}

/// The folder's name.
pub(crate) const FOLDER: &str = "keys";

fn folder(home: &Home) -> Folder {
    home.folder().join(FOLDER)
}

/// The place of the key file of this name.
pub fn path(home: &Home, name: &KeyName) -> PathBuf {
    folder(home).path().join(file(name))
}

fn file(name: &KeyName) -> String {
    format!("{name}{ENDING}")
}

/// Reads the key file of this name.
pub fn read(home: &Home, name: &KeyName) -> Result<Stored, String> {
    let path = path(home, name);
    let opened = folder(home).file(file(name), open::read_at).and_then(Kept::sound);
    let opened = opened.map_err(|e| match e {
        OpenError::Missing(_) => format!("`{}`: there is no such key file", path.display()),
        e => e.to_string(),
    })?;
    let bytes = crate::files::read_open(opened.handle, &path, MAX_FILE as u64)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{}` is no text", path.display()))?;
    let public = text.lines().next().and_then(|line| PublicKey::from_file(line).ok());
    Ok(Stored { path, public, text })
}

/// Reads a public key file, wherever it lies.
pub fn read_public(path: &Path) -> Result<PublicKey, String> {
    let bytes = crate::files::read(path, MAX_FILE as u64)?;
    let bytes = bytes.ok_or_else(|| format!("`{}`: there is no such file", path.display()))?;
    let key = PublicKey::from_file(&String::from_utf8_lossy(&bytes));
    key.map_err(|e| format!("`{}`: {e}", path.display()))
}

/// The names of the key files, in their order.
pub fn names(home: &Home) -> Result<Vec<KeyName>, String> {
    let folder = folder(home);
    let failed = |e: io::Error| format!("`{}`: {}", folder.path().display(), open::in_words(&e));
    let files = match folder.open() {
        Ok(kept) => open::names(&kept.handle).map_err(failed)?,
        Err(OpenError::Missing(_)) => Vec::new(),
        Err(e) => return Err(e.to_string()),
    };
    let name = |file: &String| file.strip_suffix(ENDING)?.parse::<KeyName>().ok();
    let mut names: Vec<KeyName> = files.iter().filter_map(name).collect();
    names.sort();
    Ok(names)
}

/// A new key.
pub fn generate() -> Result<SecretKey, String> {
    let seed = entropy::random().map_err(|e| format!("no random bytes are to be had: {e}"))?;
    SecretKey::new(&Zeroizing::new(seed)).map_err(|e| e.to_string())
}

/// Makes a key file, durably. One that is there stays: the error is of the kind `AlreadyExists` then.
pub fn create(home: &Home, name: &KeyName, key: &SecretKey, password: &[u8]) -> io::Result<()> {
    let text = sealed(name, key, password)?;
    let folder = folder(home).make().map_err(io::Error::other)?;
    folder.place(file(name), |file| file.write_all(text.as_bytes()))
}

/// Seals a key anew: its file is replaced whole, durably.
pub fn reseal(home: &Home, name: &KeyName, key: &SecretKey, password: &[u8]) -> io::Result<()> {
    let text = sealed(name, key, password)?;
    let folder = folder(home).open().map_err(io::Error::other)?;
    folder.replace(file(name), |file| file.write_all(text.as_bytes()))
}

/// The text of a key file.
fn sealed(name: &KeyName, key: &SecretKey, password: &[u8]) -> io::Result<String> {
    let sealed = key.seal(password, &entropy::random()?, entropy::random()?);
    Ok(format!("{} {name}\n{}", key.public(), *sealed.map_err(io::Error::other)?))
}
