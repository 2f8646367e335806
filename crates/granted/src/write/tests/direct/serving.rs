//! Direct writes, as a server makes them or does not; and the nonces that they need.

use super::*;

#[test]
fn n1_a_direct_agents_nonce_is_narrow() {
    let world = World::new();
    let (_, issued) =
        issue(&world.ground.book(), &world.open(), &agent("quick"), Terms::default()).unwrap();
    let now = granted_core::time::Clock::now(world.ground.clock.as_ref());
    assert_eq!((issued.uses, issued.expires.since(now)), (10, Duration::from_secs(4 * 3_600)));
    let (_, issued) =
        issue(&world.ground.book(), &world.open(), &agent("slow"), Terms::default()).unwrap();
    assert_eq!(issued.uses, 25);
}

#[test]
fn n2_n9_the_cap_holds_and_a_restart_does_not_reset_it() {
    let world = World::new();
    let id = world.sign("quick", 3);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    for text in ["two\n", "three\n"] {
        let state = world.write(&server, "src/a.txt", Some(text), &nonce);
        assert_eq!(state.status, Status::Applied);
        assert!(matches!(state.origin, Origin::Direct(_, grant) if grant == id));
        assert_eq!(world.ground.text("src/a.txt"), text);
    }
    let server = world.serve("quick");
    // A change set counts as many as it has files.
    let two = vec![
        world.ground.change("src/a.txt", Some("4\n")),
        world.ground.change("src/b.txt", Some("4\n")),
    ];
    let answer = server.file(&world, &world.proposal(two, &nonce)).staged();
    assert!(why(&answer).contains("is used up: 2 of 3"), "{answer:?}");
    assert_eq!(world.write(&server, "src/a.txt", Some("5\n"), &nonce).status, Status::Applied);
    let state = world.write(&server, "src/a.txt", Some("6\n"), &nonce);
    assert!(why(&state).contains("is used up: 3 of 3"), "{state:?}");
    assert_eq!(world.ground.text("src/a.txt"), "5\n");
}

#[test]
fn n3_without_a_grant_or_when_it_came_later_it_is_staged() {
    let world = World::new();
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    let state = world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    assert_eq!(why(&state), "agent `quick` has no direct grant");
    world.sign("quick", 3);
    let state = world.write(&server, "src/a.txt", Some("three\n"), &nonce);
    assert_eq!(why(&state), "agent `quick` has no direct grant");
    assert_eq!(world.ground.text("src/a.txt"), "one\n");
}

#[test]
fn n4_a_nonce_with_wider_limits_stages() {
    let world = World::new();
    let wide = world.nonce(Terms { uses: Some(11), ttl: None });
    let long = world.nonce(Terms { uses: None, ttl: Some(Duration::from_secs(4 * 3_600 + 1)) });
    world.sign("quick", 3);
    let server = world.serve("quick");
    for nonce in [wide, long] {
        let state = world.write(&server, "src/a.txt", Some("two\n"), &nonce);
        assert!(why(&state).contains("needs a narrow dispatch"), "{state:?}");
    }
}

#[test]
fn n5_a_grants_file_that_differs_turns_it_off_until_a_restart() {
    let world = World::new();
    world.sign("quick", 50);
    let nonce = world.nonce(Terms { uses: Some(10), ttl: None });
    let text = fs::read_to_string(world.file()).unwrap();
    for other in [format!("{text} "), "[]".to_owned(), String::new()] {
        let server = world.serve("quick");
        match other.is_empty() {
            true => fs::remove_file(world.file()).unwrap(),
            false => fs::write(world.file(), &other).unwrap(),
        }
        let state = world.write(&server, "src/b.txt", Some(&other), &nonce);
        assert!(why(&state).contains("start the server anew"), "{state:?}");
        fs::write(world.file(), &text).unwrap();
        let state = world.write(&server, "src/b.txt", Some(&format!("{other}x")), &nonce);
        assert!(why(&state).contains("start the server anew"), "{state:?}");
    }
    let server = world.serve("quick");
    assert_eq!(world.write(&server, "src/b.txt", Some("b\n"), &nonce).status, Status::Applied);
}

#[test]
fn a_revocation_acts_on_the_next_write() {
    let world = World::new();
    let id = world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    // The row alone, as if the process had died before the file.
    let (book, root) = (world.ground.book(), world.ground.root());
    let last =
        book.ledger.rows(&granted_core::ledger::Subject::direct(id)).unwrap().last().unwrap().seq;
    let project = book.ledger.rows(&root.subject()).unwrap().last().unwrap().seq;
    let row = revoked_row(&root, id, last, project, Default::default(), &book.by(None));
    book.append(&[row]).unwrap();
    let state = world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    assert!(why(&state).contains("is revoked"), "{state:?}");
}

/// Taking it back writes the grants file anew too, which is not what is to blame then.
#[test]
fn a_revocation_is_named_as_what_it_is() {
    let world = World::new();
    let id = world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    revoke(&world.ground.book(), &Target::Grant(id), None, None).unwrap();
    for text in ["two\n", "three\n"] {
        let state = world.write(&server, "src/a.txt", Some(text), &nonce);
        assert_eq!(why(&state), format!("direct grant {id} is revoked"));
    }
}

