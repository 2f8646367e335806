//! Which direct grants are in force. The names of the tests are those of the cases that they play.

use std::collections::BTreeSet;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::event::Accepted;
use granted_core::ledger::{Event, Subject};
use granted_core::trust::{PublicKey, Statement};
use granted_core::write::DirectGrant;
use granted_core::write::direct::{
    self, MAX_FILE, Problem, check_terms, check_write_allowed, count_direct_writes,
    expected_binding, grants_file_for, key_fingerprint, read_grants,
};
use granted_testkit::sample::{id, now};
use granted_testkit::tale::Key;
use granted_testkit::writes;
use serde_json::{Value, json};

use super::world::{BRIEF, World, brief};

fn days(days: u64) -> Duration {
    Duration::from_secs(days * 86_400)
}

#[test]
fn d1_a_signed_record_is_in_force_and_its_file_lies_outside_the_project() {
    let mut world = World::new();
    let record = world.sign(&world.grant(7));
    let active = world.active(std::slice::from_ref(&record));
    let verified = &active.grants[&writes::agent()];
    assert_eq!(verified.grant(), &record.grant);
    assert_eq!((verified.used(), verified.last()), (0, 3));
    assert_eq!(active.problems, []);
    let file = grants_file_for(&world.project);
    assert_eq!(file, "direct-grants/site-154cd3bbf804.json");
    // Two projects of one name have two files, and a strange name makes no strange file.
    let other = grants_file_for(&"/home/bob/site".parse().unwrap());
    assert!(other.starts_with("direct-grants/site-") && other != file, "{other}");
    assert!(grants_file_for(&"/a/b é..".parse().unwrap()).starts_with("direct-grants/b__..-"));
}

/// The fields of a grant, each with another value that it may have.
fn edits() -> Vec<(&'static str, Value)> {
    vec![
        ("agent", json!("careful")),
        ("approval", json!("staged")),
        ("book", json!(id(9))),
        ("expires", json!("2026-10-08T08:00:00Z")),
        ("gates", json!({})),
        ("grant_id", json!(id(8))),
        ("issued", json!("2026-09-30T07:59:59Z")),
        ("key_id", json!("0000000000000000")),
        ("map_version", json!("2")),
        ("max_writes", json!(51)),
        ("project", json!("/home/ada/other")),
        ("server", json!("granted writes")),
        ("server_sha256", json!(Digest::of(b"other"))),
        ("tools", json!(["read_file_hashed"])),
        ("write_scopes", json!(["src/"])),
    ]
}

#[test]
fn d2_each_edited_field_voids_the_grant() {
    let mut world = World::new();
    let record = world.sign(&world.grant(7));
    assert_eq!(world.problem(&record), None);
    let value = serde_json::to_value(&record).unwrap();
    let fields: BTreeSet<&str> = edits().iter().map(|(field, _)| *field).collect();
    let all: BTreeSet<&str> =
        value["grant"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, all);
    for (field, other) in edits() {
        let mut edited = value.clone();
        edited["grant"][field] = other;
        match serde_json::from_value::<direct::DirectRecord>(edited) {
            // Not even a grant.
            Err(_) => assert_eq!(field, "approval"),
            Ok(edited) => {
                let found = world.problem(&edited).unwrap_or_else(|| panic!("{field}"));
                let elsewhere = ["book", "project"].contains(&field);
                let why = match field {
                    "key_id" => "is not trusted",
                    _ if elsewhere => "of another",
                    _ => "the signature of key",
                };
                // The key that is named is checked before it is asked.
                assert!(found.contains(why) || field == "key_id", "{field}: {found}");
                // Nor does it help to sign it again, with a key that is trusted: the ledger has another.
                let again = world.record(&edited.grant);
                assert!(world.problem(&again).is_some(), "{field}");
            }
        }
    }
}

/// What a grant binds, as it is now, is not what it was when it was signed.
fn drifted(change: impl Fn(&mut World)) -> Option<String> {
    let mut world = World::new();
    let record = world.sign(&world.grant(7));
    change(&mut world);
    world.problem(&record)
}

#[test]
fn d3_widened_scopes_void_it_and_are_named() {
    let found = drifted(|world| {
        world.brief = brief(&BRIEF.replace("\"src/\"]", "\"src/\", \"src2/a\"]"));
    });
    assert!(found.unwrap().contains("`write_scopes` changed since it was signed"));
    // Another order is the same.
    let same = drifted(|world| {
        world.brief = brief(&BRIEF.replace("\"README.md\", \"src/\"", "\"src/\", \"README.md\""));
    });
    assert_eq!(same, None);
    let tools = drifted(|world| {
        let more = BRIEF.replace("\"write_file\"]", "\"write_file\", \"delete_file\"]");
        world.brief = brief(&more);
    });
    assert!(tools.unwrap().contains("`tools` changed"));
}

