//! Direct grants: a person signs, for a time and for so many files, that one agent's changes land at once.
//!
//! The names of the functions and the caps are those of the reference; they are pure, over bytes, rows and
//! `now`. Those that read files bear the same names in `granted`.

pub mod sign;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::agent::Agent;
use super::brief::{self, AgentEntry, Approval, Brief, Dispatch, GateEntry, Tool};
use super::event::DirectGranted;
use super::pattern::{Reach, Scope};
use super::project::Project;
use crate::digest::Digest;
use crate::id::Id;
use crate::json::{self, Json};
use crate::ledger::{Event, Row};
use crate::text::Name;
use crate::time::Stamp;
use crate::trust::state::SignatureError;
use crate::trust::{KeyId, PublicKey, SecretKey, Signature, Statement, Trust};

/// The payload type under which a direct grant is signed: a signature for anything else is none for it.
pub const PURPOSE_TAG: &str = "application/vnd.granted.direct-write.v1+json";
/// The folder of the grants files, in the home.
pub const GRANTS_DIR: &str = "direct-grants";
/// The folder of the trusted keys, in the home. What is trusted is a fold of rows; the files are copies.
pub const VERIFY_KEYS_DIR: &str = "keys";
/// How many direct grants of a project may be active. With more, none is honoured.
pub const MAX_ACTIVE: usize = 3;
/// For how many days a direct grant may be signed.
pub const MAX_DAYS: u64 = 30;
/// How many files may be written under one.
pub const MAX_WRITES: u64 = 500;
/// For how many hours the nonce of a direct write is good.
pub const DIRECT_TTL_HOURS: u64 = 4;
/// For how many change sets it is good.
pub const DIRECT_MAX_USES: u32 = 10;
/// The most bytes of a grants file.
pub const MAX_FILE: usize = 256 * 1024;

/// The server that a direct grant names.
pub const SERVER: &str = "granted writes mcp";
/// The version of what its tools mean.
pub const MAP_VERSION: &str = "1";
/// How far ahead of the clock a grant may have been issued.
const AHEAD: Duration = Duration::from_secs(300);

/// A direct grant. Every field is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectGrant {
    /// Whose changes land at once.
    pub agent: Agent,
    /// Always `direct`.
    pub approval: AlwaysDirect,
    /// The book in which it is good.
    pub book: Id,
    /// The end, exclusive.
    pub expires: Stamp,
    /// Every gate of the brief, by the digest of its definition and of each file that it names.
    #[serde(deserialize_with = "gates")]
    pub gates: BTreeMap<Name, Digest>,
    /// Its id.
    pub grant_id: Id,
    /// When it was signed.
    pub issued: Stamp,
    /// The key that signs it.
    pub key_id: KeyId,
    /// What the tools mean.
    pub map_version: Box<str>,
    /// How many files may be written.
    #[serde(deserialize_with = "json::int")]
    pub max_writes: u64,
    /// Where.
    pub project: Project,
    /// The server that enforces it.
    pub server: Box<str>,
    /// The digest of that server's program.
    pub server_sha256: Digest,
    /// The agent's tools, in their order.
    pub tools: Vec<Tool>,
    /// The agent's write scopes, sorted.
    pub write_scopes: Vec<Box<str>>,
}

/// The word `direct`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlwaysDirect {
    /// At once.
    Direct,
}

/// Reads gates by plain names: others may sort differently in UTF-8 and in the canonical form.
fn gates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Name, Digest>, D::Error> {
    let gates: BTreeMap<Name, Digest> = BTreeMap::deserialize(deserializer)?;
    match gates.keys().find(|name| !brief::is_gate_name(name)) {
        Some(name) => Err(D::Error::custom(format!("`{name}` is no name of a gate"))),
        None => Ok(gates),
    }
}

/// A direct grant as it lies in the grants file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectRecord {
    /// What was signed.
    pub grant: DirectGrant,
    /// By whom. Nobody has verified it.
    pub signature: Signature,
}

/// A direct grant that was verified: its signature, its row, what it binds, its times and caps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedGrant {
    grant: DirectGrant,
    last: u64,
    used: u64,
}

impl VerifiedGrant {
    /// The grant.
    pub fn grant(&self) -> &DirectGrant {
        &self.grant
    }

    /// The seq of the last row that moved it.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// How many files were written under it, by the ledger.
    pub fn used(&self) -> u64 {
        self.used
    }
}

/// What the installed program is: the part of a grant's binding that no brief says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The digest of the program that enforces.
    pub server_sha256: Digest,
    /// Every gate of the brief by its identity; an error where that cannot be told.
    pub gates: BTreeMap<Name, Result<Digest, String>>,
}

