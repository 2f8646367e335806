//! `granted key passwd`

use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use crate::keys::{self, KeyName};
use crate::sign;
use crate::terminal::Terminal;

/// Give a key file another password.
///
/// Whoever has a copy of the old file still opens that with the old one.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What its file is called.
    #[arg(value_name = "NAME")]
    name: KeyName,
}

const AFTER_HELP: &str = "\
Example:
  granted key passwd ada";

#[derive(Serialize)]
struct PasswdJson {
    path: String,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("key passwd", out)?;
    let (home, name) = (book.home(), &args.name);
    let secret = sign::open(home, name)?;
    let password = Terminal::open()?.new_password(&format!("key `{name}`"))?;
    let path = keys::path(home, name);
    keys::reseal(home, name, &secret, &password).map_err(|e| Failure::at(&path, &e))?;
    let path = path.display().to_string();
    match out.is_json() {
        true => out.value(&PasswdJson { path }),
        false => out.line(format_args!("`{path}` has the new password")),
    }
    Ok(0)
}