#[test]
fn d4_an_edited_gate_voids_it() {
    let gate = |world: &mut World, digest| {
        world.policy.gates.insert("lint".parse().unwrap(), digest);
    };
    let found = drifted(|world| gate(world, Ok(Digest::of(b"ruff 2")))).unwrap();
    assert!(found.contains("gate `lint` changed since"), "{found}");
    let gone = drifted(|world| world.policy.gates.clear()).unwrap();
    assert!(gone.contains("gate `lint` changed since"), "{gone}");
    let unknown = drifted(|world| gate(world, Err("`ruff` is not on the path".into()))).unwrap();
    assert!(unknown.contains("gate `lint`: `ruff` is not on the path"), "{unknown}");
    let more = drifted(|world| {
        world.policy.gates.insert("more".parse().unwrap(), Ok(Digest::of(b"")));
    });
    assert!(more.unwrap().contains("gate `more` changed since"));
}

#[test]
fn d5_a_scope_that_no_gate_covers_is_not_signed() {
    let world = World::new();
    let bind =
        |text: &str| expected_binding(&writes::agent(), &world.policy, &brief(text)).map(|_| ());
    assert_eq!(bind(BRIEF), Ok(()));
    for (text, uncovered) in [
        (BRIEF.replace("paths = [\"src/**\"]", ""), "src/"),
        (BRIEF.replace("\"src/**\"", "\"src/*.py\""), "src/"),
        (BRIEF.replace("\"README.md\"", "\"docs/*.md\""), "docs/*.md"),
        (BRIEF.replace("\"README.md\"", "\"docs/a?.md\""), "docs/a?.md"),
        (BRIEF.replace("\"README.md\"", "\"docs/a[b].md\""), "docs/a[b].md"),
    ] {
        assert_eq!(bind(&text), Err(Problem::Uncovered(uncovered.into())), "{text}");
    }
    // A gate that the agent lists looks at every file of it.
    let listed = BRIEF.replace("paths = [\"src/**\"]", "");
    let listed =
        listed.replace("dispatch = \"required\"", "dispatch = \"required\"\ngates = [\"lint\"]");
    assert_eq!(bind(&listed), Ok(()));
    let none = BRIEF.replace("[\"README.md\", \"src/\"]", "[]");
    assert_eq!(bind(&none), Err(Problem::NoScope(writes::agent())));
    // The brief asks for staging, or names the agent no more.
    let staged = BRIEF.replace("approval = \"direct\"", "approval = \"staged\"");
    let optional = BRIEF.replace("dispatch = \"required\"", "dispatch = \"optional\"");
    let nobody = BRIEF.replace("agents.producer", "agents.other");
    for text in [staged, optional, nobody] {
        assert_eq!(bind(&text), Err(Problem::NotAsked(writes::agent())));
    }
}

#[test]
fn d7_it_ends_at_its_last_instant() {
    let found = |at: fn(&DirectGrant) -> granted_core::time::Stamp| {
        drifted(|world| world.now = at(&world.grant(7)))
    };
    assert_eq!(found(|grant| grant.expires.minus(Duration::from_micros(1))), None);
    assert!(found(|grant| grant.expires).unwrap().contains("has expired"));
}

#[test]
fn d10_what_is_signed_keeps_lists_apart() {
    let world = World::new();
    let scopes = |scopes: &[&str]| {
        let write_scopes = scopes.iter().map(|scope| (*scope).into()).collect();
        direct::signed_values(&DirectGrant { write_scopes, ..world.grant(7) }).digest()
    };
    assert_ne!(scopes(&["a,b"]), scopes(&["a", "b"]));
    assert_ne!(scopes(&["a\",\"b"]), scopes(&["a", "b"]));
    assert_ne!(scopes(&[]), scopes(&[""]));
}

