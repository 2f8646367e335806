//! The grant's document: the file that a person can read, move or delete.
//!
//! It can only narrow. It is the grant as it was issued and never changes; one that is missing, was
//! edited or belongs to another agent, network or book makes the grant of no use until it is put back.

use serde_json::Value;

use super::SpendGrant;
use crate::decision::document::{Document, DocumentName};

/// The folder of the documents, in the folder of their network.
pub const FOLDER: &str = "grants";

/// Where the document of an agent's grant lies, below its network's folder.
pub fn name(grant: &super::AgentName) -> DocumentName {
    DocumentName::at(FOLDER, format!("{}.json", grant.as_str()))
}

/// The document's text: one field a line.
pub fn render(grant: &SpendGrant) -> String {
    // A grant is a struct of serialisable fields, so it always becomes an object.
    let fields = match serde_json::to_value(grant) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let lines: Vec<String> =
        fields.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// What a document says of a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the grant as it was issued.
    Agrees,
    /// There is none.
    Missing,
    /// It is not readable, or another grant. Says what.
    Unreadable(String),
}

/// Holds a document against the grant as it was issued.
pub fn standing(document: &Document, issued: &SpendGrant) -> Standing {
    let bytes = match document {
        Document::Missing => return Standing::Missing,
        Document::Unreadable(why) => return Standing::Unreadable(why.clone()),
        Document::Bytes(bytes) => bytes,
    };
    match serde_json::from_slice::<SpendGrant>(bytes) {
        Ok(read) if read == *issued => Standing::Agrees,
        Ok(read) if read.network != issued.network => {
            Standing::Unreadable(format!("it is a grant of {}", read.network))
        }
        Ok(read) if read.grant_id != issued.grant_id => {
            Standing::Unreadable("it is another grant than the one that was issued last".into())
        }
        Ok(_) => Standing::Unreadable("it was changed since it was issued".into()),
        Err(e) => Standing::Unreadable(format!("it is no grant: {e}")),
    }
}
