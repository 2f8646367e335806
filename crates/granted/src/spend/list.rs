//! The grants that agents have. The documents of those whose time is over are taken away.

use granted_core::spend::document::{Standing, name};
use granted_core::spend::{GrantState, document};
use granted_core::store::{Documents as _, ReadError};
use granted_core::time::Stamp;

use super::{Spends, gather};

/// A grant that an agent has.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The grant.
    pub state: GrantState,
    /// Why it is of no use until its document is put back.
    pub paused: Option<String>,
}

/// The grants of the network that are not over, by the agents' names.
pub fn list(spends: &Spends<'_>) -> Result<Vec<Listed>, ReadError> {
    let now = spends.book.now();
    let overview = gather::overview(spends, |_, _| {})?;
    let mut listed = Vec::new();
    for state in overview.current_grants().filter(|state| !state.is_over()) {
        if prune(spends, state, now) {
            continue;
        }
        let paused = match gather::standing(spends, state) {
            Standing::Agrees => None,
            Standing::Missing => Some("its document is missing".into()),
            Standing::Unreadable(why) => Some(why),
        };
        listed.push(Listed { state: state.clone(), paused });
    }
    Ok(listed)
}

/// Takes the document of a grant away whose time is over; whether it is.
pub(crate) fn prune(spends: &Spends<'_>, state: &GrantState, now: Stamp) -> bool {
    let over = now >= state.grant.expires_at;
    if over && gather::standing(spends, state) == document::Standing::Agrees {
        spends.documents.remove(&[name(&state.grant.agent)]);
    }
    over
}
