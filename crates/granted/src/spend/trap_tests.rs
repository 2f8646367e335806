//! What is easily done wrong with spends, one test each.
#![allow(clippy::disallowed_methods)]

use std::sync::Barrier;

use granted_core::spend::Mode;
use granted_core::spend::change::OnList;
use granted_core::time::Clock as _;
use granted_testkit::Fault;

use super::allow::{allow, disallow};
use super::check::check;
use super::dismiss::dismiss;
use super::file::Session;
use super::issue::issue;
use super::list::list;
use super::mode::mode;
use super::requests::requests;
use super::revoke::revoke;
use super::stage::{ADDRESS, Signs, Stage, agent, denied, sats};
use super::{SpendError, Spends};
use crate::book::Book;

/// The status that an agent is told.
fn told(stage: &Stage, book: &Book, token: &granted_core::spend::Token, id: &str) -> String {
    let session = Session::new(agent(), token.clone());
    check(&stage.spends(book), &session, id).status.to_owned()
}

#[test]
fn a_request_is_approved_signed_once_and_sent() {
    let stage = Stage::new();
    let book = stage.book();
    let issued = stage.issue(&book);
    let request = stage.file(&book, &issued.token, "invoice-1", 4_500).unwrap();
    assert_eq!(request.state.status(), "pending_approval");
    assert_eq!(stage.stands(&book, request.id), ("pending_approval", 50_000));
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!(approved.request.state.status(), "sent");
    assert_eq!(approved.remaining, sats(45_300));
    let kinds = ["granted", "filed", "signing", "signed", "sent"];
    assert_eq!(stage.kinds(), kinds);
    assert!(stage.approve(&book, request.id).unwrap_err().to_string().contains("it was sent as"));
    assert_eq!((stage.wallet.signatures().len(), stage.wallet.seen().len()), (1, 1));
}

#[test]
fn a_new_grant_does_not_inherit_requests() {
    let stage = Stage::new();
    let book = stage.book();
    let first = stage.issue(&book);
    let request = stage.file(&book, &first.token, "a", 1_000).unwrap();
    let second = stage.issue(&book);
    assert!(second.replaced && !first.replaced);
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!(denied(&approved.request), "revoked");
    assert_eq!((stage.wrong.chains.get(), stage.wrong.passwords.get()), (0, 0));
    // The same key under the new grant is another request; the old token files nothing.
    let anew = stage.file(&book, &second.token, "a", 1_000).unwrap();
    assert_ne!(anew.id, request.id);
    assert_eq!(stage.file(&book, &first.token, "b", 1).unwrap_err().code(), "unauthorized");
    // It is still told of what was filed under it, and of nothing else.
    assert_eq!(told(&stage, &book, &first.token, &request.id.to_string()), "denied");
    assert_eq!(told(&stage, &book, &first.token, &anew.id.to_string()), "error");
    assert_eq!(told(&stage, &book, &second.token, &request.id.to_string()), "denied");
    stage.kinds();
}

#[test]
fn what_is_revoked_is_over() {
    let stage = Stage::new();
    let book = stage.book();
    let issued = stage.issue(&book);
    let request = stage.file(&book, &issued.token, "a", 1_000).unwrap();
    revoke(&stage.spends(&book), &agent()).unwrap();
    assert_eq!(stage.file(&book, &issued.token, "b", 1).unwrap_err().code(), "no_grant");
    assert_eq!(told(&stage, &book, &issued.token, &request.id.to_string()), "pending_approval");
    assert_eq!(denied(&stage.approve(&book, request.id).unwrap().request), "revoked");
    assert_eq!(stage.wrong.chains.get(), 0);
    assert!(revoke(&stage.spends(&book), &agent()).is_err());
    assert_eq!(stage.kinds(), ["granted", "filed", "revoked", "denied"]);
}

