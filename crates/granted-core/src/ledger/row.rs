//! One row: its fields, its canonical line, and reading it back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Event, Subject};
use crate::digest::Digest;
use crate::json::{self, MAX_INT};
use crate::text::Name;
use crate::time::{Stamp, six_digits};

/// The most bytes that a line may have, without its LF.
pub const MAX_LINE: usize = 64 * 1024;

/// The version of the row format.
pub const VERSION: u64 = 1;

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it was written: never earlier than the row before, except after an accepted clock.
    pub at: Stamp,
    /// What happened; the row's `kind` and `body`.
    pub event: Event,
    /// Through which door it came.
    pub by: By,
    /// The row's place in its append, as `[i, n]`, if the append has several rows.
    pub of: Option<(u64, u64)>,
    /// The digest of the line before; zeros in the first row.
    pub prev: Digest,
    /// The subjects that the row moves, the owner first, each with the `seq` of the row that moved
    /// it before (0: none).
    pub refs: Vec<(Subject, u64)>,
    /// The line's number, from 1.
    pub seq: u64,
}

/// Who wrote a row, as far as the process can say; evidence, not proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct By {
    /// The agent's name, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Name>,
    /// The door.
    pub door: Door,
    /// The host's name.
    pub host: Box<str>,
    /// The real user id of the process.
    pub uid: u32,
}

/// Through what a row came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// The command line.
    Cli,
    /// A program that uses the library.
    Library,
    /// An agent's client, by the Model Context Protocol.
    Mcp,
}

/// The last row, as far as the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number.
    pub seq: u64,
    /// Its time.
    pub at: Stamp,
    /// The digest of its line.
    pub hash: Digest,
}

/// Why a line is no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A kind or a version that this program does not know.
    #[error("written by a newer granted: {0}")]
    Newer(String),
    /// It is not the canonical form of a row.
    #[error("{0}")]
    Malformed(String),
}

/// The line in the order of its keys, to be written.
#[derive(Serialize)]
struct Out<'a> {
    #[serde(with = "six_digits")]
    at: Stamp,
    body: &'a Event,
    by: &'a By,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<(u64, u64)>,
    prev: Digest,
    refs: &'a [(Subject, u64)],
    seq: u64,
    v: u64,
}

/// The line as it is read: the body waits until the kind is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct In<'a> {
    #[serde(with = "six_digits")]
    at: Stamp,
    #[serde(borrow)]
    body: &'a RawValue,
    by: By,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    of: Option<(u64, u64)>,
    prev: Digest,
    refs: Vec<(Subject, u64)>,
    #[serde(deserialize_with = "json::int")]
    seq: u64,
    v: u64,
}

/// What must be readable of any row, also of a newer one.
#[derive(Deserialize)]
struct Label<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    v: u64,
}

/// What the chain needs of a line: cheaper to read than the whole row.
#[derive(Deserialize)]
pub struct Link {
    /// When it was written.
    pub at: Stamp,
    /// Its place in its append.
    #[serde(default)]
    pub of: Option<(u64, u64)>,
    /// The digest of the line before.
    pub prev: Digest,
    /// Its number.
    pub seq: u64,
}

/// What an index needs of a line: the subjects that it moves, also where a newer program wrote it.
#[derive(Deserialize)]
pub struct Moves {
    /// Its place in its append.
    #[serde(default)]
    pub of: Option<(u64, u64)>,
    /// The subjects' texts, each with the seq of the row that moved it before.
    pub refs: Vec<(Box<str>, u64)>,
    /// Its number.
    pub seq: u64,
}

/// A line that does not parse. It is one line to the parser, and another one of the ledger.
fn no_row(error: &serde_json::Error) -> RowError {
    let why = error.to_string().replace(" at line 1 column ", " at column ");
    RowError::Malformed(format!("it is no row: {why}"))
}

