//! `granted ledger checkpoint`

use std::path::{Path, PathBuf};

use granted_core::digest::Digest;
use granted_core::text::Shown;
use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use crate::ledger::checkpoint::write_note;
use crate::ledger::witness::make_and_hand_out;

/// Print a checkpoint: a signed note that stands for every row there is now.
///
/// It is kept beside the ledger as the newest, and put into every witness of the config, also into one
/// that is not there yet. Keep it elsewhere, and `granted ledger verify --checkpoint` tells later
/// whether the ledger goes on from it.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Put it into this file too. What is there is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  granted ledger checkpoint --out /media/stick/granted.checkpoint";

#[derive(Serialize)]
struct CheckpointJson<'a> {
    checkpoint: &'a str,
    key: String,
    root: Digest,
    rows: u64,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("ledger checkpoint", out)?;
    let (signed, mut troubles) = make_and_hand_out(&book)?;
    if let Some(path) = &args.out {
        // Written whole or not at all, for which the folder has to be known.
        let path = std::path::absolute(path).unwrap_or_else(|_| Path::new("/").join(path));
        troubles.extend(write_note(book.home(), &path, &signed.note).err());
    }
    match out.is_json() {
        true => out.value(&CheckpointJson {
            checkpoint: &signed.note,
            key: signed.key.to_string(),
            root: signed.checkpoint.root,
            rows: signed.checkpoint.size,
        }),
        false => out.line(signed.note.trim_end()),
    }
    for trouble in &troubles {
        out.remark(format_args!("note: {}", Shown(trouble)));
    }
    Ok(if troubles.is_empty() { 0 } else { 1 })
}
