//! What the person types, and sees.

use std::time::Duration;

use granted_core::text::is_shown;

use super::{Ground, now, rows_of};
use crate::crowd::until;
use crate::pty::Pty;

#[test]
fn on_a_terminal_each_is_shown_and_asked_for() {
    let ground = Ground::new();
    ground.put("src/a", "one\ntwo\n");
    let (yes, _) = ground.stage(&[("src/a", Some("one\n2\n"))]);
    let (no, _) = ground.stage(&[("src/b", Some("\u{1b}[2Jevil\u{202e}\n\tindented\n"))]);
    let mut pty = Pty::start(&ground.home.command(["writes", "approve", "--all", "--by", "me"]));
    pty.until("-two\r\n+2\r\n");
    pty.until("digest     ");
    pty.until("apply this? [y/N] ");
    assert_eq!(ground.text("src/a"), "one\ntwo\n");
    pty.line("y");
    pty.until("+\\u{1b}[2Jevil\\u{202e}\r\n");
    pty.until("apply this? [y/N] ");
    pty.line("n");
    let run = pty.end().exits(1);
    assert!(run.stdout.contains(&format!("applied {yes}")), "{run:?}");
    assert!(run.stderr.contains(&format!("request {no} waits as before")), "{run:?}");
    assert!(pty.shown.chars().all(|c| is_shown(c) || "\r\n\t".contains(c)), "{:?}", pty.shown);
    assert_eq!((ground.text("src/a").as_str(), ground.text("src/b").as_str()), ("one\n2\n", "-"));
    assert_eq!((ground.status(&yes).as_str(), ground.status(&no).as_str()), ("applied", "staged"));
}

#[test]
fn a_script_needs_the_digest_of_each() {
    let ground = Ground::new();
    let one = ground.stage(&[("src/a", Some("a\n"))]);
    let two = ground.stage(&[("src/b", Some("b\n"))]);
    // No terminal, and no word for all.
    ground.home.say(&format!("writes approve {} --by me", one.0)).exits(1);
    ground.home.say("writes approve --all --by me").exits(1);
    ground
        .home
        .say(&format!("writes approve {} {} --digest {} --by me", one.0, two.0, one.1))
        .exits(2);
    let other = ground.approve(&(one.0.clone(), two.1.clone())).exits(1);
    assert!(other.stderr.contains("has the digest"), "{other:?}");
    assert_eq!(ground.text("src/a"), "-");
    let line =
        format!("writes approve {} {} --digest {} --digest {} --by me", one.0, two.0, one.1, two.1);
    ground.home.say(&line).ok();
    assert_eq!((ground.text("src/a").as_str(), ground.text("src/b").as_str()), ("a\n", "b\n"));
    ground.approve(&one).exits(1);
}

#[test]
fn g2_a_stale_base_is_shown_against_what_is_there() {
    let ground = Ground::new();
    ground.put("src/a", "one\n");
    let request = ground.stage(&[("src/a", Some("two\n"))]);
    ground.put("src/a", "three\n");
    let refused = ground.approve(&request).exits(1);
    assert!(refused.stdout.contains("-three\n+two\n"), "{refused:?}");
    assert!(refused.stderr.contains("is not what the change is based on"), "{refused:?}");
    let staged = ground.home.say("writes staged").ok();
    assert!(staged.stdout.contains("stale"), "{staged:?}");
    assert_eq!(
        (ground.status(&request.0).as_str(), ground.text("src/a").as_str()),
        ("staged", "three\n")
    );
}

