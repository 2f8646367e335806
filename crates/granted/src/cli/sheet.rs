//! Grants described by files: `mint --from` and `mint --sheet`.

use std::path::{Path, PathBuf};

use granted_core::decision::{Kind, Object, Use};
use granted_core::json::Json;
use granted_core::text::{Name, Note, Words};
use granted_core::time::Stamp;
use serde::Deserialize;
use serde_json::error::Category;

use super::args::duration;
use super::asked::Asked;
use super::failure::Failure;
use crate::files;

/// The most bytes of a document or of a line.
const MAX_DOCUMENT: u64 = 64 * 1024;
/// The most bytes of a sheet.
const MAX_SHEET: u64 = 64 * 1024 * 1024;
/// The most lines of a sheet: they become one append, all or nothing.
const MAX_LINES: usize = 100_000;

/// A grant as a person writes it: the document's field names, and the short forms of the flags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    object: Object,
    kind: Option<Kind>,
    decision: Option<Use>,
    scope: Option<Words>,
    not_scope: Option<Vec<Note>>,
    allowed_actions: Option<Vec<Name>>,
    allow: Option<Vec<Name>>,
    not_before: Option<Stamp>,
    not_after: Option<Stamp>,
    r#for: Option<String>,
    minted_by: Option<Note>,
    executor: Option<Name>,
    bind_executor: Option<Name>,
    agent: Option<Name>,
    bind: Option<Vec<PathBuf>>,
    // What only minting and discharging write: it must not be claimed in advance.
    minted_at: Option<Json>,
    consumed: Option<Json>,
    consumed_at: Option<Json>,
    receipt: Option<Json>,
}

/// Reads a document that was written by hand.
pub(crate) fn read_document(path: &Path, defaults: &Asked) -> Result<Asked, Failure> {
    let bytes = read(path, MAX_DOCUMENT)?;
    if bytes.starts_with(b"DSSEv1 ") {
        let message = format!("`{}` is to be signed before it is minted", path.display());
        return Err(Failure::usage(message).hint("name its signature: --signature"));
    }
    let asked = asked(&bytes, defaults, false);
    asked.map_err(|e| Failure::usage(format!("`{}`: {e}", path.display())))
}

/// Reads a sheet: the grants with the number of the line that each stands on. Blank lines count but
/// are skipped.
pub(crate) fn read_sheet(path: &Path, defaults: &Asked) -> Result<Vec<(usize, Asked)>, Failure> {
    let bytes = read(path, MAX_SHEET)?;
    let mut sheet = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = index.saturating_add(1);
        let on_line =
            |e: String| Failure::usage(format!("`{}` line {number}: {e}", path.display()));
        sheet.push((number, asked(line, defaults, true).map_err(on_line)?));
    }
    match sheet.len() {
        0 => Err(Failure::usage(format!("`{}` holds no grant", path.display()))),
        1..=MAX_LINES => Ok(sheet),
        n => Err(Failure::usage(format!(
            "`{}` holds {n} grants; a sheet has at most {MAX_LINES}",
            path.display()
        ))
        .hint("split it: each sheet is minted whole or not at all")),
    }
}

fn read(path: &Path, max: u64) -> Result<Vec<u8>, Failure> {
    let missing = || Failure::input(format!("`{}`: there is no such file", path.display()));
    // A link is fine here: nothing is read from this path again.
    let real = path.canonicalize().map_err(|_| missing())?;
    files::read(&real, max).map_err(Failure::input)?.ok_or_else(missing)
}

/// What one document or line asks for, the defaults filled in. A sheet's grants are single-use.
fn asked(bytes: &[u8], defaults: &Asked, sheet: bool) -> Result<Asked, String> {
    let written: Written = serde_json::from_slice(bytes).map_err(|e| {
        let why = e.to_string();
        let why = match sheet {
            // The sheet has lines of its own.
            true => why.replace(" at line 1 column ", " at column "),
            false => why,
        };
        match e.classify() {
            Category::Data => why,
            _ => format!("it is no JSON: {why}"),
        }
    })?;
    if sheet && written.decision == Some(Use::Session) {
        return Err("a sheet mints single-use grants only".into());
    }
    let claimed = [
        ("minted_at", &written.minted_at),
        ("consumed", &written.consumed),
        ("consumed_at", &written.consumed_at),
        ("receipt", &written.receipt),
    ];
    for (field, value) in claimed {
        if !matches!(value, None | Some(Json::Null | Json::Bool(false))) {
            return Err(format!("`{field}` is written by granted; leave it out"));
        }
    }
    if written.kind.is_none() && !sheet {
        return Err("`kind` is missing: it is granted/1".into());
    }
    if written.allowed_actions.is_some() && written.allow.is_some() {
        return Err("`allow` and `allowed_actions` say the same; give one".into());
    }
    if written.executor.is_some() && written.bind_executor.is_some() {
        return Err("`bind_executor` names the executor already; leave `executor` out".into());
    }
    let own_executor = written.executor.is_some() || written.bind_executor.is_some();
    let length = written.r#for.as_deref().map(duration).transpose()?;
    let own_end = written.not_after.is_some() || length.is_some();
    Ok(Asked {
        r#type: Some(written.object.r#type),
        id: Some(written.object.id),
        by: written.minted_by.or_else(|| defaults.by.clone()),
        not_after: if own_end { written.not_after } else { defaults.not_after },
        length: if own_end { length } else { defaults.length },
        not_before: written.not_before.or(defaults.not_before),
        decision: written.decision.unwrap_or(defaults.decision),
        scope: written.scope.or_else(|| defaults.scope.clone()),
        not_scope: written.not_scope.unwrap_or_else(|| defaults.not_scope.clone()),
        allow: written.allowed_actions.or(written.allow).unwrap_or_else(|| defaults.allow.clone()),
        executor: if own_executor { written.executor } else { defaults.executor.clone() },
        bind_executor: match own_executor {
            true => written.bind_executor,
            false => defaults.bind_executor.clone(),
        },
        bind: written.bind.unwrap_or_else(|| defaults.bind.clone()),
        agent: written.agent.or_else(|| defaults.agent.clone()),
        again: defaults.again,
    })
}