#[test]
fn one_key_twice_at_once_is_one_request() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let (barrier, sats, clock) = (Barrier::new(8), stage.sats(), stage.clock.clone());
    let ids: Vec<_> = std::thread::scope(|scope| {
        let file = || {
            let book = &book;
            let spends = Spends::new(book, Default::default(), &sats);
            barrier.wait();
            let session = Session::new(agent(), token.clone());
            let asked = super::file::Asked {
                address: ADDRESS,
                amount: super::stage::sats(1_000),
                key: "same",
            };
            super::file::file(&spends, &session, &asked, &super::stage::Spelling).unwrap().id
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(file)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    drop(clock);
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(stage.kinds(), ["granted", "filed"]);
}

#[test]
fn a_key_is_one_payment_however_it_is_spelt() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let first = stage.file(&book, &token, "a", 1_000).unwrap();
    let again = stage.file_to(&book, &token, "a", 1_000, &ADDRESS.to_uppercase()).unwrap();
    assert_eq!(again, first);
    let conflict = stage.file(&book, &token, "a", 1_001).unwrap_err();
    assert_eq!(conflict.code(), "idempotency_key_conflict");
    assert!(conflict.to_string().contains(&first.id.to_string()));
    // Whatever its state, it is what is found.
    dismiss(&stage.spends(&book), &first.id.to_string()).unwrap();
    assert_eq!(stage.file(&book, &token, "a", 1_000).unwrap().state.status(), "dismissed");
    assert_eq!(stage.kinds(), ["granted", "filed", "dismissed"]);
}

#[test]
fn an_id_is_no_key_and_a_key_is_no_id() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let first = stage.file(&book, &token, "invoice-1", 1_000).unwrap();
    let second = stage.file(&book, &token, &first.id.to_string(), 1_000).unwrap();
    assert_ne!(second.id, first.id);
    for (id, status) in [
        ("invoice-1", "not_found"),
        ("", "not_found"),
        ("r-00000000000000000000000000000000", "not_found"),
        (&first.id.to_string(), "pending_approval"),
    ] {
        assert_eq!(told(&stage, &book, &token, id), status, "{id}");
    }
}

#[test]
fn what_is_malformed_or_not_authenticated_writes_nothing() {
    let stage = Stage::new();
    let book = stage.book();
    let other = granted_core::spend::Token::new([1; 32]);
    assert_eq!(stage.file(&book, &other, "a", 1).unwrap_err().code(), "no_grant");
    let token = stage.issue(&book).token;
    for (token, key, address, code) in [
        (&other, "a", ADDRESS, "unauthorized"),
        (&token, "", ADDRESS, "invalid_idempotency_key"),
        (&token, "a b", ADDRESS, "invalid_idempotency_key"),
        (&token, "a", "bc1pmainnet", "invalid_address"),
        (&token, "a", "", "invalid_address"),
    ] {
        let refused = stage.file_to(&book, token, key, 1, address).unwrap_err();
        assert_eq!(refused.code(), code);
    }
    assert_eq!(stage.kinds(), ["granted"]);
}

#[test]
fn a_ledger_that_cannot_be_written_lets_nothing_be_filed_or_signed() {
    let stage = Stage::new();
    let (book, ledger) = stage.faulty();
    let token = stage.issue(&book).token;
    for fault in [Fault::NotWritten, Fault::Lost] {
        ledger.next(fault);
        assert_eq!(stage.file(&book, &token, "a", 1_000).unwrap_err().code(), "store_error");
    }
    assert_eq!(stage.kinds(), ["granted"]);
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    for fault in [Fault::NotWritten, Fault::Lost] {
        ledger.next(fault);
        assert!(matches!(stage.approve(&book, request.id), Err(SpendError::Book(_))));
        assert_eq!(stage.stands(&book, request.id), ("pending_approval", 50_000));
    }
    assert_eq!((stage.wrong.passwords.get(), stage.wrong.signers.get()), (2, 0));
    // Another row first is no matter: it looks again.
    ledger.next(Fault::Conflict);
    assert_eq!(stage.approve(&book, request.id).unwrap().request.state.status(), "sent");
}