#[test]
fn g9_a_request_is_named_by_its_id_or_its_beginning() {
    let ground = Ground::new();
    let (one, _) =
        ground.stage_at(now().minus(Duration::from_secs(7_200)), &[("src/a", Some("a\n"))]);
    let (two, _) = ground.stage(&[("src/b", Some("b\n"))]);
    let common: String =
        one.chars().zip(two.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let unique = &one[..=common.len()];
    let shown = ground.home.say(&format!("writes show {} --json", unique.to_lowercase())).ok();
    assert_eq!(shown.json()["id"], one.as_str());
    let both = ground.home.say(&format!("writes show {common}")).exits(1);
    assert!(both.stderr.contains("several requests"), "{both:?}");
    for bad in ["../../x", "zzz", "", "0", "\u{1b}[31m", "00000000000000000000000000"] {
        let run = ground.home.run(["writes", "show", bad]).exits(1);
        assert!(run.stderr.chars().all(|c| is_shown(c) || c == '\n'), "{run:?}");
    }
}

#[test]
fn an_executor_is_no_person() {
    let ground = Ground::new();
    let (id, digest) = ground.stage(&[("src/a", Some("a\n"))]);
    for line in [
        format!("writes approve {id} --digest {digest}"),
        format!("writes reject {id}"),
        format!("writes revert {id}"),
    ] {
        let mut command = ground.home.command(line.split(' '));
        let run: crate::home::Run =
            command.env("GRANTED_DISCHARGE_ID", "x").output().unwrap().into();
        assert!(run.exits(1).stderr.contains("person's verb"));
    }
    assert_eq!(rows_of(&ground, &id), ["write.staged"]);
}

#[test]
fn bytes_that_are_no_text_are_said_to_be() {
    let ground = Ground::new();
    let (id, _) = ground.stage(&[("src/a", Some("a\0b"))]);
    let shown = ground.home.say(&format!("writes show {id}")).ok();
    assert!(shown.stdout.contains("no text: 3 bytes"), "{shown:?}");
    let stat = ground.home.say(&format!("writes show {id} --stat")).ok();
    assert!(stat.stdout.contains("new      no text      src/a"), "{stat:?}");
}

#[test]
fn g7_a_tick_ends_what_nobody_approved() {
    let ground = Ground::new();
    let yesterday = now().minus(Duration::from_secs(25 * 3_600));
    // A ledger's time never goes back, so this book begins then.
    std::fs::remove_dir_all(ground.home.root()).unwrap();
    let (id, _) = ground.stage_at(yesterday, &[("src/a", Some("a\n"))]);
    let ticked = ground.home.say("tick --json").ok().json();
    assert_eq!(ticked["requests"][0]["id"], id.as_str());
    assert_eq!(ground.status(&id), "expired");
    assert_eq!(ground.home.say("tick").ok().stdout, "");
}

#[test]
fn the_inbox_has_every_shape_and_goes_on() {
    let ground = Ground::new();
    let nothing = ground.home.say("inbox").ok();
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.as_str()), ("", "nothing waits for you\n"));
    let attempt = ground.home.discharge_in_doubt("1");
    let (one, _) = ground.stage(&[("src/a", Some("a\n"))]);
    let mut watch = ground.home.command(["inbox", "--watch"]);
    let mut watch = watch
        .stdout(std::fs::File::create(ground.home.dir().join("told")).unwrap())
        .spawn()
        .unwrap();
    let told = || std::fs::read_to_string(ground.home.dir().join("told")).unwrap();
    until("both are told", || told().contains(&one));
    assert!(
        told().contains(&format!("granted resolve {attempt} --happened --by WHO")),
        "{}",
        told()
    );
    assert!(told().contains(&format!("granted writes approve {one}")), "{}", told());
    let (two, _) = ground.stage(&[("src/b", Some("b\n"))]);
    until("the new one is told", || told().contains(&two));
    assert_eq!(told().matches("granted writes approve").count(), 2);
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(told().chars().all(|c| is_shown(c) || c == '\n'), "{}", told());
    ground.home.say(&format!("resolve {attempt} --happened --by me")).ok();
    ground.home.say(&format!("writes reject {one} --by me")).ok();
    let left = ground.home.say("inbox --json").ok();
    assert_eq!(left.json()["id"], two.as_str());
}
