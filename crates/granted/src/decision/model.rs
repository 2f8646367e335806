//! The model: what the verbs of decisions should come to, in a few pages and without a ledger.

use granted_core::decision::{Class, Reason, Status};

/// What is offered to mint. Times are seconds from now.
#[derive(Clone, Debug)]
pub struct Offer {
    pub object: usize,
    pub session: bool,
    pub again: bool,
    pub send_only: bool,
    pub agent: bool,
    pub lasts: i64,
    pub opens: Option<i64>,
}

/// What is asked of a discharge.
#[derive(Clone, Debug)]
pub struct Ask {
    pub object: usize,
    pub act: Act,
    pub key: Option<&'static str>,
    pub action: Option<&'static str>,
    pub agent: bool,
    pub executor: &'static str,
}

/// What the executor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Done,
    SaysNothing,
    SaysFailed,
    Declines,
    DeclinesWithRow,
    Fails,
    Unsure,
    Panics,
    /// It does it, and meanwhile the document goes away.
    DocumentGone,
    /// Its result cannot be recorded.
    Cut,
}

impl Act {
    pub const ALL: &'static [Act] = &[
        Act::Done,
        Act::Done,
        Act::Done,
        Act::SaysNothing,
        Act::SaysFailed,
        Act::Declines,
        Act::Declines,
        Act::DeclinesWithRow,
        Act::Fails,
        Act::Unsure,
        Act::Panics,
        Act::DocumentGone,
        Act::Cut,
        Act::Cut,
    ];

    /// Why the attempt ends, and how many rows say so; `None`: nothing can be said.
    fn ends(self) -> Option<(Reason, u64)> {
        Some(match self {
            Act::Done => (Reason::Confirmed, 2),
            Act::SaysNothing => (Reason::NoResultRow, 1),
            Act::SaysFailed => (Reason::ResultFailed, 2),
            Act::Declines => (Reason::ExecutorDeclined, 1),
            Act::DeclinesWithRow => (Reason::ExecutorUncertain, 2),
            Act::Fails | Act::Panics => (Reason::ExecutorFailed, 1),
            Act::Unsure => (Reason::ExecutorUncertain, 1),
            Act::DocumentGone => (Reason::ReceiptMismatch, 2),
            Act::Cut => return None,
        })
    }
}

/// What lies where a grant's document should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    AsMinted,
    Gone,
    Edited,
    Spent,
}

/// What an attempt is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub reason: Reason,
    pub replayed: bool,
}

#[derive(Clone, Debug)]
pub struct Claim {
    ask: Ask,
    /// Its place among all claims.
    place: usize,
    ended: Option<Reason>,
    resolved: bool,
}

#[derive(Clone, Debug)]
pub struct Grant {
    pub object: usize,
    pub document: Document,
    offer: Offer,
    minted: i64,
    opens: Option<i64>,
    closes: i64,
    claims: Vec<Claim>,
    revoked: bool,
    expired: bool,
}

impl Grant {
    fn is_spent(&self) -> bool {
        let session = self.offer.session;
        self.claims.iter().any(|claim| match claim.ended {
            None => !session,
            Some(Reason::ExecutorDeclined) => false,
            Some(reason) => !(session && reason == Reason::Confirmed),
        })
    }

    fn is_over(&self, now: i64) -> bool {
        self.expired || now >= self.closes
    }

    fn is_usable(&self, now: i64) -> bool {
        !self.is_spent() && !self.revoked && !self.is_over(now)
    }

    fn status(&self, now: i64) -> Status {
        match self.document {
            _ if self.is_spent() => Status::Consumed,
            Document::Spent => Status::Consumed,
            _ if self.revoked => Status::Revoked,
            Document::Gone => Status::None,
            Document::Edited => Status::Unreadable,
            Document::AsMinted if self.is_over(now) => Status::Expired,
            Document::AsMinted if self.opens.is_some_and(|opens| now < opens) => Status::NotYet,
            Document::AsMinted => Status::Live,
        }
    }

    /// Why it does not allow what is asked.
    fn misfit(&self, ask: &Ask) -> Option<Reason> {
        let covered = match ask.action {
            action if self.offer.send_only => action == Some("send"),
            action => action != Some("pay"),
        };
        match () {
            () if self.offer.agent && !ask.agent => Some(Reason::AgentNotNamed),
            () if !covered => Some(Reason::ActionNotAllowed),
            () => None,
        }
    }

