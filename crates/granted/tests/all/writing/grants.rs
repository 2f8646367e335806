//! Signed grants through the program: at a terminal, and in servers that race.

use serde_json::json;

use super::World;
use crate::keys::{PASSWORD, at_terminal, new_key};

#[test]
fn d1_n2_what_is_signed_elsewhere_lands_at_once_and_is_counted() {
    let world = World::new();
    let id = world.sign("producer", "--max-writes 2 --days 1");
    let nonce = world.nonce("producer");
    let mut client = world.serve("producer");
    for text in ["two\n", "three\n"] {
        let filed = client.call("write_file", world.change("src/a.txt", text, &nonce));
        assert_eq!(
            (&filed["status"], &filed["direct_grant"]),
            (&json!("applied"), &json!(id)),
            "{filed}"
        );
        assert_eq!(world.text("src/a.txt"), text);
    }
    let filed = client.call("write_file", world.change("src/a.txt", "four\n", &nonce));
    assert_eq!(filed["status"], "staged");
    assert!(filed["not_direct"].as_str().unwrap().contains("used up: 2 of 2"), "{filed}");
    let (_, stderr) = client.end();
    assert!(stderr.contains("written directly under a direct grant"), "{stderr}");
    let grants = world.grants();
    assert_eq!((&grants[0]["state"], &grants[0]["used"]), (&json!("spent"), &json!(2)));
    let loaded = &world.home.rows_of("write.direct_grants_loaded")[0]["body"];
    assert_eq!((&loaded["active"], &loaded["problems"]), (&json!([id]), &json!([])));
    assert_eq!(loaded["key_fingerprints"].as_array().unwrap().len(), 1);
    world.home.verify();
}

#[test]
fn of_two_processes_one_takes_the_last_write() {
    let world = World::new();
    for round in 0..4 {
        world.sign("producer", "--max-writes 1");
        let nonce = world.nonce("producer");
        let mut servers = [world.serve("producer"), world.serve("producer")];
        let calls: Vec<i64> = servers
            .iter_mut()
            .zip(["src/one.txt", "src/two.txt"])
            .map(|(server, path)| {
                let change = world.change(path, &format!("{round}\n"), &nonce);
                server.begin_call("write_file", change)
            })
            .collect();
        let mut ended: Vec<String> = servers
            .iter_mut()
            .zip(calls)
            .map(|(server, call)| server.returned(call)["status"].as_str().unwrap().to_owned())
            .collect();
        ended.sort();
        assert_eq!(ended, ["applied", "staged"], "round {round}");
        servers.into_iter().for_each(|server| _ = server.end());
    }
    world.home.verify();
}

#[test]
fn a_revocation_acts_at_once_and_an_old_file_gives_nothing_back() {
    let world = World::new();
    let id = world.sign("producer", "");
    let nonce = world.nonce("producer");
    let folder = world.home.root().join("direct-grants");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let old = std::fs::read(&file).unwrap();
    let mut client = world.serve("producer");
    let revoked = world.home.say("writes revoke producer --project site --by me").ok();
    assert!(revoked.stdout.contains(&id), "{revoked:?}");
    std::fs::write(&file, &old).unwrap();
    let filed = client.call("write_file", world.change("src/a.txt", "two\n", &nonce));
    assert!(filed["not_direct"].as_str().unwrap().contains("is revoked"), "{filed}");
    client.end();
    let mut client = world.serve("producer");
    let filed = client.call("write_file", world.change("src/a.txt", "three\n", &nonce));
    assert!(filed["not_direct"].as_str().unwrap().contains("is revoked"), "{filed}");
    client.end();
    assert_eq!(world.text("src/a.txt"), "one\n");
    world.home.say("writes revoke producer --project site").exits(1);
    world.home.say(&format!("writes revoke {id}")).exits(1);
    world.home.verify();
}

