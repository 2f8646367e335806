//! `granted verify`

use std::path::{Path, PathBuf};

use granted_core::decision::fold::ClaimState;
use granted_core::decision::status::as_folded;
use granted_core::decision::{Attempt, Grant};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::proof::{Failed, MAX_PROOF, Proven, verify};
use granted_core::text::Shown;
use granted_core::time::{Clock as _, Stamp};
use granted_core::trust::{Mode, PublicKey};
use serde::Serialize;

use super::failure::Failure;
use super::out::{Mark, Out};
use crate::clock::SystemClock;
use crate::files;
use crate::render::proof::{not_proven, shown};

/// Check a proof that `granted proof` made, and say what it shows.
///
/// Needs nothing but the file: no home, no ledger, no network. Says who allowed what, when it could run,
/// who ran it and when, how it ended, and what is not proven. Exit code 0 if the proof holds, 1 if it does
/// not, naming the first check that fails, and 2 if the file is no proof.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The proof.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A public key that must have signed the grant: a line of OpenSSH's, or SPKI in PEM. Repeatable.
    #[arg(long, value_name = "PUB")]
    key: Vec<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  granted verify proof.json --key ~/.ssh/id_ed25519.pub";

/// The most bytes of a public key's file.
const MAX_KEY: u64 = 4_096;

#[derive(Serialize)]
struct ValidJson<'p> {
    valid: bool,
    book: Id,
    book_key: String,
    grant: Grant,
    mode: Mode,
    signed_by: Vec<SignerJson<'p>>,
    keys: Vec<String>,
    attempts: Vec<AttemptJson<'p>>,
    over: bool,
    last_row: u64,
    checkpoint_rows: u64,
    not_proven: Vec<String>,
}

#[derive(Serialize)]
struct SignerJson<'p> {
    name: &'p str,
    fingerprint: String,
    since: Stamp,
}

#[derive(Serialize)]
struct AttemptJson<'p> {
    discharge_id: Id,
    at: Stamp,
    agent: Option<&'p str>,
    executor: &'p str,
    digest: Option<Digest>,
    outcome: Option<&'static str>,
    reason: Option<&'static str>,
    happened: Option<bool>,
}

#[derive(Serialize)]
struct InvalidJson<'p> {
    valid: bool,
    check: &'static str,
    cause: &'p str,
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let keys = args.key.iter().map(|path| key(path)).collect::<Result<Vec<_>, _>>()?;
    let bytes = whole(&args.file, u64::try_from(MAX_PROOF).unwrap_or(u64::MAX))?;
    match verify(&bytes, &keys) {
        Ok(proven) if out.is_json() => out.value(&json(&proven, &keys)),
        Ok(proven) => {
            let (last, book) = (proven.grant.last, proven.checkpoint.book);
            let word = out.marked("valid", Mark::Good);
            out.line(format_args!("{word}, up to row {last} of book {book}"));
            for line in shown(&proven, &keys, SystemClock.now()) {
                out.line(line);
            }
            for line in not_proven(&proven, &keys) {
                out.line(format_args!("not proven: {line}"));
            }
        }
        Err(Failed::Unusable(why)) => {
            return Err(unusable(format!("`{}` is no proof: {why}", args.file.display())));
        }
        Err(Failed::Invalid(invalid)) => {
            let (check, cause) = (invalid.check.as_str(), invalid.cause.as_str());
            match out.is_json() {
                true => out.value(&InvalidJson { valid: false, check, cause }),
                false => {
                    let word = out.marked("invalid", Mark::Bad);
                    out.line(format_args!("{word}: {check}: {}", Shown(cause)));
                }
            }
            return Ok(1);
        }
    }
    Ok(0)
}

fn json<'p>(proven: &'p Proven, keys: &[PublicKey]) -> ValidJson<'p> {
    let spending = proven.grant.spending().map(|claim| claim.discharge);
    let spending = proven.attempts.iter().find(|attempt| Some(attempt.id) == spending);
    let signers = proven.signers.iter().map(|trusted| SignerJson {
        name: trusted.name.as_str(),
        fingerprint: trusted.key.fingerprint(),
        since: trusted.since,
    });
    ValidJson {
        valid: true,
        book: proven.checkpoint.book,
        book_key: proven.book_key.to_string(),
        grant: as_folded(&proven.grant, spending),
        mode: proven.mode,
        signed_by: signers.collect(),
        keys: keys.iter().map(PublicKey::fingerprint).collect(),
        attempts: proven.grant.claims.iter().zip(&proven.attempts).map(attempt).collect(),
        over: proven.is_over(),
        last_row: proven.grant.last,
        checkpoint_rows: proven.checkpoint.size,
        not_proven: not_proven(proven, keys),
    }
}

fn attempt<'p>((claim, attempt): (&'p ClaimState, &'p Attempt)) -> AttemptJson<'p> {
    let executor = &claim.intent.body.executor;
    let outcome = claim.outcome.as_ref().map(|outcome| &outcome.body);
    AttemptJson {
        discharge_id: claim.discharge,
        at: claim.intent.at,
        agent: claim.by.agent.as_ref().map(|agent| agent.as_str()),
        executor: executor.name.as_str(),
        digest: executor.digest,
        outcome: outcome.map(|outcome| outcome.outcome.as_str()),
        reason: outcome.map(|outcome| outcome.reason.as_str()),
        happened: attempt.resolved.as_ref().map(|resolved| resolved.body.happened),
    }
}

/// Reads a public key.
fn key(path: &Path) -> Result<PublicKey, Failure> {
    let bytes = whole(path, MAX_KEY)?;
    let text = String::from_utf8_lossy(&bytes);
    PublicKey::from_file(&text).map_err(|e| unusable(format!("`{}`: {e}", path.display())))
}

/// The bytes of a file that the person names.
fn whole(path: &Path, max: u64) -> Result<Vec<u8>, Failure> {
    match files::read(path, max) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(unusable(format!("`{}`: there is no such file", path.display()))),
        Err(why) => Err(unusable(why)),
    }
}

/// A file that is of no use: exit 2.
fn unusable(message: String) -> Failure {
    Failure { code: 2, ..Failure::input(message) }
}