    /// Whatever has no outcome was cut off. Answers how many rows say so.
    fn settle(&mut self) -> u64 {
        let mut rows = 0;
        for claim in self.claims.iter_mut().filter(|claim| claim.ended.is_none()) {
            claim.ended = Some(Reason::Interrupted);
            rows += 1;
        }
        if rows > 0 {
            self.catch_up();
        }
        rows
    }

    /// The document of a spent grant is brought up to it.
    fn catch_up(&mut self) {
        if self.is_spent() && self.document == Document::AsMinted {
            self.document = Document::Spent;
        }
    }
}

/// A book of two objects.
#[derive(Default)]
pub struct Model {
    pub now: i64,
    pub grants: Vec<Grant>,
    pub rows: u64,
    pub runs: usize,
    /// The time of the last row.
    head: Option<i64>,
}

impl Model {
    fn append(&mut self, rows: u64) {
        if rows > 0 {
            // The first row opens the book.
            self.rows += rows + u64::from(self.head.is_none());
            self.head = Some(self.row_time());
        }
    }

    fn row_time(&self) -> i64 {
        self.head.map_or(self.now, |head| head.max(self.now))
    }

    fn clock_is_behind(&self) -> bool {
        self.head.is_some_and(|head| self.now + 5 < head)
    }

    fn of(&self, object: usize) -> impl Iterator<Item = (usize, &Grant)> + Clone {
        self.grants.iter().enumerate().filter(move |(_, grant)| grant.object == object)
    }

    /// The live grant that passes and ends first.
    fn first(&self, object: usize, now: i64, passes: impl Fn(&Grant) -> bool) -> Option<usize> {
        let live = |grant: &Grant| grant.status(now) == Status::Live && passes(grant);
        let live = self.of(object).filter(|(_, grant)| live(grant));
        live.min_by_key(|(index, grant)| (grant.closes, *index)).map(|(index, _)| index)
    }

    fn current(&self, object: usize, now: i64) -> Option<usize> {
        let newest = || self.of(object).last().map(|(index, _)| index);
        self.first(object, now, |_| true).or_else(newest)
    }

    pub fn status(&self, object: usize) -> Status {
        let current = self.current(object, self.now);
        current.map_or(Status::None, |index| self.grants[index].status(self.now))
    }

    pub fn live(&self) -> usize {
        self.grants.iter().filter(|grant| grant.status(self.now) == Status::Live).count()
    }

    pub fn mint(&mut self, offer: &Offer) -> bool {
        if self.head.is_none() {
            self.rows = 1;
            self.head = Some(self.now);
        }
        let (opens, closes) = (offer.opens.map(|opens| self.now + opens), self.now + offer.lasts);
        let stands = self.of(offer.object).any(|(_, grant)| grant.is_usable(self.now));
        let empty = opens.is_some_and(|opens| opens >= closes) || closes <= self.row_time();
        if self.clock_is_behind() || empty || (stands && !offer.again) {
            return false;
        }
        self.grants.push(Grant {
            object: offer.object,
            document: Document::AsMinted,
            offer: offer.clone(),
            minted: self.now,
            opens,
            closes,
            claims: vec![],
            revoked: false,
            expired: false,
        });
        self.append(1);
        true
    }

    pub fn discharge(&mut self, ask: &Ask) -> Answer {
        let cut_off = |claim: &Claim| claim.ended.is_none();
        let rows = self.of(ask.object).flat_map(|(_, grant)| &grant.claims).filter(|c| cut_off(c));
        let rows = rows.count().try_into().unwrap();
        for grant in self.grants.iter_mut().filter(|grant| grant.object == ask.object) {
            for claim in grant.claims.iter_mut().filter(|claim| cut_off(claim)) {
                claim.ended = Some(Reason::Interrupted);
            }
        }
        self.append(rows);
        let now = if self.clock_is_behind() { self.now } else { self.row_time() };
        let chosen = self.first(ask.object, now, |grant| grant.misfit(ask).is_none());
        let chosen = chosen.or_else(|| self.current(ask.object, now));
        if let Some(earlier) = self.earlier(ask, chosen) {
            return match (earlier.ask.action, earlier.ask.executor) == (ask.action, ask.executor) {
                true => Answer { reason: earlier.ended.unwrap(), replayed: true },
                false => self.refuse(ask.object, Reason::InvalidRequest),
            };
        }
        if self.clock_is_behind() {
            return self.refuse(ask.object, Reason::ClockBehind);
        }
        let Some(chosen) = chosen else { return self.refuse(ask.object, Reason::None) };
        let grant = &self.grants[chosen];
        if let Some(reason) = grant.status(now).reason().or(grant.misfit(ask)) {
            return self.refuse(ask.object, reason);
        }
        self.act(chosen, ask)
    }

