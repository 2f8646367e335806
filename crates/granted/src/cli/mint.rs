//! `granted mint`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ArgGroup;
use granted_core::decision::mint::{Terms, named_human_actions};
use granted_core::decision::{Grant, Use};
use granted_core::text::{Name, Note, ObjectId, ObjectType, Shown, Words};
use granted_core::time::Stamp;
use granted_core::trust::Mode;
use serde::Serialize;
use std::time::Duration;

use super::args::{duration, instant, person_book};
use super::asked::Asked;
use super::bound::Bound;
use super::failure::Failure;
use super::out::Out;
use super::sheet;
use super::sign_with::{SignWith, sign_all};
use crate::book::Book;
use crate::config::Config;
use crate::decision::mint::{MintError, Minted, mint_signed};
use crate::render;

mod elsewhere;

/// Mint a grant: decide once, for one object, until a deadline.
///
/// Writes the grant as a file that you can read, move or delete, and a row in the ledger. Deleting
/// the file pauses the grant; `granted revoke` ends it.
///
/// These actions stay human unless the grant names them with --allow: hire, negotiate, sign, pay,
/// first_contact.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE, group = ArgGroup::new("end").args(["not_after", "for"]))]
pub(crate) struct Args {
    /// The object's type: 1 to 64 of A-Z a-z 0-9 . _ -
    #[arg(long = "type", value_name = "TYPE", required_unless_present_any = ["from", "sheet"], conflicts_with = "from")]
    r#type: Option<ObjectType>,
    /// The object's id: 1 to 256 characters that are shown as they are.
    #[arg(long, value_name = "ID", required_unless_present_any = ["from", "sheet"], conflicts_with_all = ["from", "sheet"])]
    id: Option<ObjectId>,
    /// Whose hand mints: words for the record.
    #[arg(long, value_name = "WHO", required_unless_present_any = ["from", "sheet"])]
    by: Option<Note>,
    /// The window's end, as RFC 3339 with a zone: 2026-10-01T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = instant)]
    not_after: Option<Stamp>,
    /// The window's length, from its beginning: an integer and one of s m h d.
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    r#for: Option<Duration>,
    /// The window's beginning [default: now].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    not_before: Option<Stamp>,
    /// APPROVE_ONCE: spent by the first discharge. APPROVE_SESSION: any number of discharges until
    /// one fails or is uncertain.
    #[arg(long, value_name = "DECISION", value_parser = use_of, default_value = "APPROVE_ONCE", hide_default_value = true)]
    decision: Use,
    /// What is covered, in words.
    #[arg(long, value_name = "TEXT")]
    scope: Option<Words>,
    /// What is not covered, in words. Repeatable.
    #[arg(long, value_name = "TEXT")]
    not_scope: Vec<Note>,
    /// An action that is covered. Repeatable. Without any, every action is but those that stay
    /// human.
    #[arg(long, value_name = "ACTION", value_parser = action)]
    allow: Vec<Name>,
    /// The only executor that may discharge it.
    #[arg(long, value_name = "NAME")]
    executor: Option<Name>,
    /// The only executor that may discharge it, as it is now: of config.toml, run from a sealed copy
    /// of these bytes.
    #[arg(long, value_name = "NAME", conflicts_with = "executor")]
    bind_executor: Option<Name>,
    /// A file whose bytes may not change until the act is over. Repeatable.
    #[arg(long, value_name = "PATH")]
    bind: Vec<PathBuf>,
    /// The only agent that may discharge it.
    #[arg(long, value_name = "NAME")]
    agent: Option<Name>,
    /// Mint although the object has a grant that may still be used.
    #[arg(long)]
    again: bool,
    /// Mint the grant that this JSON file describes, in the document's field names.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sheet", "by", "not_after", "for", "not_before", "decision", "scope", "not_scope", "allow", "executor", "bind_executor", "bind", "agent"])]
    from: Option<PathBuf>,
    /// The key that signs: the name of a key file, ssh, or ssh:PUB with a public key file;
    /// default in signed mode: the only key file that is trusted.
    #[arg(long, value_name = "KEY")]
    sign_with: Option<SignWith>,
    /// Mint nothing: write what is to be signed into this new file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sheet", "sign_with"])]
    unsigned_out: Option<PathBuf>,
    /// The signature of --from, which is a file that --unsigned-out wrote.
    #[arg(long, value_name = "FILE", requires = "from", conflicts_with_all = ["type", "id", "by", "sheet", "sign_with", "unsigned_out"])]
    signature: Option<PathBuf>,
    /// Mint a grant for each line of this JSONL file, all or none; flags are defaults.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decision", "type"])]
    sheet: Option<PathBuf>,
}

