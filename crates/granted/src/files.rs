//! Reading whole files that the person names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use granted_core::digest::Digest;
use granted_store::open::{self, OpenError};
use serde::de::DeserializeOwned;
use sha2::Digest as _;

/// The bytes of a regular file, at most this many; `None` if there is no such file.
pub(crate) fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>, String> {
    let file = match open::read(path) {
        Ok(file) => file,
        Err(OpenError::Missing(_)) => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    read_open(file, path, max).map(Some)
}

/// The bytes of an open file, at most this many. `path` is for messages.
pub(crate) fn read_open(file: File, path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = file.take(max.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| format!("`{}`: {e}", path.display()))?;
    match u64::try_from(bytes.len()).is_ok_and(|len| len <= max) {
        true => Ok(bytes),
        false => Err(format!("`{}` has over {max} bytes", path.display())),
    }
}

/// Reads TOML; the error names the line.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e: toml::de::Error| {
        let before = e.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        let message = e.message();
        match message.strip_suffix(", expected a sequence") {
            Some(what) => {
                format!("line {line}: {what}, expected a list such as [\"a\", \"b\"]")
            }
            None => format!("line {line}: {message}"),
        }
    })
}

/// The line of a key in a table of TOML; that of its heading, if it is a table itself.
pub(crate) fn toml_line(text: &str, table: &str, key: &str) -> Option<usize> {
    let file = toml::de::DeTable::parse(text).ok()?;
    let table = file.get_ref().get(table)?.get_ref().as_table()?;
    let (key, _) = table.get_key_value(key)?;
    Some(text.get(..key.span().start)?.matches('\n').count() + 1)
}

/// The most bytes of a file that a grant is bound to: hashing is not to hold an attempt up.
const MAX_BOUND: u64 = 1 << 30;

/// The digest of a regular file's bytes, at most [`MAX_BOUND`].
pub(crate) fn digest(path: &Path) -> Result<Digest, String> {
    digest_open(open::read(path).map_err(|e| e.to_string())?, path)
}

/// The digest of the program that runs.
pub(crate) fn own_digest() -> Result<Digest, String> {
    let path = Path::new("/proc/self/exe");
    let file = open::own_program();
    digest_open(file.map_err(|e| format!("`{}`: {}", path.display(), open::in_words(&e)))?, path)
}

/// The digest of an open file's bytes. `path` is for messages.
fn digest_open(file: File, path: &Path) -> Result<Digest, String> {
    let mut file = file.take(MAX_BOUND + 1);
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer).map_err(|e| format!("`{}`: {e}", path.display()))?;
        match buffer.get(..count) {
            None | Some([]) if file.limit() == 0 => {
                return Err(format!("`{}` has over {MAX_BOUND} bytes", path.display()));
            }
            None | Some([]) => return Ok(Digest(hash.finalize().into())),
            Some(bytes) => hash.update(bytes),
        }
    }
}