    /// The claim that a key names, if it binds.
    fn earlier(&self, ask: &Ask, chosen: Option<usize>) -> Option<&Claim> {
        let claims = self.of(ask.object).flat_map(|(index, grant)| {
            grant.claims.iter().map(move |claim| (index, claim, claim.ended.unwrap()))
        });
        let mut named = claims.filter(|(_, claim, reason)| {
            ask.key.is_some() && claim.ask.key == ask.key && *reason != Reason::ExecutorDeclined
        });
        // One that happened, or may have, binds wherever it was; one that failed in its own grant.
        let happened = named.clone().find(|(_, _, reason)| reason.class() != Class::Refused);
        happened.or_else(|| named.find(|(index, ..)| Some(*index) == chosen)).map(|named| named.1)
    }

    fn refuse(&mut self, object: usize, reason: Reason) -> Answer {
        self.append(1);
        for grant in self.grants.iter_mut().filter(|grant| grant.object == object) {
            grant.catch_up();
        }
        Answer { reason, replayed: false }
    }

    fn act(&mut self, grant: usize, ask: &Ask) -> Answer {
        let place = self.runs;
        self.runs += 1;
        let ends = ask.act.ends();
        self.append(1 + ends.map_or(0, |(_, rows)| rows));
        let grant = &mut self.grants[grant];
        let ended = ends.map(|(reason, _)| reason);
        grant.claims.push(Claim { ask: ask.clone(), place, ended, resolved: false });
        if ask.act == Act::DocumentGone {
            grant.document = Document::Gone;
        }
        if ended.is_some() {
            grant.catch_up();
        }
        Answer { reason: ended.unwrap_or(Reason::NoResultRow), replayed: false }
    }

    pub fn revoke(&mut self, which: impl Fn(usize, &Grant) -> bool) -> bool {
        let (mut settled, mut revoked) = (0, 0);
        let now = self.now;
        for (index, grant) in self.grants.iter_mut().enumerate() {
            if which(index, grant) {
                settled += grant.settle();
                if grant.is_usable(now) {
                    grant.revoked = true;
                    revoked += 1;
                }
            }
        }
        self.append(settled + revoked);
        revoked > 0
    }

    pub fn resolve(&mut self, place: usize) -> bool {
        let has = |grant: &&mut Grant| grant.claims.iter().any(|claim| claim.place == place);
        let grant = self.grants.iter_mut().find(has).unwrap();
        let mut rows = grant.settle();
        let claim = grant.claims.iter_mut().find(|claim| claim.place == place).unwrap();
        let uncertain = claim.ended.unwrap().class() == Class::Uncertain;
        let resolves = uncertain && !claim.resolved;
        claim.resolved |= resolves;
        rows += u64::from(resolves);
        self.append(rows);
        resolves
    }

    /// How many grants expire now, how many acts were cut off, and how many grants are due.
    pub fn tick(&mut self) -> [usize; 3] {
        let (mut expired, mut interrupted, mut due) = (0, 0, 0);
        let now = self.now;
        for grant in &mut self.grants {
            let settled = grant.settle();
            interrupted += settled;
            if settled > 0 {
                continue;
            }
            let from = grant.opens.unwrap_or(grant.minted);
            if now >= grant.closes {
                if !grant.is_spent() && !grant.revoked && !grant.expired {
                    grant.expired = true;
                    expired += 1;
                }
            } else if grant.status(now) == Status::Live
                && 10 * (grant.closes - now) <= grant.closes - from
            {
                due += 1;
            }
        }
        self.append(expired + interrupted);
        [expired, interrupted, due].map(|count| count.try_into().unwrap())
    }
}
