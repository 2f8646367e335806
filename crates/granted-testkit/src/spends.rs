//! Samples of spends: a grant, requests under it, and their rows.

use std::time::Duration;

use granted_core::id::Id;
use granted_core::ledger::{Door, Event, Line, Subject};
use granted_core::spend::event::{
    BroadcastPending, Denied, Dismissed, Failed, Filed, Granted, Listed, ModeChanged, Refund,
    Revoked, Sent, Signed, Signing, Unresolved,
};
use granted_core::spend::grant::Kind;
use granted_core::spend::{
    Address, AgentName, Deny, GrantId, IntentDigest, Mode, Network, Sats, SpendGrant, Token, Txid,
};
use granted_core::time::Stamp;

use crate::scribe::Scribe;

/// An amount.
pub fn sats(number: u64) -> Sats {
    Sats::new(number).unwrap()
}

/// An address, or what looks like one.
pub fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// The agent `claude`.
pub fn agent() -> AgentName {
    "claude".parse().unwrap()
}

/// The id of a grant, told apart by a number.
pub fn grant_id(number: u64) -> GrantId {
    format!("{number:032x}").parse().unwrap()
}

/// The id of a transaction, told apart by a number.
pub fn txid(number: u64) -> Txid {
    format!("{number:064x}").parse().unwrap()
}

/// A grant for a day: 50,000 sat in all, 10,000 at once, 1,000 for a fee, to anybody.
pub fn grant(book: Id, number: u64, now: Stamp) -> SpendGrant {
    let now = Stamp::from_micros(now.micros() / 1_000_000 * 1_000_000);
    SpendGrant {
        agent: agent(),
        allowed_recipients: None,
        book,
        budget_sat: sats(50_000),
        created_at: now,
        expires_at: now.plus(Duration::from_secs(86_400)),
        grant_id: grant_id(number),
        kind: Kind::V1,
        max_fee_sat: sats(1_000),
        max_tx_sat: Some(sats(10_000)),
        mode: Mode::Ask,
        network: Network::Signet,
        token_hash: Token::new([7; 32]).hash(),
    }
}

/// What is filed under the grant with this key.
pub fn filed(grant: &SpendGrant, key: &str, amount: u64) -> Filed {
    let (recipient, amount_sat) = (address("tb1pexampleaddress0000"), sats(amount));
    Filed {
        agent: grant.agent.clone(),
        amount_sat,
        deny: None,
        grant_id: grant.grant_id.clone(),
        idempotency_key: key.parse().unwrap(),
        intent_digest: IntentDigest::new(grant.network, &grant.agent, &recipient, amount_sat),
        network: grant.network,
        recipient,
    }
}

/// The authorization of what was filed, with a fee of 200 sat.
pub fn signing(filed: &Filed, now: Stamp) -> Signing {
    Signing {
        act: "4f1c9a0e7b2d4c6f8a1b3d5e7f9a0c2e".into(),
        amount_sat: filed.amount_sat,
        deadline: now.plus(Duration::from_secs(600)),
        fee_sat: sats(200),
        intent_digest: filed.intent_digest,
        txid: txid(1),
    }
}

/// The subject of a request.
pub fn request(filed: &Filed) -> Vec<Subject> {
    vec![Subject::spend(filed.id())]
}

/// The subjects of a request and its grant.
pub fn drawn(filed: &Filed) -> Vec<Subject> {
    vec![Subject::spend(filed.id()), Subject::spend_grant(&filed.grant_id)]
}

/// The subjects of a grant and its agent.
pub fn issued(grant: &SpendGrant) -> Vec<Subject> {
    let agent = Subject::spend_agent(grant.network, &grant.agent);
    vec![Subject::spend_grant(&grant.grant_id), agent]
}