/// What a direct grant for an agent must bind, from the brief as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// As the grant's field.
    pub gates: BTreeMap<Name, Digest>,
    /// As the grant's field.
    pub server_sha256: Digest,
    /// As the grant's field.
    pub tools: Vec<Tool>,
    /// As the grant's field.
    pub write_scopes: Vec<Box<str>>,
}

/// Why a direct grant is not honoured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is no list of grants.
    #[error("the grants file: {0}")]
    File(String),
    /// Nothing in the ledger says that it was signed here, or it says something else.
    #[error("direct grant {0} is not the one that the ledger has")]
    NoRow(Id),
    /// It was signed into force before.
    #[error("direct grant {0} was signed into force before")]
    Known(Id),
    /// The clock is behind the ledger.
    #[error("{0}")]
    Clock(String),
    /// The ledger cannot be relied on to say how much of a grant is used.
    #[error("{0}")]
    Ledger(String),
    /// The person took it back.
    #[error("direct grant {0} is revoked")]
    Revoked(Id),
    /// A damaged ledger that had more to say of it was accepted.
    #[error("direct grant {0} was closed when a damaged ledger was accepted")]
    Closed(Id),
    /// It was signed for another project or book.
    #[error("direct grant {0} is of another {1}")]
    Elsewhere(Id, &'static str),
    /// Its signature does not count.
    #[error("direct grant {0}: {1}")]
    Signature(Id, SignatureError),
    /// The brief does not ask for it.
    #[error("the brief does not ask for direct writes of agent `{0}`")]
    NotAsked(Agent),
    /// What it binds has changed.
    #[error("direct grant {0}: {1} changed since it was signed; sign again to allow it")]
    Drift(Id, String),
    /// A gate cannot be identified.
    #[error("gate `{0}`: {1}")]
    Gate(Name, String),
    /// A scope is not covered.
    #[error("no gate is proven to look at all of scope `{0}`")]
    Uncovered(String),
    /// There is no scope.
    #[error("agent `{0}` has no write scope")]
    NoScope(Agent),
    /// It has ended.
    #[error("direct grant {0} has expired")]
    Expired(Id),
    /// Its window is longer than it may be, empty, or begins ahead of the clock.
    #[error("direct grant {0}: {1}")]
    Window(Id, &'static str),
    /// Its cap is out of range.
    #[error("direct grant {0}: max_writes is 1 to {MAX_WRITES}")]
    Cap(Id),
    /// Its files are written.
    #[error("direct grant {0} is used up: {1} of {2} files written")]
    Spent(Id, u64, u64),
    /// Two grants for one agent.
    #[error("agent `{0}` has two direct grants in force, so neither is honoured")]
    Two(Agent),
    /// More than may be.
    #[error("{0} direct grants are in force and {MAX_ACTIVE} may be, so none is honoured")]
    TooMany(usize),
}

impl Problem {
    /// Whether it is about this grant alone, or about those of its agent.
    pub fn is_about(&self, grant: &DirectGrant) -> bool {
        match self {
            Problem::NoRow(id)
            | Problem::Known(id)
            | Problem::Revoked(id)
            | Problem::Closed(id)
            | Problem::Elsewhere(id, _)
            | Problem::Signature(id, _)
            | Problem::Drift(id, _)
            | Problem::Expired(id)
            | Problem::Window(id, _)
            | Problem::Cap(id)
            | Problem::Spent(id, ..) => *id == grant.grant_id,
            Problem::NotAsked(agent) | Problem::NoScope(agent) | Problem::Two(agent) => {
                *agent == grant.agent
            }
            Problem::Gate(..) => true,
            Problem::Uncovered(scope) => grant.write_scopes.iter().any(|own| **own == **scope),
            Problem::File(_) | Problem::Clock(_) | Problem::Ledger(_) | Problem::TooMany(_) => {
                false
            }
        }
    }
}

/// The grants file of a project, relative to the home: `direct-grants/<basename>-<12 hex>.json`.
pub fn grants_file_for(project: &Project) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String =
        project.basename().chars().map(|c| if plain(c) { c } else { '_' }).take(64).collect();
    let key = project.key().to_string();
    format!("{GRANTS_DIR}/{name}-{}.json", key.get(..12).unwrap_or_default())
}

/// What is signed of a grant.
pub fn signed_values(grant: &DirectGrant) -> Statement {
    Statement::direct(grant)
}

/// Signs a grant with a key that the person opened.
pub fn sign_record(grant: DirectGrant, key: &SecretKey) -> DirectRecord {
    let signature = key.sign(&signed_values(&grant));
    DirectRecord { grant, signature }
}