#[test]
fn a_row_that_landed_unseen_is_never_signed_for() {
    let stage = Stage::new();
    let (book, ledger) = stage.faulty();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    ledger.next(Fault::Landed);
    assert!(stage.approve(&book, request.id).is_err());
    assert_eq!(stage.stands(&book, request.id), ("signing", 48_800));
    drop(book);
    let book = stage.book();
    let listed = requests(&stage.spends(&book), false, &stage.wallet).unwrap();
    assert_eq!(listed[0].state.status(), "unresolved");
    assert!(stage.approve(&book, request.id).is_err());
    assert_eq!(stage.wallet.signatures().len(), 0);
}

#[test]
fn nothing_that_a_signer_says_means_that_there_is_no_signature() {
    for signs in [Signs::Error, Signs::ThenError, Signs::Unfinalized, Signs::Corrupt] {
        let stage = Stage::new();
        let book = stage.book();
        let token = stage.issue(&book).token;
        let request = stage.file(&book, &token, "a", 1_000).unwrap();
        stage.wrong.signs.set(signs);
        let approved = stage.approve(&book, request.id).unwrap();
        assert_eq!(approved.request.state.status(), "unresolved", "{signs:?}");
        assert_eq!(approved.remaining, sats(48_800));
        stage.wrong.signs.set(Signs::Well);
        assert!(stage.approve(&book, request.id).is_err());
        let dismissed = dismiss(&stage.spends(&book), &request.id.to_string()).unwrap();
        assert_eq!(dismissed.state.status(), "dismissed");
        assert_eq!(stage.stands(&book, request.id), ("dismissed", 48_800));
        assert!(stage.wallet.signatures().len() <= 1 && stage.wallet.seen().is_empty());
        assert_eq!(stage.kinds(), ["granted", "filed", "signing", "unresolved", "dismissed"]);
    }
}

#[test]
fn what_was_signed_and_not_saved_is_unresolved() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.wrong.unsaved.set(true);
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!(approved.request.state.status(), "unresolved");
    assert_eq!(stage.stands(&book, request.id), ("unresolved", 48_800));
}

#[test]
fn before_the_signer_the_draw_goes_back() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    for wrong in [&stage.wrong.no_turn, &stage.wrong.no_signer] {
        wrong.set(true);
        let approved = stage.approve(&book, request.id).unwrap();
        let stands = (approved.request.state.status(), approved.remaining);
        assert_eq!(stands, ("failed", sats(50_000)));
        assert_eq!(stage.wrong.signers.get(), 0);
        wrong.set(false);
    }
    stage.wrong.unprepared.set(true);
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!((approved.request.state.status(), approved.remaining), ("failed", sats(50_000)));
    stage.wrong.unprepared.set(false);
    assert_eq!(stage.approve(&book, request.id).unwrap().request.state.status(), "sent");
    let kinds = "granted filed signing failed signing failed failed signing signed sent";
    assert_eq!(stage.kinds().join(" "), kinds);
}

#[test]
fn a_person_who_says_no_changes_nothing() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.wrong.declines.set(true);
    assert!(matches!(stage.approve(&book, request.id), Err(SpendError::Declined)));
    assert_eq!(stage.wrong.passwords.get(), 0);
    stage.wrong.declines.set(false);
    stage.wrong.wrong_password.set(true);
    assert!(matches!(stage.approve(&book, request.id), Err(SpendError::Person(_))));
    assert_eq!(stage.kinds(), ["granted", "filed"]);
}

#[test]
fn a_transaction_that_pays_something_else_is_not_signed() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.wrong.lies.set(true);
    let refused = stage.approve(&book, request.id).unwrap_err().to_string();
    assert!(refused.starts_with("refusing to sign"), "{refused}");
    assert_eq!(stage.wrong.reviews.get(), 0);
    assert_eq!(stage.kinds(), ["granted", "filed"]);
}

#[test]
fn a_fee_above_its_cap_is_denied_before_the_password() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.wrong.fee.set(1_001);
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!(denied(&approved.request), "over_max_fee");
    assert_eq!((stage.wrong.reviews.get(), stage.wrong.passwords.get()), (0, 0));
    // It has ended, whatever the fee is later.
    stage.wrong.fee.set(200);
    assert!(stage.approve(&book, request.id).is_err());
}