#[test]
fn n9_a_witness_misses_the_write_that_an_older_ledger_has_lost() {
    let world = World::new();
    let home = &world.home;
    let stick = home.dir().join("stick/granted.checkpoint");
    std::fs::create_dir(stick.parent().unwrap()).unwrap();
    home.write(".granted/config.toml", format!("witness = [{stick:?}]\n"));
    home.say("ledger checkpoint").ok();
    world.sign("producer", "--max-writes 1");
    let nonce = world.nonce("producer");
    let before = home.bytes();
    let mut client = world.serve("producer");
    let filed = client.call("write_file", world.change("src/a.txt", "two\n", &nonce));
    assert_eq!(filed["status"], "applied", "{filed}");
    client.end();
    std::fs::write(home.ledger(), before).unwrap();
    let _ = std::fs::remove_dir_all(home.root().join("index"));
    let mut client = world.serve("producer");
    let refused = client.call("write_file", world.change("src/a.txt", "three\n", &nonce));
    assert_eq!(refused["reason"], "ledger_rolled_back", "{refused}");
    client.end();
    assert_eq!(world.text("src/a.txt"), "two\n");
}

#[test]
fn d11_every_field_is_shown_and_without_a_yes_nothing_is_signed() {
    let world = World::new();
    let home = &world.home;
    std::fs::remove_file(home.ledger()).unwrap();
    new_key(home, "ada");
    let line = "writes sign producer --project site --key ada --max-writes 3";
    let rows = home.rows().len();
    at_terminal(home, line, &[("sign this?", "no")]).exits(1);
    assert_eq!(home.rows().len(), rows);
    assert!(!home.root().join("direct-grants").exists());
    let mut pty = crate::pty::Pty::start(&home.command(line.split_whitespace()));
    pty.until("sign this?");
    let shown = pty.shown.clone();
    pty.line("yes");
    pty.password("password", PASSWORD);
    let signed = pty.end().ok();
    for field in [
        "agent",
        "approval",
        "book",
        "expires",
        "gates",
        "grant_id",
        "issued",
        "key_id",
        "map_version",
        "max_writes",
        "project",
        "server",
        "server_sha256",
        "tools",
        "write_scopes",
        "digest",
    ] {
        assert!(
            shown.lines().any(|line| line.trim_start().starts_with(field)),
            "{field} in {shown}"
        );
    }
    assert!(shown.contains(signed.stdout.trim()), "{shown}");
    // In a script there is no terminal, so nothing is signed.
    crate::keys::without_terminal(home, line).exits(1);
    assert_eq!(world.grants().len(), 1);
}

#[test]
fn what_is_out_of_range_is_told_before_a_key_is_asked_for() {
    let world = World::new();
    for more in ["--days 0", "--days 31", "--max-writes 0", "--max-writes 501"] {
        let run = world.home.say(&format!("writes sign producer --project site --key none {more}"));
        assert_eq!(run.code, 2, "{run:?}");
    }
    let run =
        world.home.say("writes sign reader --project site --unsigned-out x --key laptop").exits(1);
    assert!(run.stderr.contains("does not ask for direct writes of agent `reader`"), "{run:?}");
    world.home.say("writes dispatch producer --project site --uses 1001").exits(2);
    world.home.say("writes dispatch nobody --project site").exits(1);
    let odd = world.home.write("od\u{202e}d/granted.toml", super::BRIEF);
    let args =
        ["writes", "sign", "producer", "--unsigned-out", "x", "--key", "laptop", "--project"];
    let run = world.home.run(args.into_iter().chain([odd.parent().unwrap().to_str().unwrap()]));
    assert!(run.code != 0 && run.stderr.contains("may not hold the character"), "{run:?}");
}

#[test]
fn inside_an_executor_nobody_signs_or_takes_back() {
    let world = World::new();
    for verb in
        ["sign producer", "revoke producer", "dispatch producer", "setup codex --agent producer"]
    {
        let line = format!("writes {verb} --project site");
        let mut command = world.home.command(line.split_whitespace());
        let run =
            crate::home::Run::from(command.env("GRANTED_DISCHARGE_ID", "x").output().unwrap());
        assert!(run.code == 1 && run.stderr.contains("is a person's verb"), "{run:?}");
    }
}
