#![expect(clippy::disallowed_methods, reason = "files and processes of the tests")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, makedev, mknodat};
use rustix::process::getuid;

use super::*;

struct Project {
    dir: tempfile::TempDir,
    tree: Tree,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join("src/a"), "a").unwrap();
        fs::write(root.join("src/deep/b"), "b").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let tree = Tree::open(&root).unwrap();
        Project { dir, tree }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("project").join(path)
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.at(path)).unwrap();
    }

    /// Where a path leads: the canonical one, with a `+` before it if it is not there; or the fault.
    fn resolve(&self, text: &str) -> String {
        match self.tree.resolve(&path(text)) {
            Ok(place) => format!("{}{}", if place.is_there { "" } else { "+" }, place.path),
            Err(e) => said(&e),
        }
    }

    fn read(&self, text: &str) -> String {
        match self.tree.read(&path(text), 100) {
            Ok(Found::Absent) => "absent".into(),
            Ok(Found::File(content)) => String::from_utf8(content.bytes).unwrap(),
            Err(e) => said(&e),
        }
    }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

fn said(error: &TreeError) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.starts_with(&format!("`{}` ", error.path)), "{text}");
    text
}

#[track_caller]
fn holds(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

#[test]
fn leads_where_the_links_in_the_project_lead() {
    let project = Project::new();
    project.link("a", "src/to_a");
    project.link("src", "l");
    project.link("../src/deep/../a", "src/round");
    project.link("l/to_a", "chain");
    project.link(".", "here");
    for (asked, found) in [
        ("src/a", "src/a"),
        ("src/to_a", "src/a"),
        ("l/a", "src/a"),
        ("l/l2/x/y", "+src/l2/x/y"),
        ("src/round", "src/a"),
        ("chain", "src/a"),
        ("here/here/src/deep/b", "src/deep/b"),
        ("here/new", "+new"),
        ("new", "+new"),
        ("new/er/est", "+new/er/est"),
        ("src/deep", "src/deep"),
        ("l/deep/c", "+src/deep/c"),
    ] {
        assert_eq!(project.resolve(asked), found, "{asked}");
    }
}

#[test]
fn refuses_what_leads_out_or_nowhere() {
    let project = Project::new();
    let secret = project.dir.path().join("secret");
    project.link("../secret", "out");
    project.link("..", "up");
    project.link(&secret, "absolute");
    project.link(project.at("src/a"), "absolute_inside");
    project.link("round", "round");
    project.link("none", "dangling");
    project.link("none/at/all", "src/dangling");
    project.link(".", "here");
    project.link("/proc/self/root", "magic");
    project.link("/proc/self/cwd", "src/magic");
    for (asked, line) in [
        ("out", "leads out of the project"),
        ("up/secret", "leads out of the project"),
        ("up/new", "leads out of the project"),
        ("up/project/src/a", "leads out of the project"),
        ("absolute", "leads out of the project"),
        ("absolute_inside", "leads out of the project"),
        ("magic/etc/passwd", "leads out of the project"),
        ("src/magic/x", "leads out of the project"),
        ("round", "is reached through a link that is not followed"),
        ("dangling", "is reached through a link to something that does not exist"),
        ("dangling/x", "is reached through a link to something that does not exist"),
        ("src/dangling/x/y", "is reached through a link to something that does not exist"),
        ("src/a/x", "lies below something that is not a folder"),
        ("src/a/x/y", "lies below something that is not a folder"),
        ("here", "is the root of the project"),
    ] {
        holds(&project.resolve(asked), line);
    }
    // Nor is any link followed when a file is read.
    project.link("src", "l");
    project.link("a", "src/to_a");
    for asked in ["l/a", "src/to_a", "out", "round", "dangling"] {
        holds(&project.read(asked), "is reached through a link that is not followed");
    }
    holds(&project.read("src/a/x"), "lies below something that is not a folder");
}

#[test]
fn a_link_may_lead_to_no_path() {
    let project = Project::new();
    fs::create_dir(project.at("a\u{202e}b")).unwrap();
    project.link("a\u{202e}b", "l");
    holds(&project.resolve("l/x"), "leads to a path that holds a character that cannot be shown");
    let name = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    fs::create_dir(project.dir.path().join("project").join(name)).unwrap();
    project.link(name, "m");
    holds(&project.resolve("m"), "leads to a path that is not UTF-8");
}

#[test]
fn reads_regular_files_only_and_waits_for_nothing() {
    let project = Project::new();
    mknodat(CWD, project.at("fifo"), FileType::Fifo, 0o644.into(), 0).unwrap();
    let _socket = UnixListener::bind(project.at("socket")).unwrap();
    for (asked, found) in [
        ("src/a", "a"),
        ("src/none", "absent"),
        ("none/at/all", "absent"),
        ("src", "is a directory, not a regular file"),
        ("fifo", "is a FIFO, not a regular file"),
        ("socket", "is a socket or a device, not a regular file"),
    ] {
        holds(&project.read(asked), found);
    }
    if getuid().is_root() {
        for (name, kind) in [("char", FileType::CharacterDevice), ("block", FileType::BlockDevice)]
        {
            // The first is /dev/zero, which has no end.
            mknodat(CWD, project.at(name), kind, 0o644.into(), makedev(1, 5)).unwrap();
            holds(&project.read(name), "device");
        }
    }
}

#[test]
fn says_all_of_a_file_and_no_more_than_the_limit() {
    let project = Project::new();
    fs::write(project.at("src/a"), [b'x'; 100]).unwrap();
    fs::set_permissions(project.at("src/a"), fs::Permissions::from_mode(0o4751)).unwrap();
    fs::hard_link(project.at("src/a"), project.dir.path().join("other")).unwrap();
    let Found::File(content) = project.tree.read(&path("src/a"), 100).unwrap() else { panic!() };
    let digest = Digest::of(&[b'x'; 100]);
    let expected = Content { bytes: vec![b'x'; 100], digest, mode: 0o4751, links: 2 };
    assert_eq!(content, expected);
    fs::OpenOptions::new().append(true).open(project.at("src/a")).unwrap().write_all(b"y").unwrap();
    holds(&project.read("src/a"), "has more than 100 bytes");
    // However large it is, it is not read.
    fs::File::create(project.at("src/a")).unwrap().set_len(1 << 42).unwrap();
    holds(&project.read("src/a"), "has more than 100 bytes");
}

#[test]
fn names_are_bytes_and_as_long_as_the_system_takes() {
    let project = Project::new();
    let long = "é".repeat(127);
    let (composed, apart) = ("caf\u{e9}", "cafe\u{301}");
    for name in [&long, composed] {
        fs::write(project.at(name), name).unwrap();
        assert_eq!(project.resolve(name), name);
        assert_eq!(
            project.tree.read(&path(name), 300).unwrap().digest(),
            Some(Digest::of(name.as_bytes()))
        );
    }
    assert_eq!(project.resolve(apart), format!("+{apart}"));
    assert_eq!(project.read(apart), "absent");
}

#[test]
fn the_root_is_what_was_opened_whatever_its_path_leads_to() {
    let project = Project::new();
    let moved = project.dir.path().join("moved");
    fs::rename(project.at(""), &moved).unwrap();
    fs::create_dir_all(project.at("src")).unwrap();
    fs::write(project.at("src/a"), "another").unwrap();
    assert_eq!(project.read("src/a"), "a");
    assert_eq!(project.resolve("src/a"), "src/a");
    fs::write(project.dir.path().join("file"), "").unwrap();
    let error = Tree::open(&project.dir.path().join("file")).unwrap_err();
    holds(&said(&error), "lies below something that is not a folder");
    holds(&said(&Tree::open(&project.at("none")).unwrap_err()), "no such file or directory");
    // A root of `/` is one too.
    let tree = Tree::open(Path::new("/")).unwrap();
    let inside = path(project.dir.path().to_str().unwrap().trim_start_matches('/'));
    assert_eq!(tree.resolve(&inside).unwrap(), Place { path: inside, is_there: true });
}

#[test]
fn folders_that_are_missing_are_named_from_above() {
    let project = Project::new();
    let missing = |texts: &[&str]| {
        let paths: Vec<ProjectPath> = texts.iter().map(|text| path(text)).collect();
        let found = project.tree.missing_folders(&paths);
        found.map(|found| found.iter().map(|p| p.to_string()).collect::<Vec<_>>())
    };
    assert!(missing(&["src/x", "x", "src/deep/y"]).unwrap().is_empty());
    let found = missing(&["n/b/x", "src/m/x", "n/c/d/x", "n/x"]).unwrap();
    assert_eq!(found, ["n", "n/b", "n/c", "n/c/d", "src/m"]);
    assert!(missing(&["src/a/x"]).is_err());
}

/// Another mount in the tree, in a mount namespace of its own so that nothing is left over.
#[test]
fn nothing_on_another_mount_is_reached() {
    if !getuid().is_root() {
        return; // Only root mounts.
    }
    let project = Project::new();
    fs::create_dir_all(project.at("mnt")).unwrap();
    fs::create_dir_all(project.at("proc")).unwrap();
    let script = "mount -t proc proc proc && mount --bind src mnt || exit 77; \
                  exec \"$0\" tree::tests::on_mounts --exact --ignored";
    let status = Command::new("unshare")
        .args(["-m", "/bin/sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .current_dir(project.at(""))
        .output();
    match status.as_ref().map(|output| output.status.code()) {
        Err(_) | Ok(Some(77)) => {}
        Ok(code) => assert_eq!(code, Some(0), "{status:?}"),
    }
}

/// Run by the test above, in the root of its project.
#[test]
#[ignore = "the test of mounts runs it in its namespace"]
fn on_mounts() {
    let tree = Tree::open(Path::new(".")).unwrap();
    for asked in ["mnt/a", "mnt/new", "mnt", "proc/self/status", "proc/self/root/etc/passwd"] {
        holds(
            &tree.resolve(&path(asked)).unwrap_err().to_string(),
            "leads out of the project, through a link or to another mount",
        );
        holds(
            &tree.read(&path(asked), 100).unwrap_err().to_string(),
            "leads out of the project, through a link or to another mount",
        );
    }
    assert!(tree.resolve(&path("src/a")).is_ok());
}

/// Runs `change` again and again while `look` is called, until that has seen enough.
fn racing(change: impl Fn(usize) + Sync, mut look: impl FnMut() -> bool) {
    struct Over<'a>(&'a AtomicBool);
    // Also if `look` panics: the other thread is waited for then too.
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in (0..).take_while(|_| !over.load(Ordering::Relaxed)) {
                change(n);
            }
        });
        let _over = Over(&over);
        assert!((0..200_000).any(|_| look()), "it never saw enough");
    });
}

