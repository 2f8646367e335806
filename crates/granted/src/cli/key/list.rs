//! `granted key list`

use super::super::args::book;
use super::super::failure::Failure;
use super::super::out::{Mark, Out};
use super::{KeyJson, line};
use crate::decision::trust::trust;
use crate::keys;

/// List the keys that this book trusts, and the key files that it does not.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example:
  granted key list";

pub(crate) fn run(_: &Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let trust = trust(&book)?;
    for trusted in trust.keys() {
        match out.is_json() {
            true => out.value(&KeyJson::trusted(trusted)),
            false => out.line(line(trusted)),
        }
    }
    for name in keys::names(book.home()).map_err(Failure::input)? {
        let stored = keys::read(book.home(), &name).map_err(Failure::input)?;
        let not = out.marked("not trusted", Mark::Doubt);
        match &stored.public {
            Some(key) if trust.key(key.id()).is_some() => {}
            Some(key) if out.is_json() => out.value(&KeyJson::untrusted(key, name.name())),
            Some(key) => {
                let (id, fingerprint, kind) = (key.id(), key.fingerprint(), key.kind());
                out.line(format_args!("{id}  {name}  {fingerprint}  {kind}  {not}"));
            }
            None => out.remark(format_args!(
                "note: the first line of `{}` does not say which key it is; granted key passwd {name} \
                 puts it there",
                stored.path.display()
            )),
        }
    }
    Ok(0)
}
