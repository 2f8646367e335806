//! `--sign-with`: which key signs.

use std::path::PathBuf;
use std::str::FromStr;

use granted_core::trust::{Signature, Statement, Trust};

use super::agree::agree;
use super::failure::{Failure, Kind};
use crate::book::Book;
use crate::keys::{self, KeyName};
use crate::sign::{KeyFile, Signer};
use crate::ssh::Ssh;
use crate::terminal::Terminal;

/// What is said of a book in which nobody can sign any more.
pub(crate) const NO_KEY_LEFT: &str = "no key is left that this book trusts, so none can sign in it";

/// Which key signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignWith {
    /// A key file of the home.
    Name(KeyName),
    /// The first key of the SSH agent, or else of `~/.ssh`, that is trusted.
    Ssh,
    /// The SSH key with this public key file.
    SshFile(PathBuf),
}

impl FromStr for SignWith {
    type Err = String;

    fn from_str(text: &str) -> Result<SignWith, String> {
        match (text, text.strip_prefix("ssh:")) {
            ("ssh", _) => Ok(SignWith::Ssh),
            (_, Some("")) => Err("no public key file stands behind ssh:".into()),
            (_, Some(file)) => Ok(SignWith::SshFile(file.into())),
            (name, None) => name.parse().map(SignWith::Name),
        }
    }
}

/// Has the person sign what a change of trust asks for; again, if that changes meanwhile.
pub(crate) fn asking<'a>(
    book: &'a Book,
    with: Option<&'a SignWith>,
) -> impl FnMut(&Trust, &Statement) -> Result<Signature, Failure> + 'a {
    let mut asked = false;
    move |trust, statement| {
        if std::mem::replace(&mut asked, true) {
            Terminal::open()?
                .line("what is trusted was changed meanwhile, so it is signed anew")?;
        }
        sign(book, with, trust, statement)
    }
}

/// Has the person sign one statement, which is shown first.
pub(crate) fn sign(
    book: &Book,
    with: Option<&SignWith>,
    trust: &Trust,
    statement: &Statement,
) -> Result<Signature, Failure> {
    let mut signed = sign_all(book, with, trust, std::slice::from_ref(statement))?;
    signed.pop().ok_or_else(|| Failure::new(Kind::Key, "nothing was signed"))
}

/// Has the person sign all of these, which are shown first.
pub(crate) fn sign_all(
    book: &Book,
    with: Option<&SignWith>,
    trust: &Trust,
    statements: &[Statement],
) -> Result<Vec<Signature>, Failure> {
    let mut signer = signer(book, with, trust)?;
    agree(statements)?;
    statements.iter().map(|statement| Ok(signer.sign(statement)?)).collect()
}

/// What signs: what was asked for, else the only key file of the home that is trusted.
pub(crate) fn signer(
    book: &Book,
    with: Option<&SignWith>,
    trust: &Trust,
) -> Result<Box<dyn Signer>, Failure> {
    if trust.has_begun() && trust.keys().is_empty() {
        return Err(Failure::new(Kind::Key, NO_KEY_LEFT).hint(
            "to begin a new book, move the ledger, what lies beside it and the grants away",
        ));
    }
    let signer: Box<dyn Signer> = match with {
        Some(SignWith::Name(name)) => Box::new(key_file(book, name.clone())?),
        Some(SignWith::Ssh) => Box::new(Ssh::first(trust).map_err(|e| {
            Failure::new(Kind::Key, e).hint("to trust one: granted key trust ~/.ssh/id_ed25519.pub")
        })?),
        Some(SignWith::SshFile(file)) => Box::new(Ssh::of_file(file).map_err(Failure::input)?),
        None => Box::new(key_file(book, only(book, trust)?)?),
    };
    match trust.key(signer.key().id()) {
        Some(_) => Ok(signer),
        None => {
            let id = signer.key().id();
            Err(Failure::new(Kind::Key, format!("key {id} is not trusted"))
                .hint("what is trusted: granted trust"))
        }
    }
}

fn key_file(book: &Book, name: KeyName) -> Result<KeyFile, Failure> {
    let known = keys::names(book.home()).is_ok_and(|names| names.contains(&name));
    KeyFile::new(book.home(), name).map_err(|e| match (Failure::new(Kind::Key, e), known) {
        (failure, true) => failure,
        (failure, false) => {
            failure.hint("which there are: granted key list; an SSH key: --sign-with ssh")
        }
    })
}

/// The only key file that is trusted.
fn only(book: &Book, trust: &Trust) -> Result<KeyName, Failure> {
    let mut trusted = Vec::new();
    for name in keys::names(book.home()).map_err(Failure::input)? {
        // One that cannot be read signs nothing.
        let public = keys::read(book.home(), &name).ok().and_then(|stored| stored.public);
        if public.is_some_and(|key| trust.key(key.id()).is_some()) {
            trusted.push(name);
        }
    }
    match trusted.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(Failure::new(Kind::Key, "no key file is trusted")
            .hint("to sign with an SSH key: --sign-with ssh; what is trusted: granted trust")),
        names => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let message = format!("several keys could sign: {}", names.join(", "));
            Err(Failure::usage(message).hint("name one: --sign-with"))
        }
    }
}
