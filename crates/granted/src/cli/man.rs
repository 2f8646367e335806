//! `granted man`

use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use granted_store::open;
use serde::Serialize;

use super::failure::Failure;
use super::out::Out;

mod page;
mod tables;

/// Print the manual: one page with every verb, in the form that `man` reads.
///
/// With --dir, that page, one of each verb, and one of `sats`, as files.
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

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let command = super::command();
    let Some(dir) = &args.dir else {
        out.line(page::whole(command).trim_end());
        return Ok(0);
    };
    std::fs::create_dir_all(dir).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Failure::input(format!("`{}` is not a folder", dir.display())),
        _ => Failure::at(dir, &e),
    })?;
    for (name, text) in page::all(command).into_iter().chain([page::sats(super::sats_command())]) {
        let path = dir.join(name);
        write_anew(&path, &text)?;
        match out.is_json() {
            true => out.value(&PageJson { path: &path }),
            false => out.line(path.display()),
        }
    }
    Ok(0)
}

/// Writes a page in the place of whatever lies there, a link itself included, but no folder.
fn write_anew(path: &Path, text: &str) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(Failure::at(path, &e)),
        _ => {}
    }
    let mut file = open::create(path).map_err(Failure::input)?;
    // Everybody may read a manual. It can be made anew at any time, so no sync is needed.
    let written = file.set_permissions(Permissions::from_mode(0o644));
    written.and_then(|()| file.write_all(text.as_bytes())).map_err(|e| Failure::at(path, &e))
}
