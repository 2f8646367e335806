//! Spends: what their rows move, what a body must say of that, and the stories that are legal.

use super::moves::{Move, hash, hash_parts};
use crate::id::Id;
use crate::ledger::{Event, Row, Subject};
use crate::spend::event::{Filed, Granted};
use crate::spend::{GrantId, IntentDigest, Mode, RequestId, Sats, event};

mod fold;
mod step;

pub(super) use fold::State;
pub use step::Step;

/// Checks that a row of a spend moves exactly the subjects of its kind, the owner first, and that its
/// body agrees; emits the moves.
pub(super) fn check(
    row: &Row,
    book: Option<Id>,
    emit: &mut dyn FnMut(Move),
) -> Result<(), &'static str> {
    let mut moves = |(subject, before): &(Subject, u64), step: Step| {
        emit(Move {
            subject: hash(subject),
            seq: row.seq,
            before: *before,
            step: super::Step::Spend(step),
        });
    };
    // A second move of a subject by the same row, which comes after the first.
    let again = |(subject, _): &(Subject, u64)| (subject.clone(), row.seq);
    match (&row.event, row.refs.as_slice()) {
        (Event::SpendGranted(body), [grant, agent, old @ ..]) => {
            check_granted(body, book, &grant.0, &agent.0, old)?;
            let terms = &body.grant;
            moves(
                grant,
                Step::Granted {
                    budget: terms.budget_sat.to_u64(),
                    max_tx: terms.max_tx_sat.unwrap_or(Sats::MAX).to_u64(),
                    max_fee: terms.max_fee_sat.to_u64(),
                },
            );
            let closes = terms.expires_at.micros();
            let observes = terms.mode == Mode::Observe;
            moves(&again(grant), Step::Window { closes, observes, agent: hash(&agent.0) });
            let replaces = old.first().map_or(0, |old| hash(&old.0));
            moves(agent, Step::AgentGranted { grant: hash(&grant.0), replaces });
            old.iter().for_each(|old| moves(old, Step::Revoked));
        }
        (Event::SpendModeChanged(body), [grant]) => {
            grant_id(&grant.0)?;
            if body.from == body.to {
                return Err("it changes a mode to what it was");
            }
            moves(grant, Step::Mode { observes: body.to == Mode::Observe });
        }
        (Event::SpendRecipientAllowed(_) | Event::SpendRecipientDisallowed(_), [grant]) => {
            grant_id(&grant.0)?;
            moves(grant, Step::Listed);
        }
        (Event::SpendRevoked(_), [grant, agent]) => {
            grant_id(&grant.0)?;
            if !agent.0.as_str().starts_with("spend-agent:") {
                return Err("its `refs` lack an agent where its kind has one");
            }
            moves(grant, Step::Revoked);
            moves(agent, Step::AgentRevoked { grant: hash(&grant.0) });
        }
        (Event::SpendFiled(body), [request]) => {
            check_filed(body, request_id(&request.0)?)?;
            let asked = Subject::spend_grant(&body.grant_id);
            let grant = hash(&asked);
            let agent = hash(&Subject::spend_agent(body.network, &body.agent));
            moves(&(asked, 0), Step::Asked { agent });
            moves(
                request,
                Step::Filed {
                    payment: payment(grant, body.intent_digest, body.amount_sat),
                    amount: body.amount_sat.to_u64(),
                    denied: body.deny.is_some(),
                },
            );
        }
        (Event::SpendDenied(_), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::Denied);
        }
        (Event::SpendDismissed(_), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::Dismissed);
        }
        (Event::SpendSigning(body), [request, grant]) => {
            request_id(&request.0)?;
            grant_id(&grant.0)?;
            let (amount, fee) = (body.amount_sat.to_u64(), body.fee_sat.to_u64());
            let payment = payment(hash(&grant.0), body.intent_digest, body.amount_sat);
            let txid = hash_parts(&[body.txid.as_str()]);
            moves(request, Step::Signing { payment, fee, txid });
            moves(&again(request), Step::Drawn { grant: hash(&grant.0) });
            moves(grant, Step::Draw { amount, fee, at: row.at.micros() });
        }
        (Event::SpendFailed(event::Failed { refund: None, .. }), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::FailedUndrawn);
        }
        (Event::SpendFailed(event::Failed { refund: Some(refund), .. }), [request, grant]) => {
            request_id(&request.0)?;
            grant_id(&grant.0)?;
            let (amount, fee) = (refund.amount_sat.to_u64(), refund.fee_sat.to_u64());
            moves(request, Step::Failed { grant: hash(&grant.0), amount, fee });
            moves(grant, Step::Refund { amount, fee });
        }
        (Event::SpendSigned(event::Signed { txid }), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::Signed { txid: hash_parts(&[txid.as_str()]) });
        }
        (Event::SpendSent(event::Sent { txid }), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::Sent { txid: hash_parts(&[txid.as_str()]) });
        }
        (Event::SpendBroadcastPending(body), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::BroadcastPending { txid: hash_parts(&[body.txid.as_str()]) });
        }
        (Event::SpendUnresolved(_), [request]) => {
            request_id(&request.0)?;
            moves(request, Step::Unresolved);
        }
        _ => return Err("its `refs` are not those of its kind"),
    }
    Ok(())
}

fn check_granted(
    body: &Granted,
    book: Option<Id>,
    grant: &Subject,
    agent: &Subject,
    old: &[(Subject, u64)],
) -> Result<(), &'static str> {
    let terms = &body.grant;
    let replaced: Vec<&Subject> = old.iter().map(|(subject, _)| subject).collect();
    let replaces = body.replaces.as_ref().map(Subject::spend_grant);
    if *grant != Subject::spend_grant(&terms.grant_id)
        || *agent != Subject::spend_agent(terms.network, &terms.agent)
        || replaced != replaces.iter().collect::<Vec<_>>()
    {
        return Err("its `refs` are not the grants and the agent of its body");
    }
    if terms.expires_at <= terms.created_at {
        return Err("it issues a grant whose window is empty");
    }
    match book == Some(terms.book) {
        true => Ok(()),
        false => Err("it issues a grant of another book"),
    }
}

fn check_filed(body: &Filed, owner: RequestId) -> Result<(), &'static str> {
    if body.id() != owner {
        return Err("its owner is not the request of its body");
    }
    let Filed { network, agent, recipient, amount_sat, .. } = body;
    match IntentDigest::new(*network, agent, recipient, *amount_sat) == body.intent_digest {
        true => Ok(()),
        false => Err("its `intent_digest` is not that of its payment"),
    }
}

/// What a request asks for, and under which grant.
fn payment(grant: u64, intent: IntentDigest, amount: Sats) -> u64 {
    hash_parts(&[&grant.to_string(), &intent.to_string(), &amount.to_u64().to_string()])
}

fn request_id(subject: &Subject) -> Result<RequestId, &'static str> {
    let id = subject.as_str().strip_prefix("spend:").and_then(|id| id.parse().ok());
    id.ok_or("its `refs` lack a request where its kind has one")
}

/// The grant of a spend.
pub(super) fn grant_id(subject: &Subject) -> Result<GrantId, &'static str> {
    let id = subject.as_str().strip_prefix("spend-grant:").and_then(|id| id.parse().ok());
    id.ok_or("its `refs` lack a grant where its kind has one")
}