/// A short life with every kind of row of spends.
pub fn every_kind(scribe: &mut Scribe, book: Id) -> Vec<Line> {
    let mut grant = grant(book, 1, scribe.now);
    grant.allowed_recipients = Some(vec![address("tb1pexampleaddress0000")]);
    let mut lines = Vec::new();
    let granted = Granted { grant: grant.clone(), replaces: None };
    lines.push(scribe.row(Event::SpendGranted(granted), issued(&grant)));

    // Sent.
    let invoice = filed(&grant, "invoice-1", 4_500);
    lines.push(agents(scribe, Event::SpendFiled(invoice.clone()), request(&invoice)));
    let authorized = signing(&invoice, scribe.now);
    lines.push(scribe.row(Event::SpendSigning(authorized), drawn(&invoice)));
    let (signed, sent) = (Signed { txid: txid(1) }, Sent { txid: txid(1) });
    lines.push(scribe.row(Event::SpendSigned(signed), request(&invoice)));
    lines.push(scribe.row(Event::SpendSent(sent.clone()), request(&invoice)));

    // Outside the grant, when it was filed and when it was to be approved.
    let (requested_sat, max_tx_sat) = (sats(20_000), sats(10_000));
    let over = Filed {
        deny: Some(Deny::OverMaxTx { requested_sat, max_tx_sat }),
        ..filed(&grant, "invoice-2", 20_000)
    };
    lines.push(agents(scribe, Event::SpendFiled(over.clone()), request(&over)));
    let dear = filed(&grant, "invoice-3", 1_000);
    lines.push(agents(scribe, Event::SpendFiled(dear.clone()), request(&dear)));
    let deny = Deny::OverMaxFee { fee_sat: sats(1_001), max_fee_sat: sats(1_000) };
    lines.push(scribe.row(Event::SpendDenied(Denied { deny }), request(&dear)));

    // Stopped before the signer, without and with a draw; then cut off, and given up.
    let rent = filed(&grant, "rent", 9_000);
    lines.push(agents(scribe, Event::SpendFiled(rent.clone()), request(&rent)));
    let failed = |message: &str, refund| {
        Event::SpendFailed(Failed { message: message.parse().unwrap(), refund })
    };
    let offline = failed("the provider did not answer", None);
    lines.push(scribe.row(offline, request(&rent)));
    let authorized = signing(&rent, scribe.now);
    lines.push(scribe.row(Event::SpendSigning(authorized.clone()), drawn(&rent)));
    let refund = Refund { amount_sat: sats(9_000), fee_sat: sats(200) };
    let unbuilt = failed("the signer could not be made", Some(refund));
    lines.push(scribe.row(unbuilt, drawn(&rent)));
    lines.push(scribe.row(Event::SpendSigning(authorized), drawn(&rent)));
    let message = "it was cut off while it was being signed".parse().unwrap();
    lines.push(scribe.row(Event::SpendUnresolved(Unresolved { message }), request(&rent)));
    lines.push(scribe.row(Event::SpendDismissed(Dismissed {}), request(&rent)));

    // Signed, and the answer of the network lost.
    let fees = filed(&grant, "fees", 500);
    lines.push(agents(scribe, Event::SpendFiled(fees.clone()), request(&fees)));
    let authorized = signing(&fees, scribe.now);
    lines.push(scribe.row(Event::SpendSigning(authorized), drawn(&fees)));
    let message = "the provider did not answer".parse().unwrap();
    let pending = BroadcastPending { message, txid: txid(1) };
    lines.push(scribe.row(Event::SpendBroadcastPending(pending), request(&fees)));
    lines.push(scribe.row(Event::SpendSent(sent), request(&fees)));

    // The grant changed, issued anew and taken back.
    let bob = Listed { recipient: address("tb1pexampleaddress0001") };
    let only = vec![Subject::spend_grant(&grant.grant_id)];
    lines.push(scribe.row(Event::SpendRecipientAllowed(bob.clone()), only.clone()));
    lines.push(scribe.row(Event::SpendRecipientDisallowed(bob), only.clone()));
    let observe = ModeChanged { from: Mode::Ask, to: Mode::Observe };
    lines.push(scribe.row(Event::SpendModeChanged(observe), only.clone()));
    let anew = SpendGrant {
        allowed_recipients: None,
        max_tx_sat: None,
        ..self::grant(book, 2, scribe.now)
    };
    let granted = Granted { grant: anew.clone(), replaces: Some(grant.grant_id) };
    let moved = issued(&anew).into_iter().chain(only).collect();
    lines.push(scribe.row(Event::SpendGranted(granted), moved));
    lines.push(scribe.row(Event::SpendRevoked(Revoked {}), issued(&anew)));
    lines
}

/// A row that came through the agent's door.
fn agents(scribe: &mut Scribe, event: Event, moved: Vec<Subject>) -> Line {
    let person = scribe.by.clone();
    (scribe.by.agent, scribe.by.door) = (agent().name(), Door::Mcp);
    let line = scribe.row(event, moved);
    scribe.by = person;
    line
}
