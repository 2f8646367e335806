//! Paths and contents, friendly and hostile.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use granted_core::digest::Digest;
use granted_core::write::{Refusal, Status};

use crate::write::file::{Answer, Change};
use crate::write::ground::Ground;
use crate::write::read::read;

#[test]
fn f1_nothing_outside_the_scopes_is_written() {
    let ground = Ground::new();
    for (path, reason) in [
        ("other.txt", Refusal::OutOfScope),
        ("docs/deep/x.md", Refusal::OutOfScope),
        ("docs/.hidden.md", Refusal::OutOfScope),
        ("src/locked/x", Refusal::Protected),
        ("SRC/locked/x", Refusal::Protected),
        ("src/LOCKED.txt", Refusal::Protected),
        (".git/config", Refusal::Protected),
        ("src/.GIT/hooks/x", Refusal::Protected),
        ("granted.toml", Refusal::Protected),
        ("src/granted.toml", Refusal::Protected),
        (".claude/settings.json", Refusal::Protected),
        ("src/../other.txt", Refusal::BadPath),
        ("../outside", Refusal::BadPath),
        ("/etc/passwd", Refusal::BadPath),
        ("~/x", Refusal::BadPath),
        ("src\\x", Refusal::BadPath),
        ("src/", Refusal::BadPath),
        ("", Refusal::BadPath),
    ] {
        assert_eq!(ground.refused(path, Some("x")), reason, "{path}");
    }
    assert!(!ground.kinds().iter().any(|kind| kind != "refused"));
}

#[test]
fn f2_a_link_is_judged_by_where_it_leads() {
    let ground = Ground::new();
    ground.put("src/locked/x", "secret\n");
    ground.put("../outside", "outside\n");
    symlink("locked/x", ground.at("src/to_locked")).unwrap();
    symlink("../../outside", ground.at("src/out")).unwrap();
    symlink("/etc/hostname", ground.at("src/absolute")).unwrap();
    symlink("nowhere", ground.at("src/dangling")).unwrap();
    symlink("locked", ground.at("src/folder")).unwrap();
    symlink("loop", ground.at("src/loop")).unwrap();
    for (path, reason) in [
        ("src/to_locked", Refusal::Protected),
        ("src/folder/y", Refusal::Protected),
        ("src/out", Refusal::BadPath),
        ("src/absolute", Refusal::BadPath),
        ("src/dangling", Refusal::BadPath),
        ("src/loop", Refusal::BadPath),
    ] {
        let mut change = ground.change("src/a.txt", Some("x"));
        change.path = path.into();
        assert_eq!(ground.file(&ground.proposal([change])).refused(), reason, "{path}");
    }
    assert_eq!(ground.text("../outside"), "outside\n");
}

#[test]
fn f3_the_base_must_be_what_is_there() {
    let ground = Ground::new();
    let of = |path: &str, base| Change { path: path.into(), content: Some(b"x".into()), base };
    let stale = granted_core::digest::Digest::of(b"stale");
    for change in [
        of("src/a.txt", Some(stale)),
        of("src/a.txt", None),
        of("src/missing", Some(stale)),
        Change { content: None, ..of("src/missing", Some(stale)) },
    ] {
        let refused = ground.file(&ground.proposal([change])).refused();
        assert_eq!(refused, Refusal::StaleBase);
    }
    assert_eq!(ground.refused("src/missing", None), Refusal::Invalid);
    assert_eq!(ground.refused("src/a.txt", Some("one\n")), Refusal::NoChange);
}

#[test]
fn f4_bytes_that_are_no_text_are_bytes_and_have_their_cap() {
    let ground = Ground::new();
    ground.put("src/bytes", [0xff, 0, 0xfe]);
    let state = ground.staged([Change {
        path: "src/bytes".into(),
        content: Some(vec![0, 0xff]),
        base: ground.base("src/bytes"),
    }]);
    ground.approve(state.id).unwrap();
    assert_eq!(std::fs::read(ground.at("src/bytes")).unwrap(), [0, 0xff]);
    let large = "x".repeat(256 * 1024 + 1);
    assert_eq!(ground.refused("src/new", Some(&large)), Refusal::TooLarge);
    ground.staged([ground.change("src/new", Some(&large[1..]))]);
    ground.put("src/grown", &large);
    assert_eq!(ground.refused("src/grown", Some("x")), Refusal::TooLarge);
}

#[test]
fn f5_the_mode_is_kept() {
    let ground = Ground::new();
    let set = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(ground.at("src/a.txt"), mode).unwrap();
    };
    for mode in [0o755, 0o600, 0o444] {
        set(mode);
        let text = format!("{mode:o}\n");
        let state = ground.staged([ground.change("src/a.txt", Some(&text))]);
        ground.approve(state.id).unwrap();
        let now = std::fs::metadata(ground.at("src/a.txt")).unwrap().permissions().mode();
        assert_eq!((now & 0o7777, ground.text("src/a.txt")), (mode, text));
    }
}

