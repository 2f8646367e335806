//! Proofs that a book's own key signed, of rows that are none or of no legal story.

use granted_core::decision::event::Expired;
use granted_core::decision::{Class, Grant, Reason, Use};
use granted_core::id::Id;
use granted_core::ledger::{Event, Subject};
use granted_core::proof::Check;
use granted_core::trust::{Mode, Statement};

use crate::proofs::accepted;
use crate::story::Story;
use crate::tale::{Key, Tale, signed_by};
use crate::writes;

/// A proof that is none.
pub struct Forged {
    /// What was done.
    pub name: &'static str,
    /// The file.
    pub text: String,
    /// The check that finds it.
    pub check: Check,
}

/// A book whose rows 2 to 5 mint a grant and use it, and whose row 6 mints another.
fn used() -> (Tale, Grant, Grant) {
    let mut tale = Tale::default();
    let grant = tale.grant("2026-09-30");
    tale.mint(&grant);
    tale.use_up(&grant);
    let other = tale.grant("other");
    tale.mint(&other);
    (tale, grant, other)
}

fn forged(check: Check, name: &'static str, text: String) -> Forged {
    Forged { name, text, check }
}

/// Lines that are no rows.
pub fn rows() -> Vec<Forged> {
    let one = |(name, seq, from, to): (&'static str, u64, &str, &str)| {
        let (mut tale, grant, _) = used();
        tale.forge(seq, from, to);
        forged(Check::Rows, name, tale.prove_by(grant.id, &[2, 3, 4, 5]))
    };
    let all = [
        ("a space", 3, ",\"by\"", ", \"by\""),
        ("another number", 3, "\"seq\":3", "\"seq\":4"),
        ("another version", 3, "\"v\":1", "\"v\":2"),
        ("an unknown kind", 3, "decision.intent", "decision.intend"),
        ("an unknown field", 3, "\"kind\":", "\"kin\":0,\"kind\":"),
        ("an unknown field of the body", 4, "\"ok\":true", "\"ok\":true,\"or\":true"),
        ("a missing field of the body", 5, "\"detail\":\"\",", ""),
        ("a fraction", 3, "\"uid\":1000", "\"uid\":1000.0"),
        ("a time in another form", 3, ":02.250000Z", ":02.25Z"),
        ("a key twice", 3, "\"v\":1", "\"v\":1,\"v\":1"),
        ("no JSON", 3, "}", ""),
    ];
    all.into_iter().map(one).collect()
}

/// Rows of another grant or another book.
pub fn grants() -> Vec<Forged> {
    let (tale, grant, other) = used();
    let mut all = vec![
        forged(Check::Grant, "of another", tale.prove_by(other.id, &tale.seqs_of(grant.id))),
        forged(Check::Grant, "not minted", tale.prove_by(grant.id, &[3, 4, 5])),
    ];
    let (mut tale, grant, other) = used();
    tale.forge(2, &format!("\"id\":\"{}\"", grant.id), &format!("\"id\":\"{}\"", other.id));
    all.push(forged(Check::Grant, "mints another", tale.prove_by(grant.id, &[2, 3, 4, 5])));
    let (mut tale, grant, _) = used();
    let book = tale.story.book;
    tale.forge(2, &format!("\"book\":\"{book}\""), &format!("\"book\":\"{}\"", grant.id));
    all.push(forged(Check::Grant, "of another book", tale.prove_by(grant.id, &[2, 3, 4, 5])));
    all
}