#[test]
fn d14_two_of_one_agent_drop_both_three_stay_and_four_drop_all() {
    let mut world = World::new();
    let names = ["producer", "two", "three", "four"];
    let agents: String = names.iter().map(|name| {
        format!("[agents.{name}]\napproval = \"direct\"\ndispatch = \"required\"\n\
                 tools = [\"read_file_hashed\", \"write_file\"]\nwrite_scopes = [\"README.md\", \"src/\"]\n")
    }).collect();
    let gates = BRIEF.split_once("[gates.lint]").unwrap().1;
    world.brief = brief(&format!("{agents}[gates.lint]{gates}"));
    let records: Vec<_> = (1..)
        .zip(names)
        .map(|(number, name)| {
            let grant = DirectGrant { agent: name.parse().unwrap(), ..world.grant(number) };
            world.sign(&grant)
        })
        .collect();
    let three = world.active(&records[..3]);
    assert_eq!((three.grants.len(), three.problems.len()), (3, 0));
    let four = world.active(&records);
    assert_eq!((four.grants.len(), four.problems), (0, vec![Problem::TooMany(4)]));
    let second = world.grant(9);
    let second = world.sign(&second);
    let twice = [records[0].clone(), records[1].clone(), second.clone()];
    let both = world.active(&twice);
    assert_eq!(both.problems, [Problem::Two(writes::agent())]);
    assert_eq!(both.grants.keys().map(ToString::to_string).collect::<Vec<_>>(), ["two"]);
    // The order in the file does not matter, and a third of the same agent does not bring it back.
    let third = world.grant(10);
    let third = world.sign(&third);
    let thrice = world.active(&[third, records[1].clone(), second, records[0].clone()]);
    assert!(!thrice.grants.contains_key(&writes::agent()));
    // The same record twice is two.
    let same = world.active(&[records[0].clone(), records[0].clone()]);
    assert!(same.grants.is_empty(), "{same:?}");
    // A bad one drops itself and counts for nothing.
    let mut bad = records[3].clone();
    bad.grant.max_writes = 1;
    let with_bad = world.active(&[&records[..3], &[bad]].concat());
    assert_eq!((with_bad.grants.len(), with_bad.problems.len()), (3, 1));
}