#[test]
fn a_link_that_is_swapped_at_any_level_leads_nowhere_else() {
    let project = Project::new();
    let out = project.dir.path().join("out");
    fs::create_dir_all(out.join("deep")).unwrap();
    fs::write(out.join("a"), "secret").unwrap();
    fs::write(out.join("deep/b"), "secret").unwrap();
    project.link("../out", "evil");
    project.link("../../out/deep", "src/evil");
    project.link("../../out/a", "src/deep/evil");
    let exchange = |one: &str, other: &str| {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(CWD, project.at(one), CWD, project.at(other), flags).unwrap();
    };
    // While a link has its name, what is exchanged for it has the link's.
    let names = ["src/a", "evil/a", "src/deep/b", "evil/deep/b", "src/evil/b", "src/deep/evil"];
    let (mut read, mut refused, mut led_out) = (0, 0, 0);
    racing(
        |n| match n % 3 {
            0 => (exchange("src", "evil"), exchange("evil", "src")).0,
            1 => (exchange("src/deep", "src/evil"), exchange("src/evil", "src/deep")).0,
            _ => {
                (exchange("src/deep/b", "src/deep/evil"), exchange("src/deep/evil", "src/deep/b")).0
            }
        },
        || {
            for text in ["src/a", "src/deep/b"] {
                match project.tree.read(&path(text), 100) {
                    Ok(Found::File(content)) => {
                        assert!([&b"a"[..], b"b"].contains(&&*content.bytes));
                        read += 1;
                    }
                    Ok(Found::Absent) | Err(_) => refused += 1,
                }
                match project.tree.resolve(&path(text)) {
                    Ok(place) => assert!(names.contains(&place.path.as_str()), "{place:?}"),
                    Err(e) if matches!(e.fault, TreeFault::Outside) => led_out += 1,
                    Err(e) => assert!(
                        matches!(
                            e.fault,
                            TreeFault::Changing | TreeFault::Dangling | TreeFault::NotFolder
                        ),
                        "{e}"
                    ),
                }
            }
            read > 500 && refused > 500 && led_out > 500
        },
    );
}

