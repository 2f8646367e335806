//! Every door tells what it comes upon, after its answer.

use std::process::Command;

use granted::{Book, Door, Request, Verdict};
use serde_json::json;

use super::{cut_off, mint_drifted, mint_expired, notify_by, told, told_home};
use crate::client::Client;
use crate::crowd::until;
use crate::home::Home;

/// An object for each event that an attempt can find, and what is told of it.
fn prepare(home: &Home) -> [(&'static str, &'static str); 4] {
    home.mint("doubt", "");
    mint_expired(home, "late");
    mint_drifted(home, "bound");
    cut_off(home, "cut");
    [
        ("doubt", "uncertain"),
        ("late", "expired expired late"),
        ("bound", "refused binding_changed bound"),
        ("cut", "uncertain interrupted cut"),
    ]
}

/// What was told is what was to be, in whatever order.
fn check(home: &Home, expected: &[(&str, &str)]) {
    let mut all = told(home);
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for (id, line) in expected {
        let found = all.iter().position(|told| told.starts_with(line) && told.ends_with(id));
        all.remove(found.unwrap_or_else(|| panic!("{line}: {all:?}")));
    }
}

#[test]
fn the_command_line_tells() {
    let home = told_home();
    let expected = prepare(&home);
    for _ in 0..2 {
        for (id, _) in expected {
            home.say(&format!("discharge --type report --id {id} --executor doubt"));
        }
    }
    check(&home, &expected);
}

#[test]
fn the_library_tells_in_a_thread_that_dropping_the_book_waits_for() {
    let home = told_home();
    let expected = prepare(&home);
    for _ in 0..2 {
        let book = Book::open(granted::Home::at(home.root()), Door::Library);
        for (id, _) in expected {
            let request = Request::new("report", id, "closure").unwrap();
            granted::discharge(&book, &request, |_, _| Verdict::Done);
        }
        drop(book);
        check(&home, &expected);
    }
}

#[test]
fn the_server_tells_and_waits_for_it_at_its_end() {
    let home = told_home();
    let expected = prepare(&home);
    for _ in 0..2 {
        let mut client = Client::legacy(&home, &[]);
        for (id, _) in expected {
            client.discharge(id, "doubt");
        }
        let (_, stderr) = client.end();
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        check(&home, &expected);
    }
}

/// A server answers, and serves on, while a notifier runs; its trouble is a line on stderr, once.
#[test]
fn the_server_does_not_wait_for_a_notifier() {
    let home = Home::new();
    let here = home.dir().display();
    assert!(Command::new("mkfifo").arg(home.dir().join("go")).status().unwrap().success());
    let script = format!(
        "#!/bin/sh\nread word < {here}/go; echo $GRANTED_NOTICE_OBJECT_ID >> {here}/told; exit 7\n"
    );
    notify_by(&home, &script, "timeout = \"60s\"\n");
    for id in ["1", "2", "3"] {
        home.mint(id, "");
    }
    let mut client = Client::legacy(&home, &[]);
    for id in ["1", "2", "3"] {
        let report = client
            .call("grant_discharge", json!({"type": "report", "id": id, "executor": "doubt"}));
        assert_eq!(report["reason"], "not_confirmed");
        assert_eq!(client.status(id), "consumed");
    }
    assert_eq!(told(&home), Vec::<String>::new());
    client.close();
    for count in 1..=3 {
        std::fs::write(home.dir().join("go"), "on\n").unwrap();
        until("it is told", || told(&home).len() == count);
    }
    let (_, stderr) = client.end();
    assert_eq!(told(&home), ["1", "2", "3"]);
    assert_eq!(stderr.matches("the notifier failed: it exited with 7").count(), 1, "{stderr}");
    home.verify();
}
