//! Facts: what the ledger and the documents say of spends.

use granted_core::ledger::{Row, Subject};
use granted_core::spend::change::Facts;
use granted_core::spend::document::{self, Standing};
use granted_core::spend::overview::Overview;
use granted_core::spend::{AgentName, AgentState, GrantId, GrantState, Request, RequestId};
use granted_core::store::{Documents as _, Ledger, ReadError};
use memchr::memmem::Finder;

use super::{SpendError, Spends};
use crate::decision::list::each_wanted;

/// What an agent has on the network.
pub(crate) fn agent(spends: &Spends<'_>, agent: &AgentName) -> Result<AgentState, ReadError> {
    let subject = Subject::spend_agent(spends.network, agent);
    Ok(AgentState::fold(&spends.book.ledger.rows(&subject)?))
}

/// A grant, by its id.
pub(crate) fn grant(spends: &Spends<'_>, id: &GrantId) -> Result<Option<GrantState>, ReadError> {
    let rows = spends.book.ledger.rows(&Subject::spend_grant(id))?;
    let state = GrantState::fold(id, &rows);
    Ok(state.filter(|state| state.grant.network == spends.network))
}

/// The grant that an agent has.
pub(crate) fn grant_of(
    spends: &Spends<'_>,
    agent: &AgentState,
) -> Result<Option<GrantState>, ReadError> {
    let id = agent.grant.as_ref();
    Ok(id.map(|id| grant(spends, id)).transpose()?.flatten())
}

/// A request, by its id.
pub(crate) fn request(spends: &Spends<'_>, id: RequestId) -> Result<Option<Request>, ReadError> {
    let request = Request::fold(id, &spends.book.ledger.rows(&Subject::spend(id))?);
    Ok(request.filter(|request| request.filed.network == spends.network))
}

/// What a grant's document says now, through a fresh open by path.
pub(crate) fn standing(spends: &Spends<'_>, state: &GrantState) -> Standing {
    let document = spends.documents.read(&document::name(&state.grant.agent));
    document::standing(&document, &state.grant)
}

/// What a change of an agent's grant is decided by.
pub(crate) fn facts(spends: &Spends<'_>, agent: &AgentName) -> Result<Facts, ReadError> {
    let agent = self::agent(spends, agent)?;
    let grant = grant_of(spends, &agent)?;
    let (now, head) = (spends.book.now(), spends.book.ledger.head()?);
    Ok(Facts { now, head, by: spends.book.by(None), agent, grant })
}

/// The grant that an agent has, which must be there and not over.
pub(crate) fn current<'f>(
    spends: &Spends<'_>,
    facts: &'f Facts,
    agent: &AgentName,
) -> Result<&'f GrantState, SpendError> {
    let none = || granted_core::spend::change::Refusal::NoGrant(agent.clone(), spends.network);
    Ok(facts.grant.as_ref().filter(|state| !state.is_over()).ok_or_else(none)?)
}

/// All spends of the network. `show` sees each of their rows, after it was folded.
pub(crate) fn overview(
    spends: &Spends<'_>,
    mut show: impl FnMut(&Row, &Overview),
) -> Result<Overview, ReadError> {
    let mut overview = Overview::new(spends.network);
    each_row(&*spends.book.ledger, |row| {
        if overview.apply(row) {
            show(row, &overview);
        }
    })?;
    Ok(overview)
}

/// Shows the rows that may move spends, the oldest first.
pub(crate) fn each_row(ledger: &dyn Ledger, show: impl FnMut(&Row)) -> Result<(), ReadError> {
    // Rows are canonical: one of these kinds holds these bytes, and most others are not parsed.
    let kinds = [Finder::new("\"kind\":\"spend."), Finder::new("\"kind\":\"ledger.accepted\"")];
    each_wanted(ledger, |bytes| kinds.iter().any(|kind| kind.find(bytes).is_some()), show)
}

/// The one request that this id or beginning of one names.
pub(crate) fn named(spends: &Spends<'_>, text: &str) -> Result<Request, SpendError> {
    let unknown = || SpendError::Unknown(text.to_owned());
    if let Ok(id) = text.parse() {
        return request(spends, id)?.ok_or_else(unknown);
    }
    let all = overview(spends, |_, _| {})?;
    let mut found = all.into_requests().filter(|request| request.id.to_string().starts_with(text));
    match (found.next(), found.next()) {
        (Some(request), None) if !text.is_empty() => Ok(request),
        (Some(_), _) => Err(SpendError::Ambiguous(text.to_owned())),
        (None, _) => Err(unknown()),
    }
}
