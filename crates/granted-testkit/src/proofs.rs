//! Proofs of every shape.

use std::time::Duration;

use granted_core::decision::event::{ActResult, Expired};
use granted_core::decision::{Bind, Class, From, Grant, Reason, Use};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::json::Json;
use granted_core::ledger::event::{Accepted, Torn, What};
use granted_core::ledger::{Event, Subject};
use granted_core::trust::{Mode, Statement};

use crate::sample;
use crate::story::Story;
use crate::tale::{Key, Tale, signed_by};
use crate::writes;

/// A good proof.
pub struct Good {
    /// What it is about.
    pub name: &'static str,
    /// The file.
    pub text: String,
    /// The ledger that it is of.
    pub ledger: Vec<u8>,
    /// The keys that signed the grant.
    pub keys: Vec<Key>,
    /// Whether the grant is over.
    pub over: bool,
}

fn expired(uses: u64) -> Event {
    Event::Expired(Expired { outcome: Class::Expired, reason: Reason::Expired, uses })
}

/// What a person accepts: a damaged end.
pub(crate) fn accepted() -> Event {
    let torn = Torn { bytes: 317, file: "ledger.torn-1".into(), sha256: Digest::of(b"torn") };
    Event::Accepted(Accepted {
        by: "ada".parse().unwrap(),
        reason: "the disk was full".parse().unwrap(),
        signature: None,
        what: vec![What::Damage(torn)],
    })
}

/// What the executor itself says.
fn own(ok: bool) -> Event {
    let receipt = Json::object([
        ("message_id", Json::from("<42@example>")),
        ("\u{fb33}", Json::Int(-5)),
        ("\u{1f600}", Json::from("\u{7f}\u{1} \"\\/\n€")),
    ]);
    Event::Result(ActResult {
        ended: None,
        from: From::Executor,
        ok,
        receipt: Some(receipt),
        stderr: None,
        stdout: None,
    })
}

fn session(grant: Grant) -> Grant {
    Grant { decision: Use::Session, ..grant }
}

