//! Signing direct grants into force, and taking them back.

use std::time::Duration;

use super::{
    Active, AlwaysDirect, DirectGrant, DirectRecord, Facts, MAP_VERSION, Problem, SERVER,
    check_binding, check_terms, expected_binding, key_fingerprint, signed_values,
};
use crate::decision::discharge::clock_behind;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Row, Subject};
use crate::text::cut;
use crate::time::Stamp;
use crate::trust::state::SignatureError;
use crate::trust::{KeyId, Trust};
use crate::write::agent::Agent;
use crate::write::event::{DirectGranted, DirectGrantsLoaded, DirectRevoked};
use crate::write::project::Project;

/// A day.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// What the person grants.
#[derive(Clone, Debug)]
pub struct Terms {
    /// To whom.
    pub agent: Agent,
    /// For how many days.
    pub days: u32,
    /// For how many files.
    pub max_writes: u64,
    /// The key that is to sign.
    pub key: KeyId,
}

/// The grant that binds what is now, for the person to sign.
pub fn propose(
    terms: Terms,
    id: Id,
    head: Option<Head>,
    facts: &Facts<'_>,
) -> Result<DirectGrant, Problem> {
    if let Some(behind) = clock_behind(facts.now, head) {
        return Err(Problem::Clock(behind));
    }
    let binding = expected_binding(&terms.agent, facts.policy, facts.brief)?;
    let grant = DirectGrant {
        agent: terms.agent,
        approval: AlwaysDirect::Direct,
        book: facts.book,
        expires: facts.now.plus(DAY.saturating_mul(terms.days)),
        gates: binding.gates,
        grant_id: id,
        issued: facts.now,
        key_id: terms.key,
        map_version: MAP_VERSION.into(),
        max_writes: terms.max_writes,
        project: facts.project.clone(),
        server: SERVER.into(),
        server_sha256: binding.server_sha256,
        tools: binding.tools,
        write_scopes: binding.write_scopes,
    };
    check_terms(&grant, facts.now)?;
    Ok(grant)
}

/// A direct grant that was signed into force, as the rows of its project leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// What was signed.
    pub record: DirectRecord,
    /// When it was taken back.
    pub revoked: Option<Stamp>,
}

/// The direct grants of a project, folded from the rows of `project:KEY`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// All of them, oldest first.
    pub grants: Vec<Signed>,
    /// The seq of the last row that moved the project.
    pub last: u64,
}

impl Standing {
    /// Folds the rows, oldest first. A row that grants for another project is not there.
    pub fn fold(project: &Project, rows: &[Row]) -> Standing {
        let mut standing = Standing::default();
        for row in rows {
            standing.last = row.seq;
            match &row.event {
                Event::DirectGranted(DirectGranted { grant, signature }) => {
                    let record =
                        DirectRecord { grant: grant.clone(), signature: signature.clone() };
                    if grant.project == *project {
                        standing.grants.push(Signed { record, revoked: None });
                    }
                }
                Event::DirectRevoked(_) => {
                    let ids: Vec<Id> =
                        row.refs.iter().filter_map(|(subject, _)| subject.direct_id()).collect();
                    let named = |signed: &&mut Signed| ids.contains(&signed.record.grant.grant_id);
                    for signed in standing.grants.iter_mut().filter(named) {
                        signed.revoked.get_or_insert(row.at);
                    }
                }
                _ => {}
            }
        }
        standing
    }

    /// Those that were not taken back and have not ended.
    pub fn open(&self, now: Stamp) -> impl Iterator<Item = &DirectGrant> {
        let open =
            move |signed: &&Signed| signed.revoked.is_none() && now < signed.record.grant.expires;
        self.grants.iter().filter(open).map(|signed| &signed.record.grant)
    }
}

/// The rows by which a signed grant comes into force, and an agent's earlier ones are taken back: of one
/// agent, one grant counts. `last` is the seq of the last row of a direct grant, 0 if there is none.
///
/// They are refused if what the book trusts moves meanwhile.
pub fn put_in_force(
    record: &DirectRecord,
    standing: &Standing,
    last: &dyn Fn(Id) -> u64,
    head: Option<Head>,
    facts: &Facts<'_>,
    by: &By,
) -> Result<Vec<Draft>, Problem> {
    let DirectRecord { grant, signature } = record;
    let id = grant.grant_id;
    if let Some(behind) = clock_behind(facts.now, head) {
        return Err(Problem::Clock(behind));
    }
    if grant.book != facts.book {
        return Err(Problem::Elsewhere(id, "book"));
    }
    if grant.project != *facts.project {
        return Err(Problem::Elsewhere(id, "project"));
    }
    if last(id) != 0 {
        return Err(Problem::Known(id));
    }
    let bad = |e| Problem::Signature(id, e);
    if signature.key != grant.key_id {
        return Err(bad(SignatureError::Untrusted(signature.key)));
    }
    facts.trust.verify(&signed_values(grant), Some(signature)).map_err(bad)?;
    check_binding(grant, &expected_binding(&grant.agent, facts.policy, facts.brief)?)?;
    check_terms(grant, facts.now)?;
    let earlier = standing.open(facts.now).filter(|open| open.agent == grant.agent);
    let taken_back = |open: &DirectGrant| {
        let id = open.grant_id;
        revoke(facts.project, id, last(id), standing.last, DirectRevoked::default(), by)
    };
    let mut drafts: Vec<Draft> = earlier.map(taken_back).collect();
    let refs = vec![(Subject::direct(id), 0), (facts.project.subject(), standing.last)];
    let event = DirectGranted { grant: grant.clone(), signature: signature.clone() };
    let draft = Draft::new(Event::DirectGranted(event), by.clone(), refs);
    let still = vec![(Subject::trust(), facts.trust.last)];
    drafts.push(Draft { until: Some(grant.expires), still, ..draft });
    Ok(drafts)
}

/// The row that takes a direct grant back.
pub fn revoke(
    project: &Project,
    id: Id,
    last: u64,
    project_last: u64,
    body: DirectRevoked,
    by: &By,
) -> Draft {
    let refs = vec![(Subject::direct(id), last), (project.subject(), project_last)];
    Draft::new(Event::DirectRevoked(body), by.clone(), refs)
}

/// The row of a server's start: what is in force, and which keys are trusted.
pub fn loaded_row(
    project: &Project,
    last: u64,
    active: &Active,
    trust: &Trust,
    file: Option<Digest>,
    by: &By,
) -> Draft {
    let mut ids: Vec<Id> = active.grants.values().map(|grant| grant.grant().grant_id).collect();
    ids.sort_unstable();
    let problem = |problem: &Problem| cut(&problem.to_string(), 200).into();
    let body = DirectGrantsLoaded {
        active: ids,
        file,
        key_fingerprints: trust.keys().iter().map(|key| key_fingerprint(&key.key)).collect(),
        problems: active.problems.iter().take(10).map(problem).collect(),
        project: project.clone(),
    };
    Draft::new(Event::DirectLoaded(body), by.clone(), vec![(project.subject(), last)])
}
