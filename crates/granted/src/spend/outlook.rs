//! What a person who came to approve a request would find. Reads only.

use std::collections::HashMap;

use granted_core::spend::approve::outside;
use granted_core::spend::{Deny, GrantId, GrantState, Request};
use granted_core::store::ReadError;

use super::{Spends, gather};

/// Holds requests against their grants, each of which is read once.
pub struct Outlook<'s, 'b> {
    spends: &'s Spends<'b>,
    grants: HashMap<GrantId, Option<GrantState>>,
}

impl<'s, 'b> Outlook<'s, 'b> {
    /// Over these spends.
    pub fn new(spends: &'s Spends<'b>) -> Outlook<'s, 'b> {
        Outlook { spends, grants: HashMap::new() }
    }

    /// Why a request that waits could not be approved now; `None` of one that could be, or waits for
    /// nothing.
    pub fn outside(&mut self, request: &Request) -> Result<Option<Deny>, ReadError> {
        if !request.state.is_approvable() {
            return Ok(None);
        }
        let id = &request.filed.grant_id;
        if !self.grants.contains_key(id) {
            self.grants.insert(id.clone(), gather::grant(self.spends, id)?);
        }
        let grant = self.grants.get(id).and_then(Option::as_ref);
        Ok(outside(request, grant, self.spends.book.now()))
    }
}
