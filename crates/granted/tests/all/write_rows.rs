//! Rows of writes in a ledger: they are shown, verified, and closed when what is behind them was lost.

use granted_core::ledger::{Row, Subject};
use granted_core::write::request::{RequestState, Status};
use granted_testkit::sample::id;
use granted_testkit::tale::Tale;
use granted_testkit::writes::{self, Told};

use crate::home::Home;

/// A home whose ledger this is.
fn home(ledger: &[u8]) -> Home {
    let home = Home::new();
    put(&home, ledger);
    home
}

fn put(home: &Home, ledger: &[u8]) {
    home.write(".granted/ledger.jsonl", ledger);
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(home.root(), mode(0o700)).unwrap();
    std::fs::set_permissions(home.ledger(), mode(0o600)).unwrap();
}

/// A book that trusts no key, of these rows.
fn tell(rows: Vec<Told>) -> Tale {
    let mut tale = Tale::default();
    rows.into_iter().for_each(|(event, moved)| tale.row(event, moved));
    tale
}

/// Where a change set stands by the home's ledger.
fn status(home: &Home, number: u64) -> Status {
    let text = home.bytes();
    let rows = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Row> = rows.map(|line| Row::parse(line).unwrap()).collect();
    let subject = Subject::write(id(number));
    let of_it = rows.iter().filter(|row| row.moves(&subject).is_some());
    RequestState::fold(id(number), of_it).unwrap().status
}

#[test]
fn every_kind_is_verified_and_shown_in_words() {
    let lines = writes::every_kind();
    let home =
        home(&lines.iter().flat_map(|line| [&line.bytes[..], b"\n"].concat()).collect::<Vec<_>>());
    home.verify();
    let shown = home.say("ledger --tail 100").ok().stdout;
    // The number, the time and the kind are those of every row.
    let told: Vec<&str> = shown.lines().skip(2).map(|line| line[29..].trim_end()).collect();
    let expected = "\
write.dispatched     producer in /home/ada/site: 10 uses until 2026-09-30T12:00:00Z [0c5621b3b88b9b49acc25529a296c92b3580056499b496cfa9987b4bc4b94b1f]
write.staged         src/a.py in /home/ada/site until 2026-10-01T08:00:00Z [01M3RN7Q000000000000000001] by producer
write.approved       src/a.py by ada, digest d06a432ee37234ace13e35cf0b9c8f8a12eee15d2bca5b56dc0177d5b79aa757 [01M3RN7Q000000000000000001]
write.applied        [01M3RN7Q000000000000000001]
write.refused        out_of_scope in /home/ada/site -- `src/b.py` is in none of the agent's write scopes [01M3RN7Q000000000000000002] by producer
write.staged         src/a.py in /home/ada/site, taking back 01M3RN7Q000000000000000001 until 2026-10-01T08:00:00Z [01M3RN7Q000000000000000003]
write.approved       src/a.py by ada, digest b33788b85e5af20fa41481a7207d32941583c5d73aac0f8b1a2461485e855cf3 [01M3RN7Q000000000000000003]
write.undone         `src/a.py` is not what it was when it was approved [01M3RN7Q000000000000000003]
write.approved       src/a.py by ada, digest b33788b85e5af20fa41481a7207d32941583c5d73aac0f8b1a2461485e855cf3 [01M3RN7Q000000000000000003]
write.unresolved     src/a.py -- somebody else wrote it [01M3RN7Q000000000000000003]
write.rejected       by ada (a stays one) [01M3RN7Q000000000000000003]
write.direct_granted producer in /home/ada/site: 50 files until 2026-10-07T08:00:13Z, signed with 44518f9afd07a931 [01M3RN7Q00000000000000002D]
write.direct_grants_loaded /home/ada/site: 01M3RN7Q00000000000000002D in force by producer
write.direct         src/new0.py, src/new1.py in /home/ada/site [01M3RN7Q000000000000000004] by producer
write.applied        after it was cut off [01M3RN7Q000000000000000004]
write.direct_revoked by ada [01M3RN7Q00000000000000002D]
write.staged         src/old.py (deleted) in /home/ada/site until 2026-10-01T08:00:00Z -- deletions are never direct [01M3RN7Q000000000000000005] by producer
write.expired        [01M3RN7Q000000000000000005]";
    assert_eq!(told.join("\n"), expected);
    // One change set, and one direct grant, by its id.
    let kinds = |id: &str| -> Vec<String> {
        let shown = home.run(["ledger", "--id", id]).ok().stdout;
        let kind = |line: &str| line[29..].split(' ').next().unwrap().to_owned();
        shown.lines().map(kind).collect()
    };
    let first = ["write.staged", "write.approved", "write.applied"];
    assert_eq!(kinds("01M3RN7Q000000000000000001"), first);
    let grant = ["write.direct_granted", "write.direct", "write.direct_revoked"];
    assert_eq!(kinds("01M3RN7Q00000000000000002D"), grant);
}