/// Rows that are left out, doubled, or changed so that they are no legal story.
pub fn histories() -> Vec<Forged> {
    let mut all = Vec::new();
    let mut add = |name, text| all.push(forged(Check::History, name, text));
    let (tale, grant, other) = used();
    add("no intent", tale.prove_by(grant.id, &[2, 4, 5]));
    add("no result", tale.prove_by(grant.id, &[2, 3, 5]));
    add("a foreign row", tale.prove_by(grant.id, &[2, 3, 4, 5, 6]));
    add("the opening row", tale.prove_by(other.id, &[1, 6]));
    for (name, seq, from, to) in [
        ("another guard of the grant", 3, "\",2]]", "\",1]]"),
        ("another guard of the attempt", 5, "\",4],", "\",3],"),
        ("minted after something", 2, "\",0],[\"object", "\",1],[\"object"),
        ("minted spent", 2, "\"consumed\":false", "\"consumed\":true"),
        (
            "minted with a date of use",
            2,
            "\"consumed_at\":null",
            "\"consumed_at\":\"2026-09-30T08:00:01Z\"",
        ),
        ("an empty window", 2, "\"not_before\":null", "\"not_before\":\"2026-10-01T08:00:01.25Z\""),
        (
            "a window that opens later",
            2,
            "\"not_before\":null",
            "\"not_before\":\"2026-09-30T08:00:02.250001Z\"",
        ),
        (
            "a window that has closed",
            2,
            "\"not_after\":\"2026-10-01T08:00:01.25Z\"",
            "\"not_after\":\"2026-09-30T08:00:02.25Z\"",
        ),
        (
            "minted for another object",
            2,
            "\"id\":\"2026-09-30\",\"type\"",
            "\"id\":\"2026-09-31\",\"type\"",
        ),
        ("a claim of another object", 3, "\"id\":\"2026-09-30\"", "\"id\":\"2026-09-31\""),
        ("an outcome about another object", 5, "\"id\":\"2026-09-30\"", "\"id\":\"2026-09-31\""),
        ("an outcome of another sort", 5, "discharged", "uncertain"),
        (
            "confirmed by a failure",
            4,
            "\"exit\":0},\"from\":\"wrapper\",\"ok\":true",
            "\"exit\":1},\"from\":\"wrapper\",\"ok\":false",
        ),
        ("an end that is not ok", 4, "\"exit\":0", "\"exit\":1"),
        ("an executor that says how it ended", 4, "wrapper", "executor"),
        (
            "declined with exit status 0",
            5,
            "\"outcome\":\"discharged\",\"reason\":\"confirmed\"",
            "\"outcome\":\"refused\",\"reason\":\"executor_declined\"",
        ),
        (
            "a reason from before a claim",
            5,
            "\"outcome\":\"discharged\",\"reason\":\"confirmed\"",
            "\"outcome\":\"refused\",\"reason\":\"consumed\"",
        ),
        ("a late result before the outcome", 4, "decision.result", "decision.late_result"),
        ("a subject too few", 3, "[\"discharge:", "[\"grant:"),
    ] {
        let (mut tale, grant, _) = used();
        tale.forge(seq, from, to);
        add(name, tale.prove_by(grant.id, &[2, 3, 4, 5]));
    }
    let (mut tale, grant, other) = used();
    tale.forge(5, &format!("\"grant\":\"{}\"", grant.id), &format!("\"grant\":\"{}\"", other.id));
    add("an outcome about another grant", tale.prove_by(grant.id, &[2, 3, 4, 5]));
    let mut story = |name, tell: &dyn Fn(&mut Tale, &Grant)| {
        let mut tale = Tale::default();
        let grant = tale.grant("2026-09-30");
        tale.mint(&grant);
        tell(&mut tale, &grant);
        add(name, tale.prove(grant.id));
    };
    let expire = |tale: &mut Tale, grant: &Grant, uses| {
        let body = Expired { outcome: Class::Expired, reason: Reason::Expired, uses };
        tale.row(Event::Expired(body), vec![Subject::grant(grant.id)]);
    };
    story("minted twice", &|tale, grant| tale.mint(grant));
    story("used twice", &|tale, grant| (0..2).for_each(|_| tale.use_up(grant)));
    story("claimed while it ran", &|tale, grant| {
        (0..2).for_each(|_| _ = tale.claim(grant));
    });
    story("claimed when revoked", &|tale, grant| {
        tale.revoke(grant);
        tale.claim(grant);
    });
    story("revoked twice", &|tale, grant| (0..2).for_each(|_| tale.revoke(grant)));
    story("revoked when spent", &|tale, grant| {
        tale.use_up(grant);
        tale.revoke(grant);
    });
    story("expired before its end", &|tale, grant| expire(tale, grant, 0));
    story("expired when spent", &|tale, grant| {
        tale.use_up(grant);
        tale.story.scribe.now = grant.not_after;
        expire(tale, grant, 1);
    });
    story("expired after uses that were not", &|tale, grant| {
        tale.story.scribe.now = grant.not_after;
        expire(tale, grant, 1);
    });
    story("confirmed by nothing", &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.cut_off(grant, attempt, Reason::Confirmed);
    });
    story("two results", &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.append(vec![Story::exited(attempt, 0), Story::exited(attempt, 0)]);
    });
    story("resolved, and was not uncertain", &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.end(grant, attempt, 0, Reason::Confirmed);
        tale.resolve(attempt, None);
    });
    story("resolved twice", &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.cut_off(grant, attempt, Reason::Interrupted);
        (0..2).for_each(|_| tale.resolve(attempt, None));
    });
    for (name, subject) in [
        ("a day closed", writes::day()),
        ("a project closed", writes::project().subject()),
        ("no change set closed", Subject::new("write:1").unwrap()),
        ("no dispatch closed", Subject::new("dispatch:0a").unwrap()),
    ] {
        story(name, &|tale, grant| {
            tale.row(accepted(), vec![Subject::grant(grant.id), subject.clone()]);
        });
    }
    story("two outcomes", &|tale, grant| {
        let attempt = tale.claim(grant);
        (0..2).for_each(|_| tale.cut_off(grant, attempt, Reason::Interrupted));
    });
    let mut tale = Tale::signed();
    let grant = signed_by(&Key::file(1), tale.grant("2026-09-30"));
    tale.mint(&grant);
    add("not the first row of trust", tale.prove_by(grant.id, &[3, 4]));
    all
}

/// Changes what a book trusts, with its key and another.
type Tell = fn(&mut Tale, &Key, &Key);