/// Reads a grants file: a JSON list of records, without duplicate keys, and its digest. Nothing of it is
/// verified.
pub fn read_grants(bytes: &[u8]) -> Result<(Vec<DirectRecord>, Digest), Problem> {
    if bytes.len() > MAX_FILE {
        return Err(Problem::File(format!("it has over {MAX_FILE} bytes")));
    }
    let wrong = |e: serde_json::Error| Problem::File(e.to_string());
    // A map takes the last of two equal keys; this takes none.
    serde_json::from_slice::<Json>(bytes).map_err(wrong)?;
    Ok((serde_json::from_slice(bytes).map_err(wrong)?, Digest::of(bytes)))
}

/// What a grant for this agent must bind now.
pub fn expected_binding(agent: &Agent, policy: &Policy, brief: &Brief) -> Result<Binding, Problem> {
    let entry = brief.agents.get(agent).filter(|entry| entry.approval == Approval::Direct);
    let entry = entry.filter(|entry| entry.dispatch == Dispatch::Required);
    let entry = entry.ok_or_else(|| Problem::NotAsked(agent.clone()))?;
    check_covered(agent, entry, brief)?;
    let mut gates = BTreeMap::new();
    for (name, digest) in &policy.gates {
        let digest = digest.clone().map_err(|why| Problem::Gate(name.clone(), why))?;
        gates.insert(name.clone(), digest);
    }
    let mut write_scopes: Vec<Box<str>> =
        entry.write_scopes.iter().map(|scope| scope.as_str().into()).collect();
    write_scopes.sort_unstable();
    Ok(Binding {
        gates,
        server_sha256: policy.server_sha256,
        tools: entry.tools.clone(),
        write_scopes,
    })
}

fn check_covered(agent: &Agent, entry: &AgentEntry, brief: &Brief) -> Result<(), Problem> {
    uncovered(agent, entry, brief).into_iter().next().map_or(Ok(()), Err)
}

/// What keeps an agent's scopes from a direct grant: every one that is not one literal file must be one that
/// some gate provably looks at, all of it.
pub fn uncovered(agent: &Agent, entry: &AgentEntry, brief: &Brief) -> Vec<Problem> {
    if entry.write_scopes.is_empty() {
        return vec![Problem::NoScope(agent.clone())];
    }
    let looks_at = |scope: &Scope, (name, gate): (&Name, &GateEntry)| {
        entry.gates.contains(name) || gate.paths.iter().any(|reach: &Reach| reach.covers(scope))
    };
    let uncovered = entry.write_scopes.iter().filter(|scope| {
        !scope.is_one_file() && !brief.gates.iter().any(|gate| looks_at(scope, gate))
    });
    uncovered.map(|scope| Problem::Uncovered(scope.as_str().to_owned())).collect()
}

/// Everything that verifying a record needs beside the record.
pub struct Facts<'a> {
    /// The book.
    pub book: Id,
    /// The project.
    pub project: &'a Project,
    /// What the book trusts.
    pub trust: &'a Trust,
    /// What the installed program is.
    pub policy: &'a Policy,
    /// The brief.
    pub brief: &'a Brief,
    /// The time.
    pub now: Stamp,
}

/// Verifies a record against what is now. `rows` are those of `direct:ID`.
///
/// The order is that of the reference: signature, binding, bounds, times, caps.
pub fn verify(
    record: &DirectRecord,
    rows: &[Row],
    facts: &Facts<'_>,
) -> Result<VerifiedGrant, Problem> {
    let DirectRecord { grant, signature } = record;
    let id = grant.grant_id;
    if grant.book != facts.book {
        return Err(Problem::Elsewhere(id, "book"));
    }
    if grant.project != *facts.project {
        return Err(Problem::Elsewhere(id, "project"));
    }
    let bad = |e| Problem::Signature(id, e);
    if signature.key != grant.key_id {
        return Err(bad(SignatureError::Untrusted(signature.key)));
    }
    facts.trust.verify(&signed_values(grant), Some(signature)).map_err(bad)?;
    // The row is what makes it one of this book's, once; and what takes it back.
    match rows.first().map(|row| &row.event) {
        Some(Event::DirectGranted(DirectGranted { grant: signed, .. })) if signed == grant => {}
        _ => return Err(Problem::NoRow(id)),
    }
    if rows.iter().any(|row| matches!(row.event, Event::DirectRevoked(_))) {
        return Err(Problem::Revoked(id));
    }
    if rows.iter().any(|row| matches!(row.event, Event::Accepted(_))) {
        return Err(Problem::Closed(id));
    }
    check_binding(grant, &expected_binding(&grant.agent, facts.policy, facts.brief)?)?;
    check_terms(grant, facts.now)?;
    let verified = VerifiedGrant {
        grant: grant.clone(),
        last: rows.last().map_or(0, |row| row.seq),
        used: count_direct_writes(rows),
    };
    Ok(verified)
}