impl Moves {
    /// Reads the subjects; the rest of the line is only checked to be JSON.
    pub fn parse(line: &[u8]) -> Result<Moves, RowError> {
        if line.len() > MAX_LINE {
            return Err(RowError::Malformed("it has over 65536 bytes".into()));
        }
        serde_json::from_slice(line).map_err(|e| no_row(&e))
    }
}

impl Link {
    /// Reads what the chain needs; the rest of the line is only checked to be JSON.
    pub fn parse(line: &[u8]) -> Result<Link, RowError> {
        if line.len() > MAX_LINE {
            return Err(RowError::Malformed("it has over 65536 bytes".into()));
        }
        serde_json::from_slice(line).map_err(|e| no_row(&e))
    }
}

impl Row {
    /// The canonical line, without its LF.
    pub fn line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(640);
        self.write_line(&mut line);
        line
    }

    /// Puts the canonical line, without its LF, behind what the buffer holds.
    pub fn write_line(&self, buffer: &mut Vec<u8>) {
        let out = Out {
            at: self.at,
            body: &self.event,
            by: &self.by,
            kind: self.event.kind(),
            of: self.of,
            prev: self.prev,
            refs: &self.refs,
            seq: self.seq,
            v: VERSION,
        };
        // Writing to a Vec cannot fail, and every type here serialises.
        let _ = serde_json::to_writer(buffer, &out);
    }

    /// Reads a line: known kind, right types, bounds, and exactly the canonical bytes.
    pub fn parse(line: &[u8]) -> Result<Row, RowError> {
        Row::parse_with(line, &mut Vec::new())
    }

    /// As [`Row::parse`], with a buffer to write the canonical form to, for many rows in turn.
    pub fn parse_with(line: &[u8], scratch: &mut Vec<u8>) -> Result<Row, RowError> {
        if line.len() > MAX_LINE {
            return Err(RowError::Malformed("it has over 65536 bytes".into()));
        }
        // Checked as a whole, so that not every string is checked on its own.
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(RowError::Malformed("it is not UTF-8".into()));
        };
        let parsed: Result<In<'_>, _> = serde_json::from_str(text);
        let read = match parsed {
            Ok(read) if read.v == VERSION => read,
            other => return Err(newer_or_malformed(line, other.err())),
        };
        let event = match Event::parse(&read.kind, read.body) {
            None => return Err(RowError::Newer(format!("kind `{}`", read.kind.escape_debug()))),
            Some(event) => event.map_err(|e| RowError::Malformed(format!("its body: {e}")))?,
        };
        let numbers = read.of.iter().flat_map(|(i, n)| [*i, *n]);
        if numbers.chain(read.refs.iter().map(|r| r.1)).any(|number| number > MAX_INT) {
            return Err(RowError::Malformed("an integer is beyond 2^53-1".into()));
        }
        let row = Row {
            at: read.at,
            event,
            by: read.by,
            of: read.of,
            prev: read.prev,
            refs: read.refs,
            seq: read.seq,
        };
        scratch.clear();
        row.write_line(scratch);
        if scratch != line {
            return Err(RowError::Malformed("it is not in canonical form".into()));
        }
        Ok(row)
    }

    /// The seq of the row that moved this subject before, if this one moves it.
    pub fn moves(&self, subject: &Subject) -> Option<u64> {
        self.refs.iter().find(|(moved, _)| moved == subject).map(|(_, before)| *before)
    }
}

fn newer_or_malformed(line: &[u8], error: Option<serde_json::Error>) -> RowError {
    let malformed = |e: serde_json::Error| no_row(&e);
    match serde_json::from_slice::<Label<'_>>(line) {
        Ok(label) if label.v > VERSION => {
            RowError::Newer(format!("version {}, kind `{}`", label.v, label.kind.escape_debug()))
        }
        Ok(label) if !Event::KINDS.contains(&label.kind.as_ref()) => {
            RowError::Newer(format!("kind `{}`", label.kind.escape_debug()))
        }
        Ok(_) => error.map_or(RowError::Malformed("its version is 0".into()), malformed),
        Err(e) => malformed(e),
    }
}