#[test]
fn f7_what_is_no_file_is_refused_and_the_next_is_answered() {
    let ground = Ground::new();
    std::fs::create_dir(ground.at("src/folder")).unwrap();
    let mkfifo = std::process::Command::new("mkfifo").arg(ground.at("src/fifo")).status().unwrap();
    assert!(mkfifo.success());
    let _socket = std::os::unix::net::UnixListener::bind(ground.at("src/socket")).unwrap();
    for path in
        ["src/folder", "src/fifo", "src/socket", "src/a.txt/below", "src/a\0b", "src/a\u{202e}b"]
    {
        let change = Change { path: path.into(), content: Some(b"x".into()), base: None };
        let refused = ground.file(&ground.proposal([change])).refused();
        assert_eq!(refused, Refusal::BadPath, "{path:?}");
    }
    let long = format!("src/{}", "n".repeat(256));
    assert_eq!(ground.refused(&long, Some("x")), Refusal::BadPath);
    let longest = format!("src/{}", "n".repeat(255));
    let state = ground.staged([ground.change(&longest, Some("x"))]);
    assert_eq!(ground.approve(state.id).unwrap().status, Status::Applied);
    assert_eq!(ground.text(&longest), "x");
}

#[test]
fn f8_a_folder_that_becomes_a_link_is_not_followed() {
    let ground = Ground::new();
    ground.put("src/deep/x", "one\n");
    ground.put("../outside/x", "one\n");
    let state = ground.staged([ground.change("src/deep/x", Some("two\n"))]);
    std::fs::rename(ground.at("src/deep"), ground.at("src/was")).unwrap();
    symlink("../../outside", ground.at("src/deep")).unwrap();
    assert!(ground.approve(state.id).is_err());
    // One that stays in the project leads elsewhere, too.
    std::fs::remove_file(ground.at("src/deep")).unwrap();
    symlink("was", ground.at("src/deep")).unwrap();
    assert!(ground.approve(state.id).is_err());
    assert_eq!(
        (ground.text("../outside/x"), ground.text("src/was/x")),
        ("one\n".into(), "one\n".into())
    );
    assert_eq!(ground.request(state.id).status, Status::Staged);
}

#[test]
fn f9_a_scope_is_exact_in_case() {
    let ground = Ground::new();
    for path in ["SRC/x", "Src/x", "TOP.txt", "docs/x.MD"] {
        assert_eq!(ground.refused(path, Some("x")), Refusal::OutOfScope, "{path}");
    }
}

#[test]
fn f10_a_protected_path_is_protected_however_its_accents_are_written() {
    let ground = Ground::new();
    for path in ["docs/caf\u{e9}.md", "docs/cafe\u{301}.md", "docs/CAFE\u{301}.md"] {
        assert_eq!(ground.refused(path, Some("x")), Refusal::Protected, "{path}");
    }
}

#[test]
fn one_file_is_not_named_twice() {
    let ground = Ground::new();
    symlink("a.txt", ground.at("src/b.txt")).unwrap();
    let (a, mut b) = (ground.change("src/a.txt", Some("x")), ground.change("src/a.txt", Some("y")));
    b.path = "src/b.txt".into();
    assert_eq!(ground.file(&ground.proposal([a, b])).refused(), Refusal::Invalid);
    assert_eq!(ground.file(&ground.proposal([])).refused(), Refusal::Invalid);
    let (a, b) = (ground.change("src/n", Some("x")), ground.change("src/n/m", Some("y")));
    assert_eq!(ground.file(&ground.proposal([a, b])).refused(), Refusal::Invalid);
}

#[test]
fn a_file_that_has_another_name_is_not_read() {
    let ground = Ground::new();
    let agent = "producer".parse().unwrap();
    let read = |path: &str| read(&ground.root(), &agent, path);
    assert!(read("src/a.txt").unwrap().content.is_some());
    ground.put("../outside", "secret\n");
    std::fs::hard_link(ground.at("../outside"), ground.at("src/linked")).unwrap();
    let denied = read("src/linked").unwrap_err();
    assert_eq!(denied.reason, Refusal::Protected);
    assert!(denied.detail.contains("it is a hard link"), "{denied}");
    // Nor is it told what it holds by refusing a change of it.
    ground.put("src/pin.key", "0042\n");
    for path in ["src/linked", "src/pin.key"] {
        let mut change = ground.change(path, Some("x"));
        change.base = Some(Digest::ZERO);
        let Answer::Refused { denied, .. } = ground.file(&ground.proposal([change])) else {
            panic!("it is not refused")
        };
        assert_eq!(denied.reason, Refusal::StaleBase);
        let is = Digest::of(ground.text(path).as_bytes()).to_string();
        assert!(denied.stale.is_none() && !denied.detail.contains(&is), "{denied:?}");
    }
}
