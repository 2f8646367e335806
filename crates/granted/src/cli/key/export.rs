//! `granted key export`

use granted_core::trust::PublicKey;
use serde::Serialize;

use super::super::args::book;
use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use crate::decision::trust::trust;
use crate::keys::{self, KeyName};

/// Print a public key: SPKI in PEM, which OpenSSL reads.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What this book calls the key, or else what its file is called.
    #[arg(value_name = "NAME")]
    name: String,
    /// As a line of OpenSSH's.
    #[arg(long)]
    ssh: bool,
}

const AFTER_HELP: &str = "\
Examples:
  granted key export ada >ada.pem
  granted key export ada --ssh";

#[derive(Serialize)]
struct ExportJson<'a> {
    key: &'a PublicKey,
    pem: Option<String>,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let trust = trust(&book)?;
    let trusted = trust.keys().iter().find(|trusted| trusted.name.as_str() == args.name);
    let key = match trusted {
        Some(trusted) => trusted.key.clone(),
        None => {
            let name: KeyName = args.name.parse().map_err(Failure::usage)?;
            let stored = keys::read(book.home(), &name).map_err(Failure::input)?;
            stored.public.ok_or_else(|| {
                let path = stored.path.display();
                Failure::new(
                    Kind::Key,
                    format!("the first line of `{path}` does not say which key it is"),
                )
                .hint(format!("to put it there: granted key passwd {name}"))
            })?
        }
    };
    match (out.is_json(), key.to_pem()) {
        (true, pem) => out.value(&ExportJson { key: &key, pem }),
        (false, Some(pem)) if !args.ssh => out.line(pem.trim_end()),
        (false, None) if !args.ssh => {
            return Err(Failure::refused("a security key has no such form").hint("add --ssh"));
        }
        (false, _) => out.line(format_args!("{key} {}", args.name)),
    }
    Ok(0)
}