#[test]
fn what_changes_while_the_password_is_typed_counts() {
    type Change = fn(&Spends<'_>);
    let changes: [(&str, &str, Change); 4] = [
        ("revoked", "revoked", |spends| revoke(spends, &agent()).unwrap()),
        ("observe_only", "mode_changed", |spends| {
            assert!(mode(spends, &agent(), Mode::Observe, || unreachable!()).unwrap().changed());
        }),
        ("recipient_not_allowed", "recipient_disallowed", |spends| {
            let (became, left) = disallow(spends, &agent(), &ADDRESS.parse().unwrap()).unwrap();
            assert_eq!((became, left), (OnList::Disallowed, false));
        }),
        ("dismissed", "dismissed", |spends| {
            let id = requests(spends, false, &super::stage::Wallet::none()).unwrap()[0].id;
            dismiss(spends, &id.to_string()).unwrap();
        }),
    ];
    for (ends, kind, change) in changes {
        let stage = Stage::new();
        let book = stage.book();
        let mut terms = stage.terms();
        terms.recipients = Some(vec![ADDRESS.parse().unwrap()]);
        let token = issue(&stage.spends(&book), &terms, || Ok(())).unwrap().token;
        let request = stage.file(&book, &token, "a", 1_000).unwrap();
        let (other, sats) = (stage.book(), stage.sats());
        *stage.wrong.meanwhile.borrow_mut() = Some(Box::new(move || {
            change(&Spends::new(&other, Default::default(), &sats));
        }));
        match stage.approve(&book, request.id) {
            Ok(approved) => assert_eq!(denied(&approved.request), ends),
            Err(e) => assert!(e.to_string().contains(&format!("is {ends}")), "{e}"),
        }
        assert_eq!(stage.wrong.passwords.get(), 1);
        assert_eq!(stage.wrong.signers.get(), 0);
        assert!(stage.kinds().contains(&kind.to_owned()));
        assert_eq!(
            stage.stands(&book, request.id),
            (if ends == "dismissed" { ends } else { "denied" }, 50_000)
        );
    }
}

/// A server remembers the grant between two filings.
#[test]
fn what_is_remembered_of_a_grant_files_nothing_that_has_changed() {
    let stage = Stage::new();
    let (book, spends_book) = (stage.book(), stage.book());
    let spends = stage.spends(&spends_book);
    let token = stage.issue(&book).token;
    let file = |key: &str, amount| stage.file(&book, &token, key, amount);
    let request = file("a", 9_000).unwrap();
    mode(&spends, &agent(), Mode::Observe, || Ok(())).unwrap();
    assert_eq!(denied(&file("b", 9_000).unwrap()), "observe_only");
    mode(&spends, &agent(), Mode::Ask, || Ok(())).unwrap();
    assert_eq!(file("c", 9_000).unwrap().state.status(), "pending_approval");
    for (turn, key) in ["d", "e", "f", "g"].iter().enumerate() {
        let request = file(key, 9_000).unwrap();
        stage.approve(&book, request.id).unwrap();
        assert_eq!(stage.stands(&book, request.id).1, 50_000 - 9_200 * (turn as u64 + 1));
    }
    stage.approve(&book, request.id).unwrap();
    assert_eq!(denied(&file("h", 9_000).unwrap()), "over_budget");
    // What was filed before is found whatever is remembered.
    assert_eq!(file("a", 9_000).unwrap().state.status(), "sent");
    assert_eq!(file("a", 1).unwrap_err().code(), "idempotency_key_conflict");
}

/// A copy of the ledger that was put back, and went on in another way.
#[test]
fn what_is_remembered_of_a_grant_is_of_no_use_in_another_ledger() {
    let stage = Stage::new();
    let token = stage.issue(&stage.book()).token;
    let (ledger, copy) = (stage.root().join("home/ledger.jsonl"), stage.root().join("copy"));
    std::fs::copy(&ledger, &copy).unwrap();
    let set = |to: Mode| mode(&stage.spends(&stage.book()), &agent(), to, || Ok(())).unwrap();
    set(Mode::Observe);
    set(Mode::Ask);
    stage.file(&stage.book(), &token, "a", 9_000).unwrap();
    // In both, the grant was last moved by the row of the same number.
    std::fs::rename(&copy, &ledger).unwrap();
    let other = Stage::at(stage.root(), |_| {});
    other.file(&other.book(), &token, "b", 9_000).unwrap();
    set(Mode::Observe);
    assert_eq!(denied(&stage.file(&stage.book(), &token, "c", 9_000).unwrap()), "observe_only");
}

#[test]
fn a_document_only_narrows() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    let path = stage.sats().join("signet/grants/claude.json");
    let text = std::fs::read_to_string(&path).unwrap();
    // Copied to another network it is inert, for the agent and for the person.
    let elsewhere = Spends::new(&book, granted_core::spend::Network::Regtest, &stage.sats());
    std::fs::create_dir_all(stage.sats().join("regtest/grants")).unwrap();
    std::fs::write(stage.sats().join("regtest/grants/claude.json"), &text).unwrap();
    let session = Session::new(agent(), token.clone());
    assert_eq!(super::file::session(&elsewhere, &session).unwrap_err().code(), "no_grant");
    assert!(list(&elsewhere).unwrap().is_empty());
    // Edited it is of no use, whatever was edited.
    for (from, to) in [("50000", "90000"), ("50000", "40000"), ("\"ask\"", "\"observe\"")] {
        std::fs::write(&path, text.replace(from, to)).unwrap();
        assert_eq!(stage.file(&book, &token, "b", 1).unwrap_err().code(), "store_error");
        let refused = stage.approve(&book, request.id).unwrap_err().to_string();
        assert!(refused.contains("changed since it was issued"), "{refused}");
        assert!(list(&stage.spends(&book)).unwrap()[0].paused.is_some());
    }
    // Deleted it is paused, and put back it is as it was.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(stage.file(&book, &token, "b", 1).unwrap_err().code(), "no_grant");
    assert!(stage.approve(&book, request.id).unwrap_err().to_string().contains("missing"));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(stage.stands(&book, request.id), ("pending_approval", 50_000));
    assert_eq!(stage.approve(&book, request.id).unwrap().request.state.status(), "sent");
    // Put back after it was revoked, it is nothing.
    let request = stage.file(&book, &token, "b", 1_000).unwrap();
    revoke(&stage.spends(&book), &agent()).unwrap();
    assert!(!path.exists());
    std::fs::write(&path, &text).unwrap();
    assert_eq!(stage.file(&book, &token, "c", 1).unwrap_err().code(), "no_grant");
    assert_eq!(denied(&stage.approve(&book, request.id).unwrap().request), "revoked");
}