const USAGE: &str = "\
granted mint --type TYPE --id ID --by WHO (--for DURATION | --not-after TIME) [OPTIONS]
       granted mint --from FILE [OPTIONS]
       granted mint --sheet FILE [OPTIONS]";

const AFTER_HELP: &str = "\
Examples:
  granted mint --type report --id 2026-09-30 --by \"owner keystroke\" --for 24h --allow send
  granted mint --type deploy --id web --by me --for 2h --decision APPROVE_SESSION --executor deploy
  granted mint --sheet invoices.jsonl --by me --for 7d --allow remind
      where a line is {\"object\":{\"type\":\"invoice\",\"id\":\"2026-118\"},\"scope\":\"one reminder\"}";

/// Reads one action. A list in one argument would be an action that nobody ever asks for.
fn action(text: &str) -> Result<Name, String> {
    if text.contains([',', ' ']) {
        return Err("it is one action; repeat --allow for others".into());
    }
    Name::new(text).map_err(|e| e.to_string())
}

fn use_of(text: &str) -> Result<Use, String> {
    match text {
        "APPROVE_ONCE" => Ok(Use::Once),
        "APPROVE_SESSION" => Ok(Use::Session),
        _ => Err("it is APPROVE_ONCE or APPROVE_SESSION".into()),
    }
}

/// What kept a grant from being minted.
enum MintFailure {
    /// It was not signed.
    Signing(Failure),
    /// It was not minted.
    Minting(MintError),
}

impl From<MintError> for MintFailure {
    fn from(error: MintError) -> MintFailure {
        MintFailure::Minting(error)
    }
}

#[derive(Serialize)]
struct MintedJson<'a> {
    grant: &'a Grant,
    path: &'a str,
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("mint", out)?;
    let now = book.now();
    let mut bound = Bound::new(&book);
    let minted = match (&args.from, &args.signature) {
        (Some(path), Some(signature)) => {
            let grant = elsewhere::read_signed(path, signature)?;
            let terms = Terms::of(&grant, args.again);
            mint_signed(&book, &[terms], Some(vec![grant]), |_, _| Ok(Vec::new()))
                .map_err(|failure: Failure| in_file(failure, Some(path), false, 1))?
        }
        _ => {
            let asked = args.asked()?;
            let terms = args.terms(&asked, &mut bound, now)?;
            if let Some(path) = &args.unsigned_out {
                return elsewhere::write_unsigned(&book, &terms, path, out);
            }
            args.mint(&book, &asked, &terms)?
        }
    };
    for minted in &minted {
        show(minted, now, out);
    }
    if !out.is_json() {
        bound.show(out);
        note_executors(&minted, &book, out);
    }
    Ok(0)
}

/// Notes what keeps the executors that these grants name from discharging them.
fn note_executors(minted: &[Minted], book: &Book, out: &Out) {
    if minted.iter().all(|minted| minted.grant.executor.is_none()) {
        return;
    }
    match book.config() {
        Ok(config) => {
            let notes = minted.iter().filter_map(|minted| unserved(&minted.grant, &config));
            for note in notes.collect::<BTreeSet<String>>() {
                out.remark(format_args!("note: {note}"));
            }
        }
        Err(e) => out.remark(format_args!("note: {}", Shown(&e.to_string()))),
    }
}

