//! What is signed: the bytes of every signature are built here.
//!
//! A statement is canonical JSON (RFC 8785) in the pre-authentication encoding of DSSE v1 under a
//! payload type of its purpose, so that what was signed for one purpose is never valid for another.
//! Each names its book, and what else makes it good only once: a grant its id, the others the row
//! that they come after.

use serde::Serialize;

use super::key::PublicKey;
use crate::decision::Grant;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::event::What;
use crate::text::{Name, Note};
use crate::write::direct::{self, DirectGrant};

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A grant.
    Decision,
    /// Which keys are trusted, and whether signatures are asked for.
    Trust,
    /// What `ledger accept` accepts.
    Accept,
    /// The person's word on an uncertain outcome.
    Resolve,
    /// A direct grant.
    DirectWrite,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Purpose; 5] = [
        Purpose::Decision,
        Purpose::Trust,
        Purpose::Accept,
        Purpose::Resolve,
        Purpose::DirectWrite,
    ];

    /// The payload type.
    pub fn payload_type(self) -> &'static str {
        match self {
            Purpose::Decision => "application/vnd.granted.decision.v1+json",
            Purpose::Trust => "application/vnd.granted.trust.v1+json",
            Purpose::Accept => "application/vnd.granted.accept.v1+json",
            Purpose::Resolve => "application/vnd.granted.resolve.v1+json",
            Purpose::DirectWrite => direct::PURPOSE_TAG,
        }
    }

    /// The namespace of signatures in OpenSSH's form: what `ssh-keygen -Y sign -n` is given.
    pub fn namespace(self) -> &'static str {
        match self {
            Purpose::Decision => "granted.decision.v1",
            Purpose::Trust => "granted.trust.v1",
            Purpose::Accept => "granted.accept.v1",
            Purpose::Resolve => "granted.resolve.v1",
            Purpose::DirectWrite => "granted.direct-write.v1",
        }
    }
}

/// Something that a key signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    purpose: Purpose,
    payload: String,
}

/// The fields in canonical order.
#[derive(Serialize)]
struct TrustKey<'a> {
    book: Id,
    key: &'a PublicKey,
    last: u64,
    name: &'a Name,
}

#[derive(Serialize)]
struct OpenMode {
    book: Id,
    last: u64,
    mode: &'static str,
}

#[derive(Serialize)]
struct Accept<'a> {
    book: Id,
    by: &'a Note,
    prev: Digest,
    reason: &'a Note,
    what: &'a [What],
}

#[derive(Serialize)]
struct Resolve<'a> {
    book: Id,
    by: &'a Note,
    discharge: Id,
    happened: bool,
    last: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a Note>,
}

impl Statement {
    fn new(purpose: Purpose, payload: &impl Serialize) -> Statement {
        // Serialising these to a String cannot fail.
        Statement { purpose, payload: serde_json::to_string(payload).unwrap_or_default() }
    }

    /// A grant: every field that is fixed when it is minted.
    pub fn grant(grant: &Grant) -> Statement {
        let bare = Grant { signatures: Vec::new(), ..grant.unspent() };
        Statement::new(Purpose::Decision, &bare)
    }

    /// Reads the bytes of [`Statement::grant`] back, to the letter.
    pub fn read_grant(bytes: &[u8]) -> Option<Grant> {
        let text = std::str::from_utf8(bytes).ok()?;
        let grant: Grant = serde_json::from_str(text.get(text.find('{')?..)?).ok()?;
        (Statement::grant(&grant).bytes() == bytes).then_some(grant)
    }

    /// A direct grant: every field of it.
    pub fn direct(grant: &DirectGrant) -> Statement {
        Statement::new(Purpose::DirectWrite, grant)
    }

    /// Reads the bytes of [`Statement::direct`] back, to the letter.
    pub fn read_direct(bytes: &[u8]) -> Option<DirectGrant> {
        let text = std::str::from_utf8(bytes).ok()?;
        let grant: DirectGrant = serde_json::from_str(text.get(text.find('{')?..)?).ok()?;
        (Statement::direct(&grant).bytes() == bytes).then_some(grant)
    }

    /// That this book, whose trust was last moved by the row `last`, trusts a key under this name.
    pub fn trust(book: Id, last: u64, key: &PublicKey, name: &Name) -> Statement {
        Statement::new(Purpose::Trust, &TrustKey { book, key, last, name })
    }

    /// That this book, whose trust was last moved by the row `last`, asks for no signatures any more.
    pub fn open(book: Id, last: u64) -> Statement {
        Statement::new(Purpose::Trust, &OpenMode { book, last, mode: "open" })
    }

    /// That this is accepted of a ledger whose last row that stays has the digest `prev`.
    pub fn accept(book: Id, prev: Digest, by: &Note, reason: &Note, what: &[What]) -> Statement {
        Statement::new(Purpose::Accept, &Accept { book, by, prev, reason, what })
    }

    /// What the person found of an attempt, which was last moved by the row `last`.
    pub fn resolve(
        book: Id,
        discharge: Id,
        last: u64,
        happened: bool,
        by: &Note,
        note: Option<&Note>,
    ) -> Statement {
        Statement::new(Purpose::Resolve, &Resolve { book, by, discharge, happened, last, note })
    }

    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The statement as a person reads it: canonical JSON.
    pub fn payload(&self) -> &str {
        &self.payload
    }

    /// The bytes that are signed: `DSSEv1`, the payload type and the payload, each with its length
    /// before it, by single spaces.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, payload) = (self.purpose.payload_type(), &self.payload);
        format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len()).into_bytes()
    }

    /// The digest of [`Statement::bytes`]: what the person compares.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes())
    }
}