#[test]
fn at_its_last_second_a_grant_is_over() {
    let stage = Stage::new();
    let book = stage.book();
    let issued = stage.issue(&book);
    let request = stage.file(&book, &issued.token, "a", 1_000).unwrap();
    stage.clock.set(issued.grant.expires_at);
    let late = stage.file(&book, &issued.token, "b", 1_000).unwrap();
    assert_eq!(denied(&late), "expired");
    let session = Session::new(agent(), issued.token.clone());
    let code = super::grant::grant(&stage.spends(&book), &session).unwrap_err().code();
    assert_eq!(code, "no_grant");
    // Listing takes its document away; what was filed is still denied for the right reason.
    assert!(list(&stage.spends(&book)).unwrap().is_empty());
    assert!(!stage.sats().join("signet/grants/claude.json").exists());
    assert_eq!(denied(&stage.approve(&book, request.id).unwrap().request), "expired");
    assert_eq!(stage.wrong.chains.get(), 0);
}

#[test]
fn a_clock_that_is_behind_lets_nothing_out() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.clock.set(stage.clock.now().minus(std::time::Duration::from_secs(60)));
    assert_eq!(stage.file(&book, &token, "b", 1).unwrap_err().code(), "clock_unavailable");
    assert!(stage.approve(&book, request.id).unwrap_err().to_string().contains("the clock says"));
    let spends = stage.spends(&book);
    assert!(issue(&spends, &stage.terms(), || unreachable!()).is_err());
    // Narrowing is never refused for it.
    assert!(mode(&spends, &agent(), Mode::Observe, || unreachable!()).unwrap().changed());
    assert!(mode(&spends, &agent(), Mode::Ask, || unreachable!()).is_err());
    dismiss(&spends, &request.id.to_string()).unwrap();
    revoke(&spends, &agent()).unwrap();
}