/// What is not signed as it has to be.
pub fn signatures() -> Vec<Forged> {
    let mut all = Vec::new();
    let mut add = |name, tale: &Tale, grant: Id| {
        all.push(forged(Check::Signatures, name, tale.prove(grant)));
    };
    let (one, two, token) = (Key::file(1), Key::file(2), Key::security(3));
    let mut minted = |name, tale: &dyn Fn() -> Tale, sign: &dyn Fn(&Grant) -> Grant| {
        let mut tale = tale();
        let grant = tale.grant("2026-09-30");
        let grant = sign(&grant);
        tale.mint(&grant);
        tale.use_up(&grant);
        add(name, &tale, grant.id);
    };
    let with = |grant: &Grant, signature| Grant { signatures: vec![signature], ..grant.clone() };
    let moved = |grant: &Grant| Grant { decision: Use::Session, ..grant.clone() };
    let other_purpose = |grant: &Grant| Statement::open(grant.book, 3);
    minted("unsigned", &Tale::signed, &Grant::clone);
    minted("by a stranger", &Tale::signed, &|grant| signed_by(&two, grant.clone()));
    minted("by a stranger too", &Tale::signed, &|grant| {
        let statement = Statement::grant(grant);
        let signatures = vec![one.sign(&statement), two.sign(&statement)];
        Grant { signatures, ..grant.clone() }
    });
    minted("by a stranger in open mode", &Tale::default, &|grant| signed_by(&two, grant.clone()));
    minted("by another grant's", &Tale::signed, &|grant| {
        with(grant, one.sign(&Statement::grant(&moved(grant))))
    });
    minted("by SSH of another grant", &Tale::signed, &|grant| {
        with(grant, one.sshsig(&Statement::grant(&moved(grant))))
    });
    minted("for another purpose", &Tale::signed, &|grant| {
        with(grant, one.sign(&other_purpose(grant)))
    });
    minted("in another namespace", &Tale::signed, &|grant| {
        with(grant, one.sshsig(&other_purpose(grant)))
    });
    minted("under another key's id", &Tale::signed, &|grant| {
        let mut signature = two.sign(&Statement::grant(grant));
        signature.key = one.public.id();
        with(grant, signature)
    });
    minted("under another key's id by SSH", &Tale::signed, &|grant| {
        let mut signature = two.sshsig(&Statement::grant(grant));
        signature.key = one.public.id();
        with(grant, signature)
    });
    let token_too = || {
        let mut tale = Tale::signed();
        tale.trust(&token, "token", Some(&one));
        tale
    };
    minted("by a token that nobody touched", &token_too, &|grant| {
        with(grant, token.sshsig_with(&Statement::grant(grant), 4))
    });
    minted("by a token in the plain form", &token_too, &|grant| {
        with(grant, token.sign(&Statement::grant(grant)))
    });
    let open = || {
        let mut tale = Tale::default();
        tale.trust(&one, "one", None);
        tale
    };
    minted("wrong in open mode", &open, &|grant| {
        with(grant, one.sign(&Statement::grant(&moved(grant))))
    });
    let good = |grant: &Grant| signed_by(&one, grant.clone());
    let by_two = |grant: &Grant| signed_by(&two, grant.clone());
    let tells: [(&str, Tell); 7] = [
        ("a second key without a signature", |tale, _, two| tale.trust(two, "two", None)),
        ("a second key that signs for itself", |tale, _, two| tale.trust(two, "two", Some(two))),
        ("a key twice", |tale, one, _| tale.trust(one, "two", Some(one))),
        ("a name twice", |tale, one, two| tale.trust(two, "one", Some(one))),
        ("one untrusted that was not trusted", |tale, _, two| tale.untrust(two)),
        ("signatures given up without one", |tale, _, _| tale.mode(Mode::Open, None)),
        ("signatures given up by a stranger", |tale, _, two| tale.mode(Mode::Open, Some(two))),
    ];
    for (name, tell) in tells {
        let told = || {
            let mut tale = Tale::signed();
            tell(&mut tale, &one, &two);
            tale
        };
        minted(name, &told, if name.contains("second") { &by_two } else { &good });
    }
    let gone = || {
        let mut tale = Tale::signed();
        tale.untrust(&Key::file(1));
        tale
    };
    minted("by a key untrusted before", &gone, &good);

    let mut tale = Tale::signed();
    let grant = good(&tale.grant("2026-09-30"));
    tale.mint(&grant);
    tale.untrust(&one);
    tale.claim(&grant);
    add("used after its key was untrusted", &tale, grant.id);
    let mut tale = open();
    let grant = tale.grant("2026-09-30");
    tale.mint(&grant);
    tale.mode(Mode::Signed, None);
    tale.claim(&grant);
    add("minted unsigned, used when signatures were asked for", &tale, grant.id);
    for (name, by) in [("a word without a signature", None), ("a stranger's word", Some(&two))] {
        let mut tale = Tale::signed();
        let grant = good(&tale.grant("2026-09-30"));
        tale.mint(&grant);
        let attempt = tale.claim(&grant);
        tale.cut_off(&grant, attempt, Reason::Interrupted);
        tale.resolve(attempt, by);
        add(name, &tale, grant.id);
    }
    all
}
