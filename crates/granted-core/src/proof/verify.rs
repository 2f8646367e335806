//! Checking a proof: one check after the other, in an order that is part of the format.
//!
//! What the book signed is established first. Only then is it read.

use std::fmt;

use serde_json::Value;

use super::{MAX_PROOF, Proof};
use crate::decision::{Attempt, GrantState};
use crate::digest::Digest;
use crate::ledger::audit::{Illegal, check_history, check_signatures};
use crate::ledger::checkpoint::{self, Claimed, Verified};
use crate::ledger::note::Verifier;
use crate::ledger::tree::{leaf, root_of};
use crate::ledger::{Row, Subject};
use crate::trust::{Mode, PublicKey, Statement, Trust, Trusted};

/// Declares the checks, in their order, with the word of each.
macro_rules! checks {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// A check of a proof.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Check {
            $($(#[$doc])* $variant,)+
        }

        impl Check {
            /// Every check, in order.
            pub const ALL: &'static [Check] = &[$(Check::$variant),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self { $(Check::$variant => $text,)+ }
            }
        }
    };
}

checks! {
    /// The file has the form of a proof, written in the one way there is.
    Form = "form",
    /// The key signed the checkpoint of its own book.
    Checkpoint = "checkpoint",
    /// Every row is in the tree of the checkpoint.
    Inclusion = "inclusion",
    /// Every row is one, to the letter.
    Rows = "rows",
    /// The grant was minted, in the book of the checkpoint.
    Grant = "grant",
    /// The rows are the whole story up to the last of them, and a legal one.
    History = "history",
    /// What had to be signed was signed, by keys that were trusted then.
    Signatures = "signatures",
    /// The keys that the reader named signed the grant.
    Key = "key",
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The first check that a proof does not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{check}: {cause}")]
pub struct Invalid {
    /// The check.
    pub check: Check,
    /// What is wrong: one lower-case line for people.
    pub cause: String,
}

impl Invalid {
    fn new(check: Check, cause: impl ToString) -> Invalid {
        Invalid { check, cause: cause.to_string() }
    }

    fn row(check: Check, illegal: Illegal) -> Invalid {
        Invalid::new(check, format_args!("row {}: {}", illegal.line, illegal.cause))
    }
}

/// Why a file proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// It is no proof at all.
    #[error("it is no proof: {0}")]
    Unusable(String),
    /// It is a proof that does not hold.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// What a proof shows. Only [`verify`] makes one.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Proven {
    /// The checkpoint.
    pub checkpoint: Verified,
    /// The key of the book, which signed it.
    pub book_key: Verifier,
    /// The grant, with what its rows say.
    pub grant: GrantState,
    /// Whether the book asked for signatures when it was minted.
    pub mode: Mode,
    /// The keys that signed the grant and that the book trusted when it was minted.
    pub signers: Vec<Trusted>,
    /// The attempts that claimed it, in the order of its claims.
    pub attempts: Vec<Attempt>,
}

impl Proven {
    /// Whether nothing that could follow uses the grant: it is spent, revoked, expired or closed, and no
    /// attempt runs.
    pub fn is_over(&self) -> bool {
        let GrantState { revoked, expired, .. } = &self.grant;
        let over = revoked.is_some() || expired.is_some() || self.grant.is_spent();
        over && self.grant.running().is_none()
    }
}

/// Checks a proof's bytes. Each of `keys` must have signed the grant, whatever the book trusts.
pub fn verify(bytes: &[u8], keys: &[PublicKey]) -> Result<Proven, Failed> {
    let proof = read(bytes)?;
    let (checkpoint, book_key) = signed(&proof)?;
    check_inclusion(&proof, &checkpoint)?;
    let rows = rows(&proof)?;
    let state = minted(&proof, &checkpoint, &rows)?;
    let subjects = subjects(&state);
    check_history(checkpoint.book, &rows, &subjects)
        .map_err(|illegal| Invalid::row(Check::History, illegal))?;
    check_signatures(checkpoint.book, &rows, &subjects)
        .map_err(|illegal| Invalid::row(Check::Signatures, illegal))?;
    check_keys(&state, keys)?;
    let before = of(&rows, Subject::trust()).filter(|row| row.seq < state.minted);
    let trust = Trust::fold(checkpoint.book, &before.cloned().collect::<Vec<_>>());
    // By now it is known that there is no flaw.
    let signers = trust.signers(&state.grant).unwrap_or_default();
    let attempt = |id| Attempt::fold(id, of(&rows, Subject::discharge(id)));
    Ok(Proven {
        checkpoint,
        book_key,
        mode: trust.mode,
        signers: signers.into_iter().cloned().collect(),
        attempts: state.claims.iter().filter_map(|claim| attempt(claim.discharge)).collect(),
        grant: state,
    })
}