/// Good proofs, the same each time.
pub fn good() -> Vec<Good> {
    let mut all = Vec::new();
    let mut add = |name, over, keys: Vec<Key>, tell: &dyn Fn(&mut Tale) -> Id, mut tale: Tale| {
        let grant = tell(&mut tale);
        all.push(Good { name, text: tale.prove(grant), ledger: tale.ledger(), keys, over });
    };
    let mut open = |name, over, tell: &dyn Fn(&mut Tale, &Grant)| {
        let tell = |tale: &mut Tale| {
            let grant = tale.grant("2026-09-30");
            tale.mint(&grant);
            tell(tale, &grant);
            grant.id
        };
        add(name, over, vec![], &tell, Tale::default());
    };
    open("confirmed", true, &|tale, grant| tale.use_up(grant));
    open("confirmed by the executor", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.row(own(true), vec![Subject::discharge(attempt)]);
        tale.end(grant, attempt, 0, Reason::Confirmed);
    });
    open("confirmed among others", true, &|tale, grant| {
        let other = tale.grant("other");
        tale.mint(&other);
        let attempt = tale.claim(grant);
        tale.use_up(&other);
        tale.end(grant, attempt, 0, Reason::Confirmed);
        for number in 0..300 {
            let grant = tale.grant(&number.to_string());
            tale.mint(&grant);
        }
    });
    open("failed", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.end(grant, attempt, 1, Reason::ExecutorFailed);
    });
    open("its result failed", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.row(own(false), vec![Subject::discharge(attempt)]);
        tale.end(grant, attempt, 0, Reason::ResultFailed);
    });
    open("declined", false, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.end(grant, attempt, 75, Reason::ExecutorDeclined);
    });
    open("declined, then confirmed", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.end(grant, attempt, 75, Reason::ExecutorDeclined);
        tale.use_up(grant);
    });
    open("timed out", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.cut_off(grant, attempt, Reason::Timeout);
    });
    open("interrupted, late and resolved", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.cut_off(grant, attempt, Reason::Interrupted);
        let late = match Story::exited(attempt, 0).0 {
            Event::Result(result) => Event::LateResult(result),
            other => other,
        };
        tale.row(late, vec![Subject::discharge(attempt)]);
        tale.resolve(attempt, None);
    });
    open("running", false, &|tale, grant| _ = tale.claim(grant));
    open("unused", false, &|_, _| {});
    open("expired unused", true, &|tale, grant| {
        tale.story.scribe.now = grant.not_after;
        tale.row(expired(0), vec![Subject::grant(grant.id)]);
    });
    open("revoked unused", true, &|tale, grant| tale.revoke(grant));
    open("revoked while it ran", true, &|tale, grant| {
        let attempt = tale.claim(grant);
        tale.revoke(grant);
        tale.end(grant, attempt, 0, Reason::Confirmed);
    });
    open("closed", true, &|tale, grant| {
        let other = tale.grant("other");
        tale.row(accepted(), vec![Subject::grant(other.id), Subject::grant(grant.id)]);
    });
    open("closed with writes", true, &|tale, grant| {
        let (direct, dispatch) = (Subject::direct(sample::id(1)), writes::dispatch_subject(1));
        let closed =
            vec![direct, dispatch, Subject::grant(grant.id), Subject::write(sample::id(2))];
        tale.row(accepted(), closed);
    });
    let mut of_session = |name, over, tell: &dyn Fn(&mut Tale, &Grant)| {
        let tell = |tale: &mut Tale| {
            let grant = session(tale.grant("é/€ \"1\""));
            tale.mint(&grant);
            tell(tale, &grant);
            grant.id
        };
        add(name, over, vec![], &tell, Tale::default());
    };
    of_session("a session, used thrice and expired", true, &|tale, grant| {
        (0..3).for_each(|_| tale.use_up(grant));
        tale.story.scribe.now = grant.not_after.plus(Duration::from_secs(5));
        tale.row(expired(3), vec![Subject::grant(grant.id)]);
    });
    of_session("a session that a failure ended", true, &|tale, grant| {
        tale.use_up(grant);
        let attempt = tale.claim(grant);
        tale.end(grant, attempt, 9, Reason::ExecutorFailed);
    });
    of_session("a session, used and open", false, &|tale, grant| tale.use_up(grant));
    of_session("a session that runs again", false, &|tale, grant| {
        tale.use_up(grant);
        tale.claim(grant);
    });
    let plain = |mut grant: Grant| {
        grant.signatures = vec![Key::file(1).sign(&Statement::grant(&grant))];
        grant
    };
    let mut signed = |name, keys, sign: &dyn Fn(Grant) -> Grant, tale: Tale| {
        let tell = |tale: &mut Tale| {
            let grant = sign(tale.grant("2026-09-30"));
            tale.mint(&grant);
            tale.use_up(&grant);
            grant.id
        };
        add(name, true, keys, &tell, tale);
    };
    signed("signed by a key in a file", vec![Key::file(1)], &plain, Tale::signed());
    let by_ssh = |grant: Grant| {
        let signatures = vec![Key::file(1).sshsig(&Statement::grant(&grant))];
        Grant { signatures, ..grant }
    };
    signed("signed by an SSH key", vec![Key::file(1)], &by_ssh, Tale::signed());
    let mut tale = Tale::signed();
    tale.trust(&Key::security(2), "token", Some(&Key::file(1)));
    let by_token = |grant: Grant| {
        let signatures = vec![Key::security(2).sshsig(&Statement::grant(&grant))];
        Grant { signatures, ..grant }
    };
    signed("signed by a security key", vec![Key::security(2)], &by_token, tale);
    let twice = |grant: Grant| {
        let statement = Statement::grant(&grant);
        let signatures = vec![Key::file(3).sign(&statement), Key::file(1).sshsig(&statement)];
        Grant { signatures, ..grant }
    };
    let mut tale = Tale::signed();
    tale.trust(&Key::file(3), "three", Some(&Key::file(1)));
    signed("signed by two", vec![Key::file(1), Key::file(3)], &twice, tale);
    let mut tale = Tale::default();
    tale.trust(&Key::file(1), "one", None);
    signed("unsigned in open mode", vec![], &|grant| grant, tale);
    let mut tale = Tale::default();
    tale.trust(&Key::file(1), "one", None);
    let by_one = |grant| signed_by(&Key::file(1), grant);
    signed("signed in open mode", vec![Key::file(1)], &by_one, tale);
    let mut tale = Tale::signed();
    tale.mode(Mode::Open, Some(&Key::file(1)));
    signed("unsigned, signatures given up", vec![], &|grant| grant, tale);
    let mut tale = Tale::signed();
    tale.trust(&Key::file(2), "two", Some(&Key::file(1)));
    tale.untrust(&Key::file(1));
    tale.trust(&Key::file(1), "again", Some(&Key::file(2)));
    signed("many rows of trust", vec![Key::file(1)], &plain, tale);
    let full = |grant: Grant| {
        plain(Grant {
            agent: Some("claude".parse().unwrap()),
            binds: vec![Bind {
                path: "/home/ada/report.txt".parse().unwrap(),
                sha256: Digest::of(b"report"),
            }],
            executor: Some("send_report".parse().unwrap()),
            executor_bound: Some(Box::new(sample::identity())),
            not_before: Some(grant.minted_at),
            ..grant
        })
    };
    signed("signed with every field", vec![Key::file(1)], &full, Tale::signed());
    let later = |tale: &mut Tale| {
        let grant = plain(tale.grant("2026-09-30"));
        tale.mint(&grant);
        let attempt = tale.claim(&grant);
        tale.untrust(&Key::file(1));
        tale.end(&grant, attempt, 0, Reason::Confirmed);
        tale.mode(Mode::Signed, None);
        grant.id
    };
    add("its key untrusted later", true, vec![Key::file(1)], &later, Tale::signed());
    let resolved = |tale: &mut Tale| {
        let grant = plain(tale.grant("2026-09-30"));
        tale.mint(&grant);
        let attempt = tale.claim(&grant);
        tale.cut_off(&grant, attempt, Reason::Interrupted);
        tale.resolve(attempt, Some(&Key::file(1)));
        grant.id
    };
    add("a signed word on what was uncertain", true, vec![Key::file(1)], &resolved, Tale::signed());
    let idle = |tale: &mut Tale| {
        let grant = plain(tale.grant("2026-09-30"));
        tale.mint(&grant);
        tale.story.scribe.now = grant.not_after;
        tale.row(expired(0), vec![Subject::grant(grant.id)]);
        grant.id
    };
    add("signed and expired unused", true, vec![Key::file(1)], &idle, Tale::signed());
    all
}
