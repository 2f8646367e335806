//! What was signed of direct grants, by which the rows under them are held.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{Event, Row};
use crate::text::Name;
use crate::write::event::{Direct, Request};
use crate::write::pattern::Scope;
use crate::write::{DirectGrant, FileChange};

/// The terms of every direct grant so far. A person signs each, so they are few.
#[derive(Debug, Default)]
pub(in super::super) struct Terms(BTreeMap<Id, Signed>);

/// The terms of one.
#[derive(Debug)]
struct Signed {
    gates: BTreeMap<Name, Digest>,
    scopes: Vec<Scope>,
}

impl Terms {
    /// Takes the next row; checks that a direct write keeps to what was signed. Whether its grant was ever
    /// signed is told by the story of that.
    pub(in super::super) fn check(&mut self, row: &Row) -> Result<(), &'static str> {
        match &row.event {
            Event::DirectGranted(body) => {
                self.0.insert(body.grant.grant_id, Signed::of(&body.grant)?);
                Ok(())
            }
            Event::WriteDirect(Direct { request, .. }) => {
                let grant = row.refs.iter().find_map(|(subject, _)| subject.direct_id());
                grant.and_then(|id| self.0.get(&id)).map_or(Ok(()), |signed| signed.check(request))
            }
            _ => Ok(()),
        }
    }
}

impl Signed {
    fn of(grant: &DirectGrant) -> Result<Signed, &'static str> {
        let scopes: Result<_, _> = grant.write_scopes.iter().map(|s| Scope::parse(s)).collect();
        let scopes = scopes.map_err(|_| "its `write_scopes` are none")?;
        Ok(Signed { gates: grant.gates.clone(), scopes })
    }

    fn check(&self, request: &Request) -> Result<(), &'static str> {
        let Request { changes, gates, .. } = request;
        let within = |change: &FileChange| self.scopes.iter().any(|s| s.contains(&change.path));
        if !changes.iter().all(within) {
            return Err("it writes outside the scopes of its direct grant");
        }
        if gates.iter().any(|run| self.gates.get(&run.gate) != Some(&run.digest)) {
            return Err("its gates are not those of its direct grant");
        }
        // A scope that is not one file is signed only if a gate looks at all of it.
        let is_seen = |change: &FileChange| {
            let named = |scope: &Scope| scope.is_one_file() && scope.contains(&change.path);
            self.scopes.iter().any(named)
                || gates.iter().any(|run| run.path.as_ref().is_none_or(|p| *p == change.path))
        };
        match changes.iter().all(is_seen) {
            true => Ok(()),
            false => Err("no gate looked at a file that its direct grant has gated"),
        }
    }
}