#[test]
fn widening_takes_the_password_and_narrowing_does_not() {
    let stage = Stage::new();
    let book = stage.book();
    let spends = stage.spends(&book);
    let no = || Err("the password is wrong".to_owned());
    assert!(issue(&spends, &stage.terms(), no).is_err());
    let mut terms = stage.terms();
    terms.recipients = Some(vec![]);
    issue(&spends, &terms, || Ok(())).unwrap();
    let ada = ADDRESS.parse().unwrap();
    assert!(allow(&spends, &agent(), &ada, no).is_err());
    assert_eq!(allow(&spends, &agent(), &ada, || Ok(())).unwrap(), OnList::Allowed);
    assert_eq!(allow(&spends, &agent(), &ada, || unreachable!()).unwrap(), OnList::AlreadyAllowed);
    assert_eq!(disallow(&spends, &agent(), &ada).unwrap(), (OnList::Disallowed, false));
    assert_eq!(disallow(&spends, &agent(), &ada).unwrap(), (OnList::NotListed, false));
    mode(&spends, &agent(), Mode::Observe, || unreachable!()).unwrap();
    assert!(mode(&spends, &agent(), Mode::Ask, no).is_err());
    let set = mode(&spends, &agent(), Mode::Ask, || Ok(())).unwrap();
    assert!(set.widened() && set.previous == Mode::Observe);
    stage.issue(&book);
    assert_eq!(allow(&spends, &agent(), &ada, || unreachable!()).unwrap(), OnList::Unrestricted);
    assert!(disallow(&spends, &agent(), &ada).is_err());
    let kinds = "granted recipient_allowed recipient_disallowed mode_changed mode_changed granted";
    assert_eq!(stage.kinds().join(" "), kinds);
}

#[test]
fn ids_may_be_shortened_but_not_guessed() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let first = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.file(&book, &token, "b", 1_000).unwrap();
    let spends = stage.spends(&book);
    for (id, why) in [("", "more than one"), ("r-", "more than one"), ("x", "no request")] {
        assert!(dismiss(&spends, id).unwrap_err().to_string().contains(why), "{id}");
    }
    let id = first.id.to_string();
    assert_eq!(dismiss(&spends, &id[..20]).unwrap().id, first.id);
    assert!(dismiss(&spends, &id).unwrap_err().to_string().contains("was declined already"));
}

#[test]
fn a_lost_answer_is_settled_without_a_second_broadcast() {
    use granted_core::spend::chain::Transactions as _;
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    stage.wrong.unsent.set(true);
    let approved = stage.approve(&book, request.id).unwrap();
    assert_eq!(approved.request.state.status(), "broadcast_pending");
    let listed = requests(&stage.spends(&book), false, &stage.wallet).unwrap();
    assert_eq!(listed[0].state.status(), "broadcast_pending");
    // Somebody broadcasts the saved bytes.
    let txid = approved.request.paid().unwrap().txid;
    stage.wallet.mark_broadcast(&txid).unwrap();
    super::settle::check_free(&stage.spends(&book), request.id).unwrap();
    super::settle::broadcast(&stage.spends(&book), request.id, &stage.wallet).unwrap();
    assert_eq!(stage.stands(&book, request.id), ("sent", 48_800));
    assert_eq!((stage.wallet.signatures().len(), stage.wallet.seen().len()), (1, 1));
    let kinds = ["granted", "filed", "signing", "signed", "broadcast_pending", "sent"];
    assert_eq!(stage.kinds(), kinds);
}
