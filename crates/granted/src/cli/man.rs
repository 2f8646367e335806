//! `granted man`

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failure::Failure;
use super::out::Out;

mod page;
mod tables;

/// Print the manual: one page with every verb, in the form that `man` reads.
///
/// With --dir, that page and one of each verb, as files.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Write granted.1, granted-mint.1 and so on into this folder, and print their paths.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  granted man | man -l -
  granted man --dir ~/.local/share/man/man1";

#[derive(Serialize)]
struct PageJson<'a> {
    path: &'a Path,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let command = super::command();
    let Some(dir) = &args.dir else {
        out.line(page::whole(command).trim_end());
        return Ok(0);
    };
    std::fs::create_dir_all(dir).map_err(|e| Failure::at(dir, &e))?;
    for (name, text) in page::all(command) {
        let path = dir.join(name);
        #[expect(clippy::disallowed_methods, reason = "made anew at any time; no sync is needed")]
        std::fs::write(&path, text).map_err(|e| Failure::at(&path, &e))?;
        match out.is_json() {
            true => out.value(&PageJson { path: &path }),
            false => out.line(path.display()),
        }
    }
    Ok(0)
}
