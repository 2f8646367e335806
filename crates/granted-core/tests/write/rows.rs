//! Whatever the bodies of writes hold, their rows are canonical, and come back as they were.

use granted_core::digest::Digest;
use granted_core::ledger::{By, Door, Event, Row};
use granted_core::trust::Statement;
use granted_core::write::event::{
    After, Applied, Before, Confinement, DirectGrantsLoaded, DirectRevoked, FileChange, GateRun,
    Refused, Rejected, Request, Undone, Unresolved,
};
use granted_core::write::{DirectGrant, Refusal};
use granted_testkit::sample::{id, now};
use granted_testkit::tale::Key;
use granted_testkit::writes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::string::string_regex;

/// Characters that are shown, also such as sort differently in UTF-8 and UTF-16.
const SHOWN: &str = "[a-zA-Z0-9 ._\"'<>&é日😀\u{fb33}\u{ff21}𝐀-]";

/// Something, then so many of these characters.
fn shown(first: &str, least: u32, most: u32) -> impl Strategy<Value = String> {
    string_regex(&format!("{first}{SHOWN}{{{least},{most}}}")).unwrap()
}

fn note() -> impl Strategy<Value = String> {
    "[\\PC\n\t\u{0}\u{7f}\u{2028}\u{202e}\"]{1,60}"
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

fn path() -> impl Strategy<Value = String> {
    vec(shown("[a-z]", 0, 12), 1..4).prop_map(|segments| segments.join("/"))
}

fn int() -> impl Strategy<Value = u64> {
    prop_oneof![0..100_u64, Just((1 << 53) - 1)]
}

fn change() -> impl Strategy<Value = FileChange> {
    let before = (int(), any::<u32>(), digest());
    let before = before.prop_map(|(bytes, mode, sha256)| Before { bytes, mode, sha256 });
    let after = (int(), option::of(any::<u32>()), digest());
    let after = after.prop_map(|(bytes, mode, sha256)| After { bytes, mode, sha256 });
    (option::of(after), option::of(before), path()).prop_map(|(after, before, path)| FileChange {
        after,
        before,
        path: path.parse().unwrap(),
    })
}

fn name() -> impl Strategy<Value = String> {
    shown("", 1, 64)
}

fn gate() -> impl Strategy<Value = GateRun> {
    (any::<bool>(), digest(), int(), name(), option::of(path())).prop_map(
        |(landlock, digest, duration_ms, gate, path)| GateRun {
            confined: if landlock { Confinement::Landlock } else { Confinement::None },
            digest,
            duration_ms,
            gate: gate.parse().unwrap(),
            path: path.map(|path| path.parse().unwrap()),
        },
    )
}

prop_compose! {
    fn request()(
        agent in option::of("[a-z0-9][a-z0-9-]{0,20}"),
        changes in vec(change(), 0..5),
        digest in digest(),
        gates in vec(gate(), 0..3),
        asked in vec(name(), 0..3),
        key in option::of(name()),
        project in shown("/", 0, 40),
        rationale in note(),
        reverts in option::of(any::<u64>()),
    ) -> Request {
        Request {
            agent: agent.map(|agent| agent.parse().unwrap()),
            brief: digest,
            changes,
            digest,
            gates,
            gates_asked: asked.iter().map(|name| name.parse().unwrap()).collect(),
            key: key.map(|key| key.parse().unwrap()),
            project: project.parse().unwrap(),
            rationale: rationale.parse().unwrap(),
            reverts: reverts.map(id),
        }
    }
}

prop_compose! {
    fn grant()(
        gates in prop::collection::btree_map("[A-Za-z0-9._-]{1,12}", digest(), 0..5),
        scopes in vec(path(), 0..4),
        max_writes in int(),
        server in note(),
        number in any::<u64>(),
    ) -> DirectGrant {
        DirectGrant {
            gates: gates.into_iter().map(|(name, digest)| (name.parse().unwrap(), digest)).collect(),
            max_writes,
            server: server.into(),
            write_scopes: scopes.into_iter().map(String::into).collect(),
            ..writes::grant(id(0), number, now(), Key::file(1).public.id())
        }
    }
}

/// A row of every kind.
fn event() -> impl Strategy<Value = Event> {
    let parts =
        (request(), grant(), note(), vec(path(), 0..4), any::<bool>(), 0..Refusal::ALL.len());
    parts.prop_flat_map(|(request, grant, note, paths, flag, reason)| {
        let paths: Vec<_> = paths.iter().map(|path| path.parse().unwrap()).collect();
        let detail: Box<str> = note.as_str().into();
        let word = || note.parse().unwrap();
        let mut refused = writes::refused(id(1), None).0;
        if let Event::WriteRefused(body) = &mut refused {
            *body =
                Refused { detail: detail.clone(), reason: Refusal::ALL[reason], ..body.clone() };
        }
        let mut direct = writes::direct(id(1), request.clone(), &grant, 1).0;
        if let Event::WriteDirect(body) = &mut direct {
            body.folders = paths.clone();
        }
        let mut staged = writes::staged(id(1), Request { agent: None, ..request.clone() }, None).0;
        if let Event::WriteStaged(body) = &mut staged {
            body.request = request.clone();
            body.why = flag.then(|| note.parse().unwrap());
        }
        let loaded = DirectGrantsLoaded {
            active: vec![grant.grant_id],
            file: flag.then_some(request.digest),
            key_fingerprints: vec![request.digest],
            problems: vec![detail.clone()],
            project: request.project.clone(),
        };
        let (by, reason) = (word(), flag.then(word));
        prop::sample::select(vec![
            staged,
            refused,
            direct,
            writes::approved(id(1), &request).0,
            Event::WriteApplied(Applied { recovered: flag }),
            Event::WriteUndone(Undone { detail: detail.clone() }),
            Event::WriteUnresolved(Unresolved { detail, foreign: paths }),
            Event::WriteRejected(Rejected { by, reason: reason.clone() }),
            writes::expired(id(1), None).0,
            writes::dispatched(1, u32::from(flag)).0,
            writes::granted(&grant, &Key::file(1)).0,
            Event::DirectRevoked(DirectRevoked { by: reason.clone(), note: reason }),
            Event::DirectLoaded(loaded),
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_row_is_canonical_and_comes_back(event in event()) {
        let by = By { agent: None, door: Door::Mcp, host: "box".into(), uid: 1 };
        let prev = Digest::ZERO;
        let row = Row { at: now(), event, by, of: None, prev, refs: vec![], seq: 1 };
        let line = row.line();
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let canonical = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(String::from_utf8(canonical), String::from_utf8(line.clone()));
        prop_assert_eq!(Row::parse(&line), Ok(row));
    }

    #[test]
    fn a_statement_of_a_direct_grant_comes_back(grant in grant()) {
        let bytes = Statement::direct(&grant).bytes();
        prop_assert_eq!(Statement::read_direct(&bytes), Some(grant));
    }
}

/// Names that sort differently in UTF-8 and UTF-16 would be written in an order that no other program has.
#[test]
fn a_gate_has_a_plain_name() {
    let grant = writes::grant(id(0), 1, now(), Key::file(1).public.id());
    let text = serde_json::to_string(&grant).unwrap();
    let gate = format!("\"lint\":\"{}\"", Digest::of(b"ruff"));
    assert!(text.contains(&gate));
    assert!(serde_json::from_str::<DirectGrant>(&text).is_ok());
    for name in ["lint ", "\u{ff21}"] {
        let bad = text.replace(&gate, &gate.replace("lint", name));
        let error = serde_json::from_str::<DirectGrant>(&bad).unwrap_err();
        assert!(error.to_string().contains("no name of a gate"), "{error}");
    }
}
