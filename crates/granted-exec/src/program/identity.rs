//! What a program is: its definition and the bytes of its files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use granted_core::decision::identity::Confirm;
use granted_core::decision::{Bind, Identity};
use granted_core::digest::Digest;
use granted_core::text::Note;
use sha2::{Digest as _, Sha256};

use super::missing::shown;
use super::{Definition, Missing, Why};

/// Stands before everything that is hashed.
const TAG: &[u8] = b"granted executor 1";

/// A file as it was found, and the digest of its bytes.
pub(super) struct Hashed {
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
}

/// The digest of the bytes at a path, or why there is none.
pub(super) type Hash = fn(&Path) -> Result<Digest, Why>;

impl Hashed {
    pub(super) fn new(what: &'static str, path: PathBuf, hash: Hash) -> Result<Hashed, Missing> {
        match hash(&path) {
            Ok(digest) => Ok(Hashed { path, digest }),
            Err(why) => Err(Missing::At { what, path, why }),
        }
    }
}

/// The definition's files.
pub(super) fn files(definition: &Definition, hash: Hash) -> Result<Vec<Hashed>, Missing> {
    let Definition { cwd, files, .. } = definition;
    files.iter().map(|path| Hashed::new("file", cwd.join(path), hash)).collect()
}

/// The digest of a definition, the programs that it names, and its files.
///
/// Each text has its length before it and each list its count, as eight bytes, the highest first.
/// A file is its path as it was found and the digest of its bytes.
pub(super) fn digest(definition: &Definition, programs: &[Hashed], files: &[Hashed]) -> Digest {
    let Definition { name, argv, cwd, path, env: _, asks, files: _, confirm } = definition;
    let mut hash = Encoding(Sha256::new());
    hash.text(TAG);
    hash.text(name.as_str().as_bytes());
    hash.list(argv);
    hash.text(cwd.as_os_str().as_bytes());
    hash.text(path.as_bytes());
    hash.list(asks);
    hash.list(confirm.as_deref().unwrap_or_default());
    for program in programs {
        hash.file(program);
    }
    hash.number(files.len());
    for file in files {
        hash.file(file);
    }
    Digest(hash.0.finalize().into())
}

/// All of it, in words that a grant can hold.
pub(super) fn identity(
    definition: &Definition,
    programs: &[Hashed],
    files: &[Hashed],
) -> Result<Identity, Missing> {
    let Definition { argv, cwd, path, asks, confirm, .. } = definition;
    let texts = |texts: &[_]| texts.iter().map(text).collect::<Result<Vec<String>, Missing>>();
    let mut rest = programs.iter();
    let mut program = || rest.next().ok_or(Missing::Empty).and_then(bind);
    Ok(Identity {
        digest: digest(definition, programs, files),
        program: program()?,
        confirm: match confirm {
            None => None,
            Some(argv) => Some(Confirm { argv: texts(argv)?, program: program()? }),
        },
        argv: texts(argv)?,
        cwd: text(cwd)?,
        env: asks.clone(),
        files: files.iter().map(bind).collect::<Result<_, Missing>>()?,
        path: text(path)?,
    })
}

fn text(text: impl AsRef<OsStr>) -> Result<String, Missing> {
    let text = text.as_ref();
    let not = || Missing::Text(format!("`{}` is not UTF-8", shown(text)));
    text.to_str().map(str::to_owned).ok_or_else(not)
}

fn bind(file: &Hashed) -> Result<Bind, Missing> {
    let path = text(&file.path)?;
    let path = Note::new(&*path).map_err(|e| Missing::Text(format!("a path: {e}")))?;
    Ok(Bind { path, sha256: file.digest })
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

    fn file(&mut self, file: &Hashed) {
        self.text(file.path.as_os_str().as_bytes());
        self.0.update(file.digest.0);
    }
}