#[test]
fn a_file_that_changes_while_it_is_read_is_given_as_it_was_at_one_time() {
    let project = Project::new();
    let size = 2 << 20;
    fs::write(project.at("src/a"), vec![0; size]).unwrap();
    let file = fs::OpenOptions::new().write(true).open(project.at("src/a")).unwrap();
    let (mut given, mut refused) = (0, 0);
    racing(
        |n| {
            // Rewritten in place, from the beginning to the end.
            let byte = ((n + 1) % 100) as u8;
            std::os::unix::fs::FileExt::write_all_at(&file, &vec![byte; size], 0).unwrap();
            (0..n % 7).for_each(|_| std::thread::yield_now());
        },
        || {
            match project.tree.read(&path("src/a"), size) {
                Ok(Found::File(content)) => {
                    // In the middle of a write it begins with the new byte and ends with the last one.
                    let (new, last) = (content.bytes[0], content.bytes[size - 1]);
                    let rest = content.bytes.iter().skip_while(|byte| **byte == new);
                    assert_eq!(content.bytes.len(), size);
                    assert!(rest.copied().all(|byte| byte == last), "{new} {last}");
                    assert!(new == last || new == (last + 1) % 100, "{new} {last}");
                    given += 1;
                }
                Ok(Found::Absent) => panic!(),
                Err(e) => {
                    assert!(matches!(e.fault, TreeFault::Changing), "{e}");
                    refused += 1;
                }
            }
            given > 0 && given + refused > 100
        },
    );
}

#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let project = Project::new();
    let file = fs::OpenOptions::new().append(true).open(project.at("src/a")).unwrap();
    racing(
        |_| {
            (&file).write_all(&[b'y'; 4096]).unwrap();
            if file.metadata().unwrap().len() > 1 << 20 {
                file.set_len(0).unwrap();
            }
        },
        || match project.tree.read(&path("src/a"), 1 << 20) {
            Ok(Found::File(content)) => {
                let grown = content.bytes.strip_prefix(b"a").unwrap_or(&content.bytes);
                assert!(grown.iter().all(|byte| *byte == b'y'));
                false
            }
            Ok(Found::Absent) => panic!(),
            Err(e) => {
                assert!(matches!(e.fault, TreeFault::Changing | TreeFault::Large(_)), "{e}");
                true
            }
        },
    );
}