#[test]
fn a_gate_that_does_not_look_at_what_is_written_is_bound_too() {
    let world = World::new();
    let more = "[gates.other]\nargv = ['/bin/true']\nneeds = ['lint/other']\npaths = ['x/']\n";
    world.ground.put("granted.toml", format!("{BRIEF}{more}"));
    world.ground.put("lint/other", "all\n");
    world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    world.ground.put("lint/other", "none\n");
    let state = world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    assert!(why(&state).contains("gate `other` changed"), "{state:?}");
    world.ground.put("lint/other", "all\n");
    assert_eq!(world.write(&server, "src/a.txt", Some("3\n"), &nonce).status, Status::Applied);
}

#[test]
fn narrowing_the_brief_acts_on_the_next_write() {
    let world = World::new();
    world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    world.ground.put("granted.toml", BRIEF.replace("approval = 'direct'\n", ""));
    let state = world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    assert_eq!((why(&state), world.ground.text("src/a.txt").as_str()), ("", "one\n"));
    // A wider one voids the grant.
    world.ground.put("granted.toml", BRIEF.replacen("['src/']", "['src/', 'docs/x.md']", 1));
    let state = world.write(&server, "src/a.txt", Some("three\n"), &nonce);
    assert!(why(&state).contains("`write_scopes` changed"), "{state:?}");
    // A gate whose file is changed is another one, though the brief is the same.
    world.ground.put("granted.toml", BRIEF);
    world.ground.put("lint/rules", "none\n");
    let state = world.write(&server, "src/a.txt", Some("four\n"), &nonce);
    assert!(why(&state).contains("gate `fine` changed"), "{state:?}");
    world.ground.put("lint/rules", "all\n");
    assert_eq!(world.write(&server, "src/a.txt", Some("5\n"), &nonce).status, Status::Applied);
}

#[test]
fn n6_a_ledger_that_does_not_verify_turns_it_off_at_the_start() {
    let world = World::new();
    world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    drop(server);
    let text = fs::read_to_string(world.ledger()).unwrap();
    let edited = text.replacen("\"max_writes\":50", "\"max_writes\":51", 1);
    assert_ne!(edited, text);
    fs::write(world.ledger(), edited).unwrap();
    let project = world.open();
    let loaded = Loaded::start(&world.ground.book(), &project, agent("quick"));
    let off = loaded.map_or_else(|e| Some(e.to_string()), |loaded| loaded.off()).unwrap();
    assert!(off.contains("ledger") || off.contains("line"), "{off}");
    // Every test ends with a ledger that verifies.
    fs::write(world.ledger(), text).unwrap();
}

#[test]
fn n7_a_deletion_is_never_direct_nor_what_comes_with_one() {
    let world = World::new();
    world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    let state = world.write(&server, "src/a.txt", None, &nonce);
    assert_eq!(why(&state), "deletions are never direct");
    let both =
        vec![world.ground.change("src/b.txt", Some("b\n")), world.ground.change("src/a.txt", None)];
    let state = server.file(&world, &world.proposal(both, &nonce)).staged();
    assert_eq!(why(&state), "deletions are never direct");
    assert_eq!(
        (world.ground.text("src/b.txt").as_str(), world.ground.text("src/a.txt").as_str()),
        ("-", "one\n")
    );
}

#[test]
fn n8_a_grant_that_ends_between_two_writes_covers_the_first_only() {
    let world = World::new();
    world.sign("quick", 50);
    let server = world.serve("quick");
    world.ground.advance(Duration::from_secs(7 * 24 * 3_600 - 1));
    let nonce = world.nonce(Terms::default());
    assert_eq!(world.write(&server, "src/a.txt", Some("two\n"), &nonce).status, Status::Applied);
    world.ground.advance(Duration::from_secs(1));
    let state = world.write(&server, "src/a.txt", Some("three\n"), &nonce);
    assert!(why(&state).contains("has expired"), "{state:?}");
    assert_eq!(world.ground.text("src/a.txt"), "two\n");
}

#[test]
fn n9_rows_that_are_cut_off_are_missed_by_the_server_that_saw_them() {
    let world = World::new();
    world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    let before = fs::read(world.ledger()).unwrap();
    assert_eq!(world.write(&server, "src/a.txt", Some("two\n"), &nonce).status, Status::Applied);
    // An older ledger put back, and rows added to it since.
    fs::write(world.ledger(), &before).unwrap();
    let book = world.ground.book();
    issue(&book, &world.open(), &agent("quick"), Terms::default()).unwrap();
    let state = world.write(&server, "src/a.txt", Some("three\n"), &nonce);
    assert!(why(&state).contains("does not go on from row"), "{state:?}");
    assert_eq!(world.ground.text("src/a.txt"), "two\n");
}