/// Reads the file, whose bytes must be those that we would have written. The LF at its end may be missing.
fn read(bytes: &[u8]) -> Result<Proof, Failed> {
    if bytes.len() > MAX_PROOF {
        return Err(Failed::Unusable(format!("it has over {MAX_PROOF} bytes")));
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|e| Failed::Unusable(e.to_string()))?;
    if value.get("kind").and_then(Value::as_str) != Some("granted-proof/1") {
        return Err(Failed::Unusable("its kind is not `granted-proof/1`".into()));
    }
    let proof: Proof = serde_json::from_slice(bytes).map_err(|e| Invalid::new(Check::Form, e))?;
    let text = proof.to_text();
    match text.as_bytes() == bytes || text.strip_suffix('\n').map(str::as_bytes) == Some(bytes) {
        true => Ok(proof),
        false => Err(Invalid::new(Check::Form, "it is not in canonical form").into()),
    }
}

/// The checkpoint, if the key of its book signed it.
fn signed(proof: &Proof) -> Result<(Verified, Verifier), Invalid> {
    let invalid = |e| Invalid::new(Check::Checkpoint, e);
    let claimed = Claimed::parse(&proof.checkpoint).map_err(invalid)?;
    let key = checkpoint::verifier(claimed.book(), &proof.key).map_err(invalid)?;
    Ok((claimed.verify(&key).map_err(invalid)?, key))
}

fn check_inclusion(proof: &Proof, checkpoint: &Verified) -> Result<(), Invalid> {
    let leaf = |(seq, line): &(u64, String)| {
        Some((seq.checked_sub(1)?, leaf(&Digest::of(line.as_bytes()).0)))
    };
    let leaves: Option<Vec<_>> = proof.rows.iter().map(leaf).collect();
    let hashes: Vec<Digest> = proof.hashes.iter().map(|hash| hash.0).collect();
    let root = leaves.and_then(|leaves| root_of(&leaves, checkpoint.size, &hashes));
    match root == Some(checkpoint.root) {
        true => Ok(()),
        false => {
            let cause = "the rows and hashes do not lead to the root of the checkpoint";
            Err(Invalid::new(Check::Inclusion, cause))
        }
    }
}

fn rows(proof: &Proof) -> Result<Vec<Row>, Invalid> {
    let row = |(seq, line): &(u64, String)| {
        let invalid = |cause| Invalid::new(Check::Rows, format_args!("row {seq}: {cause}"));
        match Row::parse(line.as_bytes()) {
            Ok(row) if row.seq == *seq => Ok(row),
            Ok(_) => Err(invalid("it has another number".to_owned())),
            Err(e) => Err(invalid(e.to_string())),
        }
    };
    proof.rows.iter().map(row).collect()
}

/// The grant, of which one of the rows says that it was minted.
fn minted(proof: &Proof, checkpoint: &Verified, rows: &[Row]) -> Result<GrantState, Invalid> {
    let invalid = |cause| Invalid::new(Check::Grant, cause);
    let state = GrantState::fold(of(rows, Subject::grant(proof.grant)));
    let state = state.ok_or_else(|| invalid("no row mints it"))?;
    match &state.grant {
        grant if grant.id != proof.grant => Err(invalid("its row mints another")),
        grant if grant.book != checkpoint.book => {
            Err(invalid("it is of another book than the checkpoint"))
        }
        _ => Ok(state),
    }
}

/// What a proof is about: the grant, the attempts that claimed it, and what the book trusts.
fn subjects(state: &GrantState) -> Vec<Subject> {
    let attempts = state.claims.iter().map(|claim| Subject::discharge(claim.discharge));
    [Subject::grant(state.grant.id), Subject::trust()].into_iter().chain(attempts).collect()
}

fn check_keys(state: &GrantState, keys: &[PublicKey]) -> Result<(), Invalid> {
    let statement = Statement::grant(&state.grant);
    for key in keys {
        let signatures = &state.grant.signatures;
        if !signatures.iter().any(|signature| signature.verify(key, &statement).is_ok()) {
            let cause = format!("{} did not sign the grant", key.fingerprint());
            return Err(Invalid::new(Check::Key, cause));
        }
    }
    Ok(())
}

/// The rows that move a subject.
fn of(rows: &[Row], subject: Subject) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.moves(&subject).is_some())
}
