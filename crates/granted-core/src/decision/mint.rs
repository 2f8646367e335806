//! Minting: the person's act. Nothing on the agent's side leads here.

use super::discharge::{clock_behind, instant};
use super::event::Minted;
use super::fold::GrantState;
use super::grant::stays_human;
use super::{Bind, Grant, Identity, Kind, Object, Use};
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::text::{Name, Note, Words};
use crate::time::Stamp;
use crate::trust::{Trust, state::SignatureError};

/// What the person decided.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The only agent that may discharge it.
    pub agent: Option<Name>,
    /// The actions that it covers.
    pub allowed_actions: Vec<Name>,
    /// Files that must not change, hashed now.
    pub binds: Vec<Bind>,
    /// How often it may be used.
    pub decision: Use,
    /// The only executor that may discharge it.
    pub executor: Option<Name>,
    /// What that executor is now, if it must stay that.
    pub executor_bound: Option<Box<Identity>>,
    /// The hand.
    pub minted_by: Note,
    /// The window's end.
    pub not_after: Stamp,
    /// The window's beginning.
    pub not_before: Option<Stamp>,
    /// What is not covered, in words.
    pub not_scope: Vec<Note>,
    /// The object.
    pub object: Object,
    /// What is covered, in words.
    pub scope: Words,
    /// Whether a grant that the object already has may stand beside it.
    pub again: bool,
}

impl Terms {
    /// The terms of a grant that was decided on before; `again` is not part of it.
    pub fn of(grant: &Grant, again: bool) -> Terms {
        let grant = grant.clone();
        Terms {
            agent: grant.agent,
            allowed_actions: grant.allowed_actions,
            binds: grant.binds,
            decision: grant.decision,
            executor: grant.executor,
            executor_bound: grant.executor_bound,
            minted_by: grant.minted_by,
            not_after: grant.not_after,
            not_before: grant.not_before,
            not_scope: grant.not_scope,
            object: grant.object,
            scope: grant.scope,
            again,
        }
    }
}

/// The world as the decision sees it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The clock.
    pub now: Stamp,
    /// The ledger's last row.
    pub head: Option<Head>,
    /// The book.
    pub book: Id,
    /// A new id for the grant.
    pub id: Id,
    /// The grants that the object has; of no use where one may stand beside them.
    pub grants: Vec<GrantState>,
    /// The seq of the last row that moved the object.
    pub object_last: u64,
    /// Who mints.
    pub by: By,
}

/// Why a grant is not minted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The window ends before it begins, or at once.
    #[error("the window is empty: it would end at {not_after:.0} and begin at {not_before:.0}")]
    EmptyWindow {
        /// The end asked for.
        not_after: Stamp,
        /// The beginning asked for.
        not_before: Stamp,
    },
    /// The window is over.
    #[error("the window is over: it would have ended at {not_after:.0}, and it is {now:.0}")]
    WindowOver {
        /// The end asked for.
        not_after: Stamp,
        /// The clock.
        now: Stamp,
    },
    /// The object has a grant that may still be used.
    #[error("{object} already has grant {grant}, which is unspent until {not_after:.0}")]
    HasGrant {
        /// The object.
        object: Object,
        /// That grant.
        grant: Id,
        /// Its deadline.
        not_after: Stamp,
    },
    /// The clock is behind the ledger.
    #[error("{0}")]
    ClockBehind(String),
    /// It was minted before.
    #[error("grant {0} was minted already")]
    Minted(Id),
    /// It was decided on for another book.
    #[error("it is a grant of another book, {0}")]
    OtherBook(Id),
    /// It is not signed as it has to be.
    #[error("it is not signed as it has to be: {0}")]
    Signature(SignatureError),
    /// The object stands in the sheet before.
    #[error("{0} stands in the sheet twice")]
    Twice(Object),
}

/// Decides whether to mint all of these, or none; of the first that cannot be, its place. The grants
/// are not signed yet.
pub fn mint_all(asked: &[(Terms, Facts)]) -> Result<Vec<Grant>, (usize, Refusal)> {
    let mut objects = std::collections::HashSet::new();
    let mint_one = |(index, (terms, facts)): (usize, &'_ (Terms, Facts))| {
        if !objects.insert(terms.object.clone()) && !terms.again {
            return Err((index, Refusal::Twice(terms.object.clone())));
        }
        mint(terms, facts).map_err(|refusal| (index, refusal))
    };
    asked.iter().enumerate().map(mint_one).collect()
}

/// Decides whether to mint; the grant, which is not signed yet.
pub fn mint(terms: &Terms, facts: &Facts) -> Result<Grant, Refusal> {
    window(terms.not_before, terms.not_after, instant(facts.now, facts.head))?;
    if let Some(behind) = clock_behind(facts.now, facts.head) {
        return Err(Refusal::ClockBehind(behind));
    }
    let usable = |state: &&GrantState| {
        !state.is_spent() && state.revoked.is_none() && !state.is_expired(facts.now)
    };
    if let Some(state) = facts.grants.iter().filter(|_| !terms.again).find(usable) {
        return Err(Refusal::HasGrant {
            object: terms.object.clone(),
            grant: state.grant.id,
            not_after: state.grant.not_after,
        });
    }
    Ok(Grant {
        agent: terms.agent.clone(),
        allowed_actions: terms.allowed_actions.clone(),
        binds: terms.binds.clone(),
        book: facts.book,
        consumed: false,
        consumed_at: None,
        decision: terms.decision,
        executor: terms.executor.clone(),
        executor_bound: terms.executor_bound.clone(),
        id: facts.id,
        kind: Kind::V1,
        minted_at: facts.now,
        minted_by: terms.minted_by.clone(),
        not_after: terms.not_after,
        not_before: terms.not_before,
        not_scope: terms.not_scope.clone(),
        object: terms.object.clone(),
        receipt: None,
        scope: terms.scope.clone(),
        signatures: Vec::new(),
    })
}

/// The row of a grant that was decided on and, where signatures are asked for, signed since. It is refused
/// if what the book trusts moves meanwhile.
pub fn row(grant: &Grant, facts: &Facts, trust: &Trust, is_new: bool) -> Result<Draft, Refusal> {
    if grant.book != facts.book {
        return Err(Refusal::OtherBook(grant.book));
    }
    if !is_new {
        return Err(Refusal::Minted(grant.id));
    }
    trust.signers_at_mint(grant).map_err(Refusal::Signature)?;
    let event = Event::Minted(Minted { grant: grant.clone() });
    let refs =
        vec![(Subject::grant(grant.id), 0), (Subject::object(&grant.object), facts.object_last)];
    let still = vec![(Subject::trust(), trust.last)];
    let draft = Draft::new(event, facts.by.clone(), refs);
    Ok(Draft { until: Some(grant.not_after), still, ..draft })
}

/// Checks that a window is neither empty nor over.
pub fn window(not_before: Option<Stamp>, not_after: Stamp, now: Stamp) -> Result<(), Refusal> {
    if let Some(not_before) = not_before.filter(|from| *from >= not_after) {
        return Err(Refusal::EmptyWindow { not_after, not_before });
    }
    match not_after <= now {
        true => Err(Refusal::WindowOver { not_after, now }),
        false => Ok(()),
    }
}

/// The allowed actions that otherwise stay human; `mint` tells the person that they now ride.
pub fn named_human_actions(grant: &Grant) -> impl Iterator<Item = &Name> {
    grant.allowed_actions.iter().filter(|action| stays_human(action))
}
