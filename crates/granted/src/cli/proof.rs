//! `granted proof`

use std::path::{Path, PathBuf};

use granted_core::decision::Object;
use granted_core::id::Id;
use granted_core::text::{ObjectId, ObjectType};

use super::args::book;
use super::failure::Failure;
use super::out::Out;
use crate::book::Book;
use crate::decision::status::of_object;
use crate::ledger::checkpoint::write_note;
use crate::ledger::proof::proof;

/// Print a proof of what became of a grant, as JSON.
///
/// One file with the grant, its signatures, all its rows and those of the attempts that claimed it. Whoever
/// has it can check it with `granted verify`, or by docs/format.md, without the ledger. A grant that
/// expired unused has one too. If the newest checkpoint does not cover the rows, a new one is made.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The grant's id, or that of an attempt that claimed it.
    #[arg(
        value_name = "GRANT|DISCHARGE",
        required_unless_present = "type",
        conflicts_with = "type"
    )]
    of: Option<Id>,
    /// The type of an object, whose grant is the one that `granted status` shows.
    #[arg(long = "type", value_name = "TYPE", requires = "id")]
    r#type: Option<ObjectType>,
    /// The object's id.
    #[arg(long, value_name = "ID", requires = "type")]
    id: Option<ObjectId>,
    /// Put it into this file instead. What is there is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  granted proof --type report --id 2026-09-30 --out report.proof
  granted proof 01J8ZC3V9Q6W5T4R3E2W1Q0PAS --out report.proof";

impl Args {
    /// The id of what is to be proven.
    fn id(&self, book: &Book) -> Result<Id, Failure> {
        if let Some(id) = self.of {
            return Ok(id);
        }
        let Some((r#type, id)) = self.r#type.clone().zip(self.id.clone()) else {
            return Err(Failure::usage("name a grant, an attempt, or an object"));
        };
        let object = Object { id, r#type };
        let grant = of_object(book, &object)?.grant;
        grant.map(|grant| grant.id).ok_or_else(|| {
            Failure::refused(format!("there is no grant for {object}"))
                .hint("all grants: granted list --all")
        })
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let text = proof(&book, args.id(&book)?)?;
    match &args.out {
        None => out.line(text.trim_end()),
        Some(path) => {
            // Written whole or not at all, for which the folder has to be known.
            let path = std::path::absolute(path).unwrap_or_else(|_| Path::new("/").join(path));
            write_note(book.home(), &path, &text).map_err(Failure::input)?;
        }
    }
    Ok(0)
}
