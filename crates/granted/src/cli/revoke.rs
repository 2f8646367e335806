//! `granted revoke`

use granted_core::decision::Object;
use granted_core::id::Id;
use granted_core::text::{Note, ObjectId, ObjectType};

use super::args::person_book;
use super::failure::Failure;
use super::out::Out;
use crate::decision::revoke::{Target, revoke};

/// Take a grant back, for good; or all of an object's that may still be used.
///
/// Effective on the next call. An act that runs goes on, and the answer says so.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The grant's id.
    #[arg(value_name = "GRANT", conflicts_with_all = ["type", "id"])]
    grant: Option<Id>,
    /// The object's type.
    #[arg(long, value_name = "TYPE", requires = "id")]
    r#type: Option<ObjectType>,
    /// The object's id.
    #[arg(long, value_name = "ID", requires = "type")]
    id: Option<ObjectId>,
    /// Whose hand takes it back.
    #[arg(long, value_name = "WHO")]
    by: Option<Note>,
    /// More, in words.
    #[arg(long, value_name = "TEXT")]
    note: Option<Note>,
}

const AFTER_HELP: &str = "\
Examples:
  granted revoke 01J8ZC3V9Q6W5T4R3E2W1Q0PAS --by me --note \"the list was wrong\"
  granted revoke --type report --id 2026-09-30";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("revoke", out)?;
    let target = match (args.grant, args.r#type, args.id) {
        (Some(grant), ..) => Target::Grant(grant),
        (None, Some(r#type), Some(id)) => Target::Object(Object { id, r#type }),
        _ => {
            return Err(
                Failure::usage("name a grant, or --type and --id").hint("granted revoke --help")
            );
        }
    };
    for revoked in revoke(&book, &target, args.by.as_ref(), args.note.as_ref())? {
        if out.is_json() {
            out.value(&revoked);
            continue;
        }
        let running = match revoked.running {
            Some(id) => format!("; attempt {id} runs and goes on"),
            None => String::new(),
        };
        out.line(format_args!("revoked {} ({}){running}", revoked.grant_id, revoked.object));
    }
    Ok(0)
}