#[test]
fn n9_the_larger_of_memory_and_ledger_counts() {
    let world = World::new();
    world.sign("quick", 2);
    let nonce = world.nonce(Terms::default());
    let (one, other) = (world.serve("quick"), world.serve("quick"));
    assert_eq!(world.write(&one, "src/a.txt", Some("two\n"), &nonce).status, Status::Applied);
    assert_eq!(world.write(&other, "src/b.txt", Some("two\n"), &nonce).status, Status::Applied);
    for server in [&one, &other] {
        let state = world.write(server, "src/a.txt", Some("3\n"), &nonce);
        assert!(why(&state).contains("is used up: 2 of 2"), "{state:?}");
    }
}

#[test]
fn n10_a_write_that_came_to_nothing_counts_by_its_row() {
    let world = World::new();
    let id = world.sign("quick", 50);
    let nonce = world.nonce(Terms::default());
    // The claim lands, and what came of it cannot be written.
    let book = world.ground.wrong(2, Fault::Lost);
    let loaded = Loaded::start(&world.ground.book(), &world.open(), agent("quick")).unwrap();
    let server = Server { book, loaded };
    let proposal = world.proposal(vec![world.ground.change("src/a.txt", Some("two\n"))], &nonce);
    let answer = server.file(&world, &proposal);
    assert!(matches!(answer, Answer::Unknown { .. }), "{answer:?}");
    let listed = list(&world.ground.book(), &world.ground.root()).unwrap();
    let used = listed.iter().find(|listed| listed.grant.grant_id == id).unwrap().used;
    assert_eq!((used, world.rows(|event| matches!(event, Event::WriteDirect(_)))), (1, 1));
}

#[test]
fn of_two_servers_one_takes_the_last_write() {
    let world = Arc::new(World::new());
    for round in 0..8 {
        world.sign("quick", 1);
        let nonce = world.nonce(Terms::default());
        let race = |path: &'static str| {
            let (world, nonce) = (world.clone(), nonce.clone());
            let server = world.serve("quick");
            std::thread::spawn(move || {
                world.write(&server, path, Some(&format!("{round}\n")), &nonce).status
            })
        };
        let racers = [race("src/one.txt"), race("src/two.txt")];
        let mut ended = racers.map(|racer| racer.join().unwrap().as_str());
        ended.sort_unstable();
        assert_eq!(ended, ["applied", "staged"], "round {round}");
    }
}

#[test]
fn h8_h10_uses_and_attempts_are_counted_apart() {
    let world = World::new();
    let nonce = world.nonce(Terms { uses: Some(2), ttl: None });
    let server = world.serve("quick");
    let stale = |text: &str| {
        let change = Change { base: None, ..world.ground.change("src/a.txt", Some(text)) };
        server.file(&world, &world.proposal(vec![change], &nonce))
    };
    // H9: a refusal costs an attempt, and no use.
    for number in 0..6 {
        assert_eq!(stale(&number.to_string()).refused().as_str(), "stale_base");
    }
    world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    assert_eq!(stale("7").refused().as_str(), "stale_base");
    // Eight arrivals for two uses: the ninth is one too many, although a use is left.
    let proposal = world.proposal(vec![world.ground.change("src/b.txt", Some("b"))], &nonce);
    assert_eq!(server.file(&world, &proposal).refused().as_str(), "dispatch");
}

#[test]
fn h2_h3_every_fault_of_a_nonce_has_one_answer() {
    let world = World::new();
    let own = world.nonce(Terms { uses: Some(1), ttl: None });
    let (foreign, _) =
        issue(&world.ground.book(), &world.open(), &agent("slow"), Terms::default()).unwrap();
    let server = world.serve("quick");
    world.write(&server, "src/a.txt", Some("two\n"), &own);
    let short = world.nonce(Terms { ttl: Some(Duration::from_secs(1)), uses: None });
    world.ground.advance(Duration::from_secs(1));
    let mut answers = Vec::new();
    for nonce in [
        None,
        Some(""),
        Some("x"),
        Some(&*"0".repeat(32)),
        Some(&*own),
        Some(&*foreign),
        Some(&*short),
    ] {
        let mut proposal = world.proposal(vec![world.ground.change("src/b.txt", Some("b"))], "");
        proposal.dispatch = nonce.map(str::to_owned);
        match server.file(&world, &proposal) {
            Answer::Refused { denied, .. } => answers.push((denied.reason, denied.detail)),
            other => panic!("{nonce:?}: {other:?}"),
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    // Whose it is may still use it.
    let slow = world.serve("slow");
    let mut proposal = world.proposal(vec![world.ground.change("src/b.txt", Some("b"))], &foreign);
    proposal.agent = agent("slow");
    proposal.tool = granted_core::write::brief::Tool::WriteFile;
    assert!(matches!(slow.file(&world, &proposal), Answer::Filed { .. }));
}

#[test]
fn h7_a_nonce_stands_nowhere_and_a_forged_row_gives_none() {
    let world = World::new();
    let nonce = world.nonce(Terms::default());
    let server = world.serve("quick");
    world.write(&server, "src/a.txt", Some("two\n"), &nonce);
    let text = fs::read_to_string(world.ledger()).unwrap();
    assert!(!text.contains(&nonce));
}
