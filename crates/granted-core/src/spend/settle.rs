//! Where a request goes once it is authorized: the rows of it, and those that are written for a process
//! that was cut off.

use std::collections::HashMap;

use super::chain::Transaction;
use super::event::{BroadcastPending, Dismissed, Failed, Sent, Signed, Unresolved};
use super::{Request, State, Txid};
use crate::decision::settle::{ActState, ELSEWHERE_SLACK};
use crate::ledger::{By, Draft, Event, Row, Subject};
use crate::text::{Shown, Words, cut};
use crate::time::Stamp;

/// The most characters of a message that is kept: each has at most four bytes, and a row's text 1,024.
const MAX_MESSAGE: usize = 250;

/// A message as a row holds it.
pub fn words(message: &str) -> Words {
    let shown = cut(&Shown(message).to_string(), MAX_MESSAGE);
    Words::new(shown).unwrap_or_default()
}

/// A row that moves the request on, and nothing else.
fn draft(request: &Request, event: Event, by: &By) -> Draft {
    Draft::new(event, by.clone(), vec![(Subject::spend(request.id), request.last)])
}

/// It could not be prepared: nothing was drawn, and it may be approved again.
pub fn failed(request: &Request, message: &str, by: &By) -> Draft {
    let failed = Failed { message: words(message), refund: None };
    draft(request, Event::SpendFailed(failed), by)
}

/// Its transaction is whole and saved.
pub fn signed(request: &Request, txid: &Txid, by: &By) -> Draft {
    draft(request, Event::SpendSigned(Signed { txid: txid.clone() }), by)
}

/// The network has its transaction.
pub fn sent(request: &Request, txid: &Txid, by: &By) -> Draft {
    draft(request, Event::SpendSent(Sent { txid: txid.clone() }), by)
}

/// Its transaction is saved, and the network may not have it.
pub fn broadcast_pending(request: &Request, txid: &Txid, message: &str, by: &By) -> Draft {
    let (txid, message) = (txid.clone(), words(message));
    draft(request, Event::SpendBroadcastPending(BroadcastPending { message, txid }), by)
}

/// A signature may exist, and nothing was kept.
pub fn unresolved(request: &Request, message: &str, by: &By) -> Draft {
    draft(request, Event::SpendUnresolved(Unresolved { message: words(message) }), by)
}

/// The person declined it; `None` where that cannot be.
pub fn dismissed(request: &Request, by: &By) -> Option<Draft> {
    let can = request.state.is_dismissable();
    can.then(|| draft(request, Event::SpendDismissed(Dismissed {}), by))
}

/// The acts that sign, folded row by row: their lock files say whether they were cut off.
#[derive(Debug, Default)]
pub struct Signing(HashMap<Subject, Box<str>>);

impl Signing {
    /// Takes the next row.
    pub fn apply(&mut self, row: &Row) {
        let Some((owner, _)) = row.refs.first() else { return };
        match &row.event {
            Event::SpendSigning(signing) => {
                self.0.insert(owner.clone(), signing.act.clone());
            }
            Event::SpendSigned(_) => {}
            _ => {
                self.0.remove(owner);
            }
        }
    }

    /// The names of the lock files.
    pub fn into_acts(self) -> impl Iterator<Item = Box<str>> {
        self.0.into_values()
    }
}

/// Whether the process that acts for the request was cut off; `false` if none does.
pub fn is_interrupted(request: &Request, act: ActState, now: Stamp) -> bool {
    let State::Signing { signing, .. } = &request.state else { return false };
    match act {
        ActState::Running => false,
        ActState::Free => true,
        ActState::Absent => now > signing.deadline.plus(ELSEWHERE_SLACK),
    }
}

/// The row that brings a request up to what the world shows, if one is missing: of an interrupted
/// process, or of a broadcast by other means. `found` is the saved transaction that was made for it, if
/// there is one. Nothing is ever signed again, or given back.
pub fn reconcile(
    request: &Request,
    interrupted: bool,
    found: Option<&Transaction>,
    by: &By,
) -> Option<Draft> {
    let txid = request.paid()?.txid;
    // Of another transaction, it says nothing of this one.
    let found = found.filter(|transaction| transaction.txid == txid);
    let is_broadcast = found.is_some_and(|transaction| transaction.is_broadcast);
    match &request.state {
        State::BroadcastPending(..) if is_broadcast => Some(sent(request, &txid, by)),
        State::Signing { .. } if !interrupted => None,
        State::Signing { .. } if is_broadcast => Some(sent(request, &txid, by)),
        State::Signing { signed, .. } if found.is_some() || *signed => {
            let message = "it was cut off between signing and broadcast";
            Some(broadcast_pending(request, &txid, message, by))
        }
        State::Signing { .. } => {
            let message = "it was cut off while it was being signed, and no transaction was saved";
            Some(unresolved(request, message, by))
        }
        _ => None,
    }
}
