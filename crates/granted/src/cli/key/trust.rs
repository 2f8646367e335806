//! `granted key trust`

use std::path::{Path, PathBuf};

use granted_core::text::Name;
use granted_core::trust::{Change, PublicKey};

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::super::sign_with::{SignWith, asking};
use super::{KeyJson, line};
use crate::decision::trust::{change, trust};
use crate::home::Home;
use crate::keys::{self, KeyName};
use crate::sign::open;

/// Trust a key: what it signs is yours. A key that is trusted already has to sign for it.
///
/// The first key of a book needs no signature. You are shown what is signed and asked for a yes.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A public key, as SPKI in PEM or as a line of OpenSSH's; or the name of a key file, whose password
    /// is asked for.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to call it; default: as its file is called.
    #[arg(long, value_name = "NAME")]
    name: Option<Name>,
    /// The key that signs: the name of a key file, ssh, or ssh:PUB with a public key file;
    /// default: the only key file that is trusted.
    #[arg(long, value_name = "KEY")]
    sign_with: Option<SignWith>,
}

const AFTER_HELP: &str = "\
Examples:
  granted key trust ~/.ssh/id_ed25519.pub --name laptop
  granted key trust second";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("key trust", out)?;
    let (key, own_name) = read(book.home(), &args.file)?;
    let name = args.name.or(own_name).ok_or_else(|| {
        Failure::usage(format!("`{}` gives no name for the key", args.file.display()))
            .hint("name it: --name")
    })?;
    change(&book, &Change::Trust(key.clone(), name), asking(&book, args.sign_with.as_ref()))?;
    let trust = trust(&book)?;
    // Unless somebody has taken it back since.
    if let Some(trusted) = trust.key(key.id()) {
        match out.is_json() {
            true => out.value(&KeyJson::trusted(trusted)),
            false => out.line(line(trusted)),
        }
    }
    Ok(0)
}

/// The key, and what its file suggests to call it.
fn read(home: &Home, file: &Path) -> Result<(PublicKey, Option<Name>), Failure> {
    let name = file.to_str().and_then(|text| text.parse::<KeyName>().ok());
    if let Some(name) = name.filter(|name| keys::path(home, name).exists()) {
        // What its first line says is anybody's word until it was opened.
        let secret = open(home, &name)?;
        return Ok((secret.public().clone(), Some(name.name().clone())));
    }
    let key = keys::read_public(file).map_err(Failure::input)?;
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    Ok((key, stem.and_then(|stem| Name::new(stem).ok())))
}