#[test]
fn a_row_of_many_files_names_the_first_and_counts_the_others() {
    let mut request = writes::request(writes::new_files(5));
    request.project = "/home/ada/site".parse().unwrap();
    let home = home(&tell(vec![writes::staged(id(1), request, None)]).ledger());
    let shown = home.say("ledger --tail 1").ok().stdout;
    assert!(shown.contains("src/new0.py, src/new1.py, src/new2.py, 2 more in "), "{shown}");
}

#[test]
fn what_stands_in_damaged_rows_is_closed() {
    let request = || writes::request(writes::edit());
    let tale = tell(vec![
        writes::dispatched(1, 10),
        writes::dispatched(2, 10),
        writes::staged(id(1), request(), Some(1)),
        writes::staged(id(2), request(), None),
        writes::approved(id(2), &request()),
        writes::staged(id(3), request(), None),
        // Damaged from here on: the person rejects one and the other is applied.
        writes::rejected(id(1), Some(writes::day())),
        writes::applied(id(2), false, Some(writes::day())),
        writes::staged(id(4), request(), Some(1)),
    ]);
    let text = String::from_utf8(tale.ledger()).unwrap();
    let damaged = text.replacen("a stays one", "a stays \u{0}ne", 1);
    let home = home(damaged.as_bytes());
    let run = home.say("ledger accept --by me --reason test --json").ok().json();
    let closed: Vec<&str> =
        run["closed"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    // Of the fourth no row is left, so nothing is there to be revived.
    let expected = [writes::dispatch_subject(1), Subject::write(id(1)), Subject::write(id(2))];
    assert_eq!(closed, expected.map(|subject| subject.as_str().to_owned()));
    assert_eq!(status(&home, 1), Status::Closed);
    // What came of it is what was damaged.
    assert_eq!(status(&home, 2), Status::Unresolved);
    assert_eq!(status(&home, 3), Status::Staged);
    let shown = home.say(&format!("writes show {}", id(2))).ok().stdout;
    assert!(shown.contains("unresolved a damaged ledger was accepted"), "{shown}");
    let stands = |verb: &str| -> Vec<(String, String)> {
        let shown = home.say(&format!("writes {verb} --json")).ok().stdout;
        let of = |line: &str| {
            let state: serde_json::Value = serde_json::from_str(line).unwrap();
            ["id", "status"].map(|name| state[name].as_str().unwrap().to_owned()).into()
        };
        shown.lines().map(of).collect()
    };
    let is = |number, status: &str| (id(number).to_string(), status.to_owned());
    assert_eq!(stands("staged"), [is(2, "unresolved"), is(3, "staged")]);
    let mut log = stands("log");
    log.sort();
    assert_eq!(log, [is(1, "closed"), is(2, "unresolved"), is(3, "staged")]);
    home.verify();
}

#[test]
fn what_was_cut_off_is_closed_where_the_index_or_a_checkpoint_tells() {
    let request = || writes::request(writes::edit());
    let before = vec![
        writes::dispatched(1, 10),
        writes::dispatched(2, 10),
        writes::staged(id(1), request(), None),
        writes::staged(id(2), request(), None),
    ];
    let lost = vec![
        writes::rejected(id(1), Some(writes::day())),
        writes::staged(id(3), request(), Some(1)),
    ];
    let all = tell([before.clone(), lost].concat()).ledger();
    let before = tell(before).ledger();
    assert!(all.starts_with(&before));

    // An index run covers all of it.
    let indexed = home(&all);
    indexed.mint_sheet(0..600);
    assert!(
        indexed.root().join("index").read_dir().unwrap().next().is_some(),
        "no run was written"
    );
    put(&indexed, &before);
    let run = indexed.say("ledger accept --by me --reason test --json").ok().json();
    let closed = |run: &serde_json::Value| -> Vec<String> {
        let closed = run["closed"].as_array().unwrap().iter();
        closed.map(|subject| subject.as_str().unwrap().to_owned()).collect()
    };
    let named = |subjects: &[Subject]| -> Vec<String> {
        subjects.iter().map(|subject| subject.as_str().to_owned()).collect()
    };
    let (one, two) = (Subject::write(id(1)), Subject::write(id(2)));
    assert_eq!(closed(&run), named(&[writes::dispatch_subject(1), one.clone()]));
    assert_eq!((status(&indexed, 1), status(&indexed, 2)), (Status::Closed, Status::Staged));
    indexed.verify();

    // Only a witness tells, so that everything is closed that is open.
    let witnessed = home(&all);
    let path = witnessed.write("stick/none", "").with_file_name("granted.checkpoint");
    witnessed.write(".granted/config.toml", format!("witness = [{path:?}]\n"));
    witnessed.say("ledger checkpoint").ok();
    assert!(path.exists());
    put(&witnessed, &before);
    let run = witnessed.say("ledger accept --by me --reason test --json").ok().json();
    let mut dispatches = [writes::dispatch_subject(1), writes::dispatch_subject(2)];
    dispatches.sort();
    assert_eq!(closed(&run), named(&[&dispatches[..], &[one, two]].concat()));
    assert_eq!((status(&witnessed, 1), status(&witnessed, 2)), (Status::Closed, Status::Closed));
    witnessed.verify();
}
