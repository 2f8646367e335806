//! The grant document: the file that a person can read, move or delete.
//!
//! It can only narrow. What it says is compared with the grant as it was minted; it never adds to
//! it.

use std::fmt;

use serde_json::Value;

use super::{Grant, Object};
use crate::digest::Digest;
use crate::id::Id;

/// The most bytes that a document may have.
pub const MAX_DOCUMENT: usize = 64 * 1024;

/// Where a grant's document lies below the documents' folder: `TYPE/ID~GRANT.json`, its parts
/// encoded so that they are file names everywhere. Nothing is found by parsing it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentName {
    folder: String,
    file: String,
}

impl DocumentName {
    /// The name for a grant of this object.
    pub fn new(object: &Object, grant: Id) -> DocumentName {
        let id = bounded(encode(object.id.as_str()), object.id.as_str());
        DocumentName { folder: encode(object.r#type.as_str()), file: format!("{id}~{grant}.json") }
    }

    /// A document of another shape, at a place whose names are plain.
    pub(crate) fn at(folder: &str, file: String) -> DocumentName {
        DocumentName { folder: folder.to_owned(), file }
    }

    /// The folder's name.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.folder, self.file)
    }
}

/// Writes every byte outside `A-Za-z0-9._-`, and a leading dot, as `%XX`.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'.' if index == 0 => encoded.push_str("%2E"),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// An encoded id over 180 bytes becomes its first 140, `~`, and 32 digits of the id's SHA-256: file
/// names end at 255 bytes.
fn bounded(encoded: String, id: &str) -> String {
    if encoded.len() <= 180 {
        return encoded;
    }
    let digest = Digest::of(id.as_bytes()).to_string();
    // Both texts are ASCII, so every byte offset is a character's.
    let (head, hash) = (encoded.get(..140), digest.get(..32));
    format!("{}~{}", head.unwrap_or_default(), hash.unwrap_or_default())
}

/// The order in which a document shows its fields: as a person would tell it.
const ORDER: [&str; 20] = [
    "kind",
    "id",
    "book",
    "decision",
    "object",
    "scope",
    "not_scope",
    "allowed_actions",
    "executor",
    "executor_bound",
    "agent",
    "binds",
    "not_before",
    "not_after",
    "minted_by",
    "minted_at",
    "signatures",
    "consumed",
    "consumed_at",
    "receipt",
];

/// The document's text: one field a line.
pub fn render(grant: &Grant) -> String {
    // A grant is a struct of serialisable fields, so it always becomes an object.
    let fields = match serde_json::to_value(grant) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let lines: Vec<String> = ORDER
        .iter()
        .filter_map(|key| fields.get(*key).map(|value| format!("  \"{key}\": {value}")))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// What lies where a document should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Nothing.
    Missing,
    /// Something that is not read: a link, a FIFO, a directory, too large. Says what.
    Unreadable(String),
    /// A regular file of at most 64 KiB.
    Bytes(Vec<u8>),
}

/// What a document says about the grant that was minted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It agrees: the grant as minted, unspent.
    Agrees,
    /// It says that the grant is spent.
    Spent,
    /// There is none.
    Missing,
    /// It is not readable, or a field that is fixed at mint differs. Says what.
    Unreadable(String),
}

/// Holds a document against the grant as it was minted.
pub fn standing(document: &Document, minted: &Grant) -> Standing {
    let bytes = match document {
        Document::Missing => return Standing::Missing,
        Document::Unreadable(why) => return Standing::Unreadable(why.clone()),
        Document::Bytes(bytes) => bytes,
    };
    let read: Grant = match serde_json::from_slice(bytes) {
        Ok(read) => read,
        Err(e) => return Standing::Unreadable(format!("it is no grant: {e}")),
    };
    if read.unspent() != minted.unspent() {
        return Standing::Unreadable("a field that is fixed at mint was changed".into());
    }
    match (read.consumed, read.consumed_at, read.receipt) {
        (true, _, _) => Standing::Spent,
        (false, None, None) => Standing::Agrees,
        (false, _, _) => {
            Standing::Unreadable("it is unspent but has a receipt or a time of use".into())
        }
    }
}
