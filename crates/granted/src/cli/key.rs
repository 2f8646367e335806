//! `granted key`

mod export;
mod list;
mod new;
mod passwd;
mod trust;
mod untrust;

use granted_core::text::Name;
use granted_core::time::Stamp;
use granted_core::trust::{KeyId, PublicKey, Trusted};
use serde::Serialize;

use super::failure::Failure;
use super::out::Out;

/// Make your keys, and say which keys this book trusts.
///
/// What a trusted key signed is yours, whoever writes it down. Passwords are asked for at the terminal
/// and are taken from nowhere else.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  granted key new ada
  granted key trust ~/.ssh/id_ed25519.pub --name laptop
  granted key list";

#[derive(clap::Subcommand)]
enum Command {
    New(new::Args),
    List(list::Args),
    Trust(trust::Args),
    Untrust(untrust::Args),
    Passwd(passwd::Args),
    Export(export::Args),
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, Command::List(_) | Command::Export(_))
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::New(args) => new::run(args, out),
        Command::List(args) => list::run(&args, out),
        Command::Trust(args) => trust::run(args, out),
        Command::Untrust(args) => untrust::run(args, out),
        Command::Passwd(args) => passwd::run(&args, out),
        Command::Export(args) => export::run(&args, out),
    }
}

/// A key, as JSON.
#[derive(Serialize)]
pub(super) struct KeyJson<'a> {
    by: Option<KeyId>,
    fingerprint: String,
    id: KeyId,
    key: &'a PublicKey,
    kind: &'a str,
    name: &'a Name,
    since: Option<Stamp>,
    trusted: bool,
}

impl<'a> KeyJson<'a> {
    /// Of a key that is trusted.
    pub(super) fn trusted(trusted: &'a Trusted) -> KeyJson<'a> {
        let Trusted { key, name, since, by } = trusted;
        KeyJson { by: *by, since: Some(*since), trusted: true, ..KeyJson::untrusted(key, name) }
    }

    /// Of one that is not.
    pub(super) fn untrusted(key: &'a PublicKey, name: &'a Name) -> KeyJson<'a> {
        let (id, fingerprint, kind) = (key.id(), key.fingerprint(), key.kind());
        KeyJson { by: None, fingerprint, id, key, kind, name, since: None, trusted: false }
    }
}

/// A key that is trusted, in one line.
pub(super) fn line(trusted: &Trusted) -> String {
    let Trusted { key, name, since, by } = trusted;
    let by = by.map_or_else(|| "the first".to_owned(), |by| format!("by {by}"));
    format!("{}  {name}  {}  {}  since {since:.0}, {by}", key.id(), key.fingerprint(), key.kind())
}