#[test]
fn d15_times_and_caps_are_bounded() {
    let world = World::new();
    let base = world.grant(7);
    let terms = |change: &dyn Fn(&mut DirectGrant)| {
        let mut grant = base.clone();
        change(&mut grant);
        check_terms(&grant, now()).map_err(|problem| problem.to_string())
    };
    assert_eq!(terms(&|grant| grant.expires = grant.issued.plus(days(30))), Ok(()));
    assert_eq!(terms(&|grant| grant.issued = now().plus(Duration::from_secs(300))), Ok(()));
    assert_eq!(terms(&|grant| grant.max_writes = 500), Ok(()));
    for (change, why) in [
        (
            &(|grant: &mut DirectGrant| grant.expires = grant.issued.plus(days(31)))
                as &dyn Fn(&mut DirectGrant),
            "at most 30 days",
        ),
        (&|grant| grant.issued = now().plus(Duration::from_secs(360)), "ahead of the clock"),
        (&|grant| grant.expires = grant.issued, "before it begins"),
        (&|grant| grant.max_writes = 0, "1 to 500"),
        (&|grant| grant.max_writes = 501, "1 to 500"),
    ] {
        let found = terms(change).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
    let value = serde_json::to_value(&base).unwrap();
    for (field, bad) in [
        ("max_writes", json!(true)),
        ("max_writes", json!("5")),
        ("max_writes", json!(5.0)),
        ("max_writes", json!(-1)),
        ("expires", json!("2026-10-07T08:00:00")),
        ("tools", json!(["run_command"])),
        ("gates", json!([])),
        ("also", json!(1)),
    ] {
        let mut edited = value.clone();
        edited[field] = bad;
        assert!(serde_json::from_value::<DirectGrant>(edited).is_err(), "{field}");
    }
}

#[test]
fn d16_a_key_that_is_not_trusted_signs_nothing() {
    let mut world = World::new();
    let grant = world.grant(7);
    let record = world.sign(&grant);
    let stranger = Key::file(2);
    let mut forged = record.clone();
    forged.signature = stranger.sign(&direct::signed_values(&grant));
    let found = world.problem(&forged).unwrap();
    assert!(found.contains("is not trusted"), "{found}");
    // Its bytes under the name of the key that is trusted.
    forged.signature.key = world.key.public.id();
    let found = world.problem(&forged).unwrap();
    assert!(found.contains("the signature of key"), "{found}");
    let key = Key::file(1);
    world.tale.untrust(&key);
    assert!(world.problem(&record).unwrap().contains("is not trusted"));
}

#[test]
fn d18_a_file_of_grants_is_a_list_of_records() {
    let world = World::new();
    let record = world.record(&world.grant(7));
    let text = serde_json::to_string(&[&record, &record]).unwrap();
    let (records, digest) = read_grants(text.as_bytes()).unwrap();
    assert_eq!((records.len(), digest), (2, Digest::of(text.as_bytes())));
    assert_eq!(read_grants(b"[]").unwrap().0, []);
    let gate = format!("\"lint\":\"{}\"", Digest::of(b"ruff"));
    let big = format!("[{}]", " ".repeat(MAX_FILE));
    for bad in [
        "",
        "{}",
        "null",
        "[1]",
        "[] []",
        &text.replacen("\"max_writes\":50", "\"max_writes\":50,\"max_writes\":50", 1),
        &text.replacen(&gate, &format!("{gate},{gate}"), 1),
        &text.replacen("\"grant\":", "\"note\":1,\"grant\":", 1),
        &big,
    ] {
        assert!(matches!(read_grants(bad.as_bytes()), Err(Problem::File(_))), "{bad}");
    }
}

#[test]
fn d19_another_server_and_another_map_void_it() {
    let found = drifted(|world| world.policy.server_sha256 = Digest::of(b"other"));
    assert!(found.unwrap().contains("the installed granted changed"));
    for change in [
        &(|grant: &mut DirectGrant| grant.map_version = "2".into()) as &dyn Fn(&mut DirectGrant),
        &|grant| grant.server = "another".into(),
    ] {
        let mut world = World::new();
        let mut grant = world.grant(7);
        change(&mut grant);
        let record = world.sign(&grant);
        assert!(world.problem(&record).unwrap().contains("changed since"));
    }
}

/// A signature for one purpose is none for another, whichever way round.
#[test]
fn d20_a_signature_is_good_for_one_purpose() {
    let world = World::new();
    let (book, key) = (world.tale.story.book, &world.key);
    let mut tale = World::new().tale;
    let (by, name) = ("ada".parse().unwrap(), "laptop".parse().unwrap());
    let statements = [
        Statement::direct(&world.grant(7)),
        Statement::grant(&tale.grant("2026-09-30")),
        Statement::trust(book, 2, &Key::file(3).public, &name),
        Statement::accept(book, Digest::ZERO, &by, &by, &[]),
        Statement::resolve(book, id(1), 2, true, &by, None),
        Statement::open(book, 2),
    ];
    for (i, signed) in statements.iter().enumerate() {
        for signature in [key.sign(signed), key.sshsig(signed)] {
            for (j, asked) in statements.iter().enumerate() {
                assert_eq!(signature.verify(&key.public, asked).is_ok(), i == j, "{i} {j}");
            }
        }
    }
}

#[test]
fn d23_a_grant_that_was_taken_back_stays_so_with_its_old_file() {
    let mut world = World::new();
    let grant = world.grant(7);
    let record = world.sign(&grant);
    world.tell(writes::revoked(&grant));
    assert_eq!(world.problem(&record), Some(Problem::Revoked(grant.grant_id).to_string()));
}

#[test]
fn a_grant_whose_row_is_not_there_or_was_closed_is_none() {
    let world = World::new();
    let grant = world.grant(7);
    let record = world.record(&grant);
    assert_eq!(world.problem(&record), Some(Problem::NoRow(grant.grant_id).to_string()));
    let closes = || {
        let word = |text: &str| text.parse().unwrap();
        Event::Accepted(Accepted {
            by: word("ada"),
            reason: word("r"),
            signature: None,
            what: vec![],
        })
    };
    let subject = Subject::direct(grant.grant_id);
    let mut closed = World::new();
    let record = closed.sign(&grant);
    closed.tell((closes(), vec![subject.clone()]));
    assert_eq!(closed.problem(&record), Some(Problem::Closed(grant.grant_id).to_string()));
    let mut lost = World::new();
    lost.tell((closes(), vec![subject]));
    assert_eq!(lost.problem(&record), Some(Problem::NoRow(grant.grant_id).to_string()));
}

#[test]
fn n10_what_came_to_nothing_counts_too() {
    let mut world = World::new();
    let grant = world.grant(7);
    let record = world.sign(&grant);
    world.tell(writes::dispatched(1, 10));
    let (one, two) = (id(1), id(2));
    world.tell(writes::direct(one, writes::request(writes::new_files(3)), &grant, 1));
    world.tell(writes::undone(one));
    world.tell(writes::direct(two, writes::request(writes::new_files(2)), &grant, 1));
    assert_eq!(count_direct_writes(&world.rows(&Subject::direct(grant.grant_id))), 5);
    let active = world.active(&[record]);
    assert_eq!(active.grants[&writes::agent()].used(), 5);
    assert_eq!(check_write_allowed(&grant, 5, 45, now()), Ok(()));
    let spent = Problem::Spent(grant.grant_id, 5, 50);
    assert_eq!(check_write_allowed(&grant, 5, 46, now()), Err(spent));
    assert!(check_write_allowed(&grant, u64::MAX, 1, now()).is_err());
    assert_eq!(
        check_write_allowed(&grant, 0, 1, grant.expires),
        Err(Problem::Expired(grant.grant_id))
    );
}

#[test]
fn the_fingerprint_of_a_key_is_that_of_its_bytes() {
    let key = Key::file(1).public;
    assert_eq!(key_fingerprint(&key), Digest::of(&key.to_wire()));
    let text = key.to_string();
    let commented: PublicKey = text.parse().unwrap();
    assert_eq!(key_fingerprint(&commented), key_fingerprint(&key));
}