/// Why the executor that a grant names would not discharge it, if that is plain from the config.
fn unserved(grant: &Grant, config: &Config) -> Option<String> {
    // A program may be an executor itself, and be registered nowhere.
    let name = grant.executor.as_ref().filter(|name| **name != Name::exec())?;
    let Some(entry) = config.executors.get(name) else {
        return Some(format!("no executor `{name}` is registered in config.toml yet"));
    };
    let (r#type, allowed) = (&grant.object.r#type, &grant.allowed_actions);
    if !entry.types.is_empty() && !entry.types.contains(r#type) {
        return Some(format!("executor `{name}` does not serve type `{type}`"));
    }
    let served = |action: &Name| entry.actions.contains(action);
    let none = !entry.actions.is_empty() && !allowed.is_empty() && !allowed.iter().any(served);
    none.then(|| format!("executor `{name}` serves none of the actions that this grant allows"))
}

/// Names the file that the grant came from, if it did, and of a sheet the line.
fn in_file(failure: Failure, file: Option<&PathBuf>, sheet: bool, line: usize) -> Failure {
    let Some(path) = file.map(|path| path.display()) else { return failure };
    let message = match sheet {
        true => format!("`{path}` line {line}: {}", failure.message),
        false => format!("`{path}`: {}", failure.message),
    };
    Failure { message, ..failure }
}

fn show(minted: &Minted, now: Stamp, out: &Out) {
    let Minted { grant, path } = minted;
    if out.is_json() {
        return out.value(&MintedJson { grant, path });
    }
    out.line(Shown(path));
    let from = grant.not_before.map(|from| format!("from {} ", render::time(from, now)));
    let (from, until) = (from.unwrap_or_default(), render::time(grant.not_after, now));
    out.remark(format_args!("grant {} for {}, {from}until {until}", grant.id, grant.object));
    for action in named_human_actions(grant) {
        out.remark(format_args!(
            "note: `{action}` otherwise stays human; this grant hands it over"
        ));
    }
}

impl Args {
    /// What is asked for, each with the line of the file that it comes from.
    fn asked(&self) -> Result<Vec<(usize, Asked)>, Failure> {
        match (&self.from, &self.sheet) {
            (Some(path), _) => Ok(vec![(1, sheet::read_document(path, &self.defaults())?)]),
            (None, Some(path)) => sheet::read_sheet(path, &self.defaults()),
            (None, None) => Ok(vec![(1, self.defaults())]),
        }
    }

    fn terms(
        &self,
        asked: &[(usize, Asked)],
        bound: &mut Bound<'_>,
        now: Stamp,
    ) -> Result<Vec<Terms>, Failure> {
        let terms = |(line, asked): &(usize, Asked)| {
            asked.terms(now, bound).map_err(|e| self.in_file(e, *line))
        };
        asked.iter().map(terms).collect()
    }

    fn mint(
        &self,
        book: &Book,
        asked: &[(usize, Asked)],
        terms: &[Terms],
    ) -> Result<Vec<Minted>, Failure> {
        let minted = mint_signed(book, terms, None, |trust, statements| {
            match trust.mode == Mode::Open && self.sign_with.is_none() {
                true => Ok(Vec::new()),
                false => sign_all(book, self.sign_with.as_ref(), trust, statements)
                    .map_err(MintFailure::Signing),
            }
        });
        minted.map_err(|failure| {
            let mut line = None;
            let failure = match failure {
                MintFailure::Signing(failure) => failure,
                MintFailure::Minting(error) => {
                    if let MintError::Refused(index, _) = &error {
                        line = asked.get(*index).map(|(line, _)| *line);
                    }
                    error.into()
                }
            };
            match line {
                Some(line) => self.in_file(failure, line),
                None => failure,
            }
        })
    }

    /// Names the file that the grant came from.
    fn in_file(&self, failure: Failure, line: usize) -> Failure {
        in_file(failure, self.from.as_ref().or(self.sheet.as_ref()), self.sheet.is_some(), line)
    }

    /// What the flags say.
    fn defaults(&self) -> Asked {
        Asked {
            r#type: self.r#type.clone(),
            id: self.id.clone(),
            by: self.by.clone(),
            not_after: self.not_after,
            length: self.r#for,
            not_before: self.not_before,
            decision: self.decision,
            scope: self.scope.clone(),
            not_scope: self.not_scope.clone(),
            allow: self.allow.clone(),
            executor: self.executor.clone(),
            bind_executor: self.bind_executor.clone(),
            bind: self.bind.clone(),
            agent: self.agent.clone(),
            again: self.again,
        }
    }
}