fn check_binding(grant: &DirectGrant, now: &Binding) -> Result<(), Problem> {
    let drift = |what: &str| Problem::Drift(grant.grant_id, what.to_owned());
    if &*grant.server != SERVER {
        return Err(drift("the server"));
    }
    if &*grant.map_version != MAP_VERSION {
        return Err(drift("what the tools mean"));
    }
    if grant.tools != now.tools {
        return Err(drift("`tools`"));
    }
    if grant.write_scopes != now.write_scopes {
        return Err(drift("`write_scopes`"));
    }
    if grant.server_sha256 != now.server_sha256 {
        return Err(drift("the installed granted"));
    }
    let names = grant.gates.keys().chain(now.gates.keys());
    match names.into_iter().find(|name| grant.gates.get(*name) != now.gates.get(*name)) {
        Some(name) => Err(drift(&format!("gate `{name}`"))),
        None => Ok(()),
    }
}

/// Checks the times and caps of a grant that is to be signed or used.
pub fn check_terms(grant: &DirectGrant, now: Stamp) -> Result<(), Problem> {
    let id = grant.grant_id;
    if !(1..=MAX_WRITES).contains(&grant.max_writes) {
        return Err(Problem::Cap(id));
    }
    if grant.expires <= grant.issued {
        return Err(Problem::Window(id, "it ends before it begins"));
    }
    if grant.expires.since(grant.issued) > Duration::from_secs(MAX_DAYS * 24 * 3_600) {
        return Err(Problem::Window(id, "it may last at most 30 days"));
    }
    if grant.issued > now.plus(AHEAD) {
        return Err(Problem::Window(id, "it was issued ahead of the clock"));
    }
    match now >= grant.expires {
        true => Err(Problem::Expired(id)),
        false => Ok(()),
    }
}

/// The grants that are in force, by agent, and what keeps the others from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// By agent.
    pub grants: BTreeMap<Agent, VerifiedGrant>,
    /// One line each.
    pub problems: Vec<Problem>,
}

impl Active {
    /// What keeps this grant from being in force: what is about it, else what is about all; without a grant,
    /// what is about all.
    pub fn problem(&self, grant: Option<&DirectGrant>) -> Option<&Problem> {
        let of_all = |problem: &&Problem| {
            matches!(problem, Problem::TooMany(_) | Problem::File(_) | Problem::Ledger(_))
        };
        let own = |problem: &&Problem| grant.is_some_and(|grant| problem.is_about(grant));
        self.problems.iter().find(own).or_else(|| self.problems.iter().find(of_all))
    }
}

/// Verifies every record, under the cap on them all. A bad one drops itself; two good ones of one agent
/// drop both; more than [`MAX_ACTIVE`] agents with one drop all.
pub fn active_grants(
    records: &[DirectRecord],
    rows: &dyn Fn(Id) -> Vec<Row>,
    facts: &Facts<'_>,
) -> Active {
    let mut active = Active::default();
    let mut twice = Vec::new();
    for record in records {
        match verify(record, &rows(record.grant.grant_id), facts) {
            Ok(grant) => {
                let agent = grant.grant.agent.clone();
                if active.grants.insert(agent.clone(), grant).is_some() {
                    twice.push(agent);
                }
            }
            Err(problem) => active.problems.push(problem),
        }
    }
    let count = active.grants.len();
    twice.dedup();
    for agent in twice {
        active.grants.remove(&agent);
        active.problems.push(Problem::Two(agent));
    }
    if count > MAX_ACTIVE {
        active.grants.clear();
        active.problems.push(Problem::TooMany(count));
    }
    active
}

/// How many files were written under a grant: counted from the rows of `direct:ID`, whether the write
/// came to its end or not.
pub fn count_direct_writes(rows: &[Row]) -> u64 {
    let files = |row: &Row| match &row.event {
        Event::WriteDirect(direct) => {
            u64::try_from(direct.request.changes.len()).unwrap_or(u64::MAX)
        }
        _ => 0,
    };
    rows.iter().map(files).fold(0, u64::saturating_add)
}

/// Whether so many more files may be written now, of which `used` were: the larger of what the ledger and
/// the server's memory say.
pub fn check_write_allowed(
    grant: &DirectGrant,
    used: u64,
    files: u64,
    now: Stamp,
) -> Result<(), Problem> {
    check_terms(grant, now)?;
    match used.saturating_add(files) > grant.max_writes {
        true => Err(Problem::Spent(grant.grant_id, used, grant.max_writes)),
        false => Ok(()),
    }
}

/// The SHA-256 of a trusted key, for the start-up row: of the key itself, not of its text.
pub fn key_fingerprint(key: &PublicKey) -> Digest {
    Digest::of(&key.to_wire())
}
