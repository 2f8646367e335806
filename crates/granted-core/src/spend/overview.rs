//! All spends of a network, from one pass over the ledger: for lists and the log.

use std::collections::BTreeMap;

use super::fold::request_of;
use super::{AgentName, AgentState, GrantId, GrantState, Network, Request, RequestId};
use crate::ledger::{Event, Row};

/// The agents, grants and requests of a network, folded row by row.
#[derive(Clone, Debug)]
pub struct Overview {
    network: Network,
    agents: BTreeMap<AgentName, AgentState>,
    grants: BTreeMap<GrantId, GrantState>,
    requests: BTreeMap<RequestId, Request>,
}

impl Overview {
    /// Of nothing yet.
    pub fn new(network: Network) -> Overview {
        let (agents, grants, requests) = Default::default();
        Overview { network, agents, grants, requests }
    }

    /// Takes the next row; whether it is of this network.
    pub fn apply(&mut self, row: &Row) -> bool {
        match &row.event {
            Event::SpendGranted(granted) if granted.grant.network != self.network => return false,
            Event::SpendFiled(filed) if filed.network != self.network => return false,
            Event::SpendGranted(granted) => {
                let grant = &granted.grant;
                self.moved(row);
                let (id, agent) = (grant.grant_id.clone(), grant.agent.clone());
                self.agents.entry(agent).or_default().apply(row);
                self.grants.entry(id).or_insert(GrantState::granted(row.seq, grant));
                return true;
            }
            Event::SpendFiled(filed) => {
                let id = filed.id();
                self.requests
                    .entry(id)
                    .or_insert_with(|| Request::filed(id, row.seq, row.at, filed));
                return true;
            }
            _ => {}
        }
        self.moved(row)
    }

    /// Moves what is known; whether anything is.
    fn moved(&mut self, row: &Row) -> bool {
        let mut known = false;
        for (subject, _) in &row.refs {
            let grant = subject.as_str().strip_prefix("spend-grant:");
            let grant = grant.and_then(|id| self.grants.get_mut(&id.parse::<GrantId>().ok()?));
            if let Some(grant) = grant {
                grant.apply(row);
                known = true;
                if let Event::SpendRevoked(_) = &row.event
                    && let Some(agent) = self.agents.get_mut(&grant.grant.agent)
                {
                    agent.apply(row);
                }
            }
        }
        if let Some(request) = request_of(row).and_then(|id| self.requests.get_mut(&id)) {
            request.apply(row);
            known = true;
        }
        known
    }

    /// The request that a row moves, if it is known.
    pub fn request_of(&self, row: &Row) -> Option<&Request> {
        self.requests.get(&request_of(row)?)
    }

    /// The grants that agents have now, over or not, by the agents' names.
    pub fn current_grants(&self) -> impl Iterator<Item = &GrantState> {
        self.agents.values().filter_map(|agent| self.grants.get(agent.grant.as_ref()?))
    }

    /// A grant, by its id.
    pub fn grant(&self, id: &GrantId) -> Option<&GrantState> {
        self.grants.get(id)
    }

    /// All requests, by their ids.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.values()
    }

    /// All requests.
    pub fn into_requests(self) -> impl Iterator<Item = Request> {
        self.requests.into_values()
    }
}
