#![expect(clippy::disallowed_methods, reason = "files and processes of the tests")]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::*;

mod foreign;
mod kills;

/// What the change set of these tests does: files are made (also below new folders), replaced, removed.
const CHANGES: [(&str, Option<&str>, Option<&str>); 6] = [
    ("made", None, Some("made, new")),
    ("new/folder/made", None, Some("made deep, new")),
    ("run.sh", Some("old program"), Some("new program")),
    ("src/large", Some("old large"), Some("new large")),
    ("src/gone", Some("old gone"), None),
    ("new/other", None, Some("made beside, new")),
];

/// Contents by digest, and what becomes of each step.
struct Contents<'a> {
    all: HashMap<Digest, Vec<u8>>,
    step: Box<dyn Fn(usize, &'static str) -> io::Result<()> + 'a>,
    taken: Cell<usize>,
}

impl Source for Contents<'_> {
    fn content(&self, digest: Digest) -> io::Result<Vec<u8>> {
        self.all.get(&digest).cloned().ok_or_else(|| io::Error::other("it is not kept"))
    }

    fn step(&self, what: &'static str) -> io::Result<()> {
        let step = self.taken.get();
        self.taken.set(step + 1);
        (self.step)(step, what)
    }
}

/// A content of this name; the large ones are large.
fn bytes(name: &str) -> Vec<u8> {
    match name.contains("large") {
        true => name.as_bytes().repeat(20_000),
        false => name.as_bytes().to_vec(),
    }
}

fn digest(name: &str) -> Digest {
    Digest::of(&bytes(name))
}

fn source<'a>(step: impl Fn(usize, &'static str) -> io::Result<()> + 'a) -> Contents<'a> {
    let names = CHANGES.iter().flat_map(|(_, before, after)| [before, after]).flatten();
    let all = names.map(|name| (digest(name), bytes(name))).collect();
    Contents { all, step: Box::new(step), taken: Cell::new(0) }
}

fn quiet<'a>() -> Contents<'a> {
    source(|_, _| Ok(()))
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

fn id() -> Id {
    "01JQ3M5Y8KX2Z0V4T6W8R9ABCD".parse().unwrap()
}

fn change((file, before, after): (&str, Option<&str>, Option<&str>)) -> FileChange {
    FileChange {
        path: path(file),
        before: before.map(digest),
        after: after.map(digest),
        mode: 0o640,
    }
}

fn order() -> Order {
    Order::of(id(), CHANGES.map(change).into(), vec![path("new"), path("new/folder")]).unwrap()
}

struct Project {
    dir: tempfile::TempDir,
    tree: Tree,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let project = Project { tree: Tree::open(dir.path()).unwrap(), dir };
        fs::create_dir(project.at("src")).unwrap();
        project.reset();
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, name: &str) {
        fs::write(self.at(path), bytes(name)).unwrap();
    }

    /// All old, whatever it was.
    fn reset(&self) {
        let _ = fs::remove_dir_all(self.at("new"));
        let _ = fs::remove_file(self.at("made"));
        for (file, before, _) in CHANGES {
            if let Some(before) = before {
                self.write(file, before);
            }
        }
        fs::set_permissions(self.at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(self.state(), "old");
    }

    /// Every file and folder, and what is in it.
    fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.dir.path()).unwrap().to_str().unwrap();
                if path.is_dir() {
                    found.insert(format!("{name}/"), String::new());
                    folders.push(path);
                } else {
                    found.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }

    /// `old`, `new`, or all that is there.
    fn state(&self) -> String {
        let found = self.files();
        let folders =
            |names: &[&str]| names.iter().map(|name| (name.to_string(), String::new())).collect();
        let mut old: BTreeMap<String, String> = folders(&["src/"]);
        let mut new: BTreeMap<String, String> = folders(&["src/", "new/", "new/folder/"]);
        let text = |name: &str| String::from_utf8(bytes(name)).unwrap();
        for (file, before, after) in CHANGES {
            old.extend(before.map(|name| (file.to_owned(), text(name))));
            new.extend(after.map(|name| (file.to_owned(), text(name))));
        }
        match () {
            () if found == old => "old".into(),
            () if found == new => "new".into(),
            () => format!(
                "{:?}",
                found.iter().map(|(k, v)| (k, granted_core::text::cut(v, 20))).collect::<Vec<_>>()
            ),
        }
    }
}

fn not_done(applied: &Applied) -> &str {
    match applied {
        Applied::NotDone { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn applies_all_of_it_and_leaves_nothing_behind() {
    let project = Project::new();
    let source = quiet();
    assert_eq!(apply(&order(), &project.tree, &source), Applied::Done);
    assert_eq!(project.state(), "new");
    assert_eq!((mode(&project.at("run.sh")), mode(&project.at("made"))), (0o755, 0o640));
    // Once more it finds nothing as it was to be, and touches nothing.
    let taken = source.taken.take();
    assert!(taken > 40, "{taken}");
    let again = apply(&order(), &project.tree, &source);
    let Applied::NotDone { changed, .. } = again else { panic!("{again:?}") };
    assert_eq!((changed.len(), source.taken.get()), (6, 0));
    assert_eq!(project.state(), "new");
    assert_eq!(recover(&order(), &project.tree, &source).unwrap(), Recovered::New);
}

#[test]
fn what_cannot_be_a_change_set_is_none() {
    let order = |changes: &[(&str, Option<&str>, Option<&str>)]| {
        let order = Order::of(id(), changes.iter().copied().map(change).collect(), Vec::new());
        order.map(|_| ()).map_err(|e| e.to_string())
    };
    let made = |file| (file, None, Some("x"));
    assert_eq!(order(&[made("a"), made("a-b"), made("b/c"), made("b/d")]), Ok(()));
    for (changes, line) in [
        (&[][..], "a change set changes at least one file"),
        (&[("a", None, None)], "`a` would not be changed"),
        (&[("a", Some("x"), Some("x"))], "`a` would not be changed"),
        (&[made("a"), made("b"), ("a", Some("x"), None)], "`a` is changed twice"),
        (&[made("a/b"), ("a", Some("x"), None)], "`a` cannot be a file and a folder"),
        (&[("a", Some("x"), None), made("a/b/c")], "`a` cannot be a file and a folder"),
    ] {
        assert_eq!(order(changes), Err(line.into()));
    }
}

#[test]
fn a_step_that_fails_undoes_everything() {
    let project = Project::new();
    let mut outcomes = BTreeMap::<&str, usize>::new();
    for failing in 0.. {
        let last = RefCell::new("");
        let source = source(|step, what| match step == failing {
            true => {
                *last.borrow_mut() = what;
                Err(Errno::NOSPC.into())
            }
            false => Ok(()),
        });
        let applied = apply(&order(), &project.tree, &source);
        let failed = *last.borrow();
        *outcomes.entry(failed).or_default() += 1;
        match applied {
            Applied::Done => {
                assert!(failed.is_empty(), "{failed}");
                break;
            }
            Applied::NotDone { why, changed } => {
                assert!(why.contains("no space left on device") && changed.is_empty(), "{why}");
                assert_eq!(project.state(), "old", "{failing}: {failed}");
            }
            // What was displaced is still there; the files are new.
            Applied::Unknown { .. } => {
                assert!(["remove a file", "sync a folder"].contains(&failed), "{failed}");
                let recovered = recover(&order(), &project.tree, &quiet()).unwrap();
                assert_eq!((recovered, project.state().as_str()), (Recovered::New, "new"));
                project.reset();
            }
        }
    }
    assert!(outcomes.len() >= 9 && outcomes.values().sum::<usize>() > 40, "{outcomes:?}");
}

#[test]
fn where_undoing_fails_too_recovery_ends_it() {
    let project = Project::new();
    let mut unknown = 0;
    for failing in 0.. {
        // From this step on the disk takes nothing.
        let source = source(|step, _| match step >= failing {
            true => Err(Errno::IO.into()),
            false => Ok(()),
        });
        match apply(&order(), &project.tree, &source) {
            Applied::Done => break,
            Applied::NotDone { .. } => assert_eq!(project.state(), "old", "{failing}"),
            Applied::Unknown { files, why } => {
                assert!(!files.is_empty() && why.contains("input/output error"), "{why}");
                unknown += 1;
            }
        }
        // Neither can recovery, as long as that lasts; nor does it make anything worse.
        for failing in 0.. {
            let source = self::source(|step, _| match step >= failing {
                true => Err(Errno::IO.into()),
                false => Ok(()),
            });
            if recover(&order(), &project.tree, &source).is_ok() {
                break;
            }
        }
        match recover(&order(), &project.tree, &quiet()).unwrap() {
            Recovered::Old => assert_eq!(project.state(), "old"),
            Recovered::New => assert_eq!(project.state(), "new"),
            other => panic!("{other:?}"),
        }
        project.reset();
    }
    assert!(unknown > 20, "{unknown}");
}

/// As on a file system that cannot exchange two names: it says so when it is asked to.
#[test]
fn without_an_exchange_it_is_looked_at_before() {
    let project = Project::new();
    let cannot = |failing: usize| {
        source(move |step, what| match what {
            _ if step == failing => Err(Errno::NOSPC.into()),
            "exchange two files" => Err(Errno::INVAL.into()),
            _ => Ok(()),
        })
    };
    for failing in 0.. {
        match apply(&order(), &project.tree, &cannot(failing)) {
            Applied::Done => break,
            Applied::NotDone { .. } => assert_eq!(project.state(), "old", "{failing}"),
            Applied::Unknown { .. } => {
                let recovered = recover(&order(), &project.tree, &cannot(usize::MAX)).unwrap();
                assert_eq!((recovered, project.state().as_str()), (Recovered::New, "new"));
                project.reset();
            }
        }
    }
    assert_eq!((project.state().as_str(), mode(&project.at("run.sh"))), ("new", 0o755));
}

#[test]
fn a_content_that_is_not_the_one_decided_on_is_not_written() {
    let project = Project::new();
    let mut source = quiet();
    source.all.insert(digest("new large"), b"another".to_vec());
    let applied = apply(&order(), &project.tree, &source);
    assert!(not_done(&applied).contains("`src/large`: its content is not the one"), "{applied:?}");
    source.all.remove(&digest("new large"));
    let applied = apply(&order(), &project.tree, &source);
    assert_eq!(not_done(&applied), "`src/large`: it is not kept");
    assert_eq!(project.state(), "old");
}

#[test]
fn keeps_the_bits_the_owner_and_the_attributes() {
    let project = Project::new();
    let file = project.at("run.sh");
    let attribute = |name: &str| {
        let mut value = [0; 64];
        rustix::fs::getxattr(&file, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    let set = |name: &str, value: &[u8]| {
        rustix::fs::setxattr(&file, name, value, rustix::fs::XattrFlags::empty())
    };
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        std::os::unix::fs::chown(&file, Some(1234), Some(5678)).unwrap();
    }
    // For everybody else: read, and for user 77: everything.
    let entry = |tag: u16, bits: u16, id: u32| {
        [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let none = u32::MAX;
    let list = [
        2_u32.to_le_bytes().to_vec(),
        entry(1, 7, none),
        entry(2, 7, 77),
        entry(4, 4, none),
        entry(16, 7, none),
        entry(32, 4, none),
    ]
    .concat();
    let can = set("user.note", b"kept").is_ok() && set("system.posix_acl_access", &list).is_ok();
    // A folder gives a list to new files; a file that had none gets none.
    let given = ["system.posix_acl_default", "system.posix_acl_access"];
    let flags = rustix::fs::XattrFlags::empty();
    let _ = rustix::fs::setxattr(project.at("src"), given[0], &list, flags);
    // Those bits would lend the owner's rights to a program of the agent's.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o6574)).unwrap();
    assert_eq!(apply(&order(), &project.tree, &quiet()), Applied::Done);
    let found = fs::metadata(&file).unwrap();
    assert_eq!(found.mode() & 0o7777, 0o574);
    if is_root {
        assert_eq!((found.uid(), found.gid()), (1234, 5678));
    }
    let large = rustix::fs::getxattr(project.at("src/large"), given[1], &mut [0; 64][..]);
    assert!(large.is_err(), "{large:?}");
    if can {
        assert_eq!(attribute("user.note").unwrap(), b"kept");
        let kept = attribute("system.posix_acl_access").unwrap();
        assert!(kept.windows(8).any(|part| part == entry(2, 7, 77)), "{kept:?}");
    }
}

#[test]
fn names_of_255_bytes_and_files_nobody_may_write() {
    let project = Project::new();
    let name = "é".repeat(127) + "x";
    project.write(&name, "old program");
    fs::set_permissions(project.at(&name), fs::Permissions::from_mode(0o444)).unwrap();
    let apart = "cafe\u{301}";
    project.write(apart, "old gone");
    let changes = vec![
        change((&name, Some("old program"), Some("new program"))),
        change(("caf\u{e9}", None, Some("made, new"))),
    ];
    let order = Order::of(id(), changes, Vec::new()).unwrap();
    assert_eq!(apply(&order, &project.tree, &quiet()), Applied::Done);
    assert_eq!(fs::read_to_string(project.at(&name)).unwrap(), "new program");
    assert_eq!(mode(&project.at(&name)), 0o444);
    // Another spelling is another file.
    assert_eq!(fs::read_to_string(project.at(apart)).unwrap(), "old gone");
    assert_eq!(fs::read_to_string(project.at("caf\u{e9}")).unwrap(), "made, new");
}

#[test]
fn another_hard_link_keeps_the_old_content() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir_in(project.dir.path().parent().unwrap()).unwrap();
    let other = elsewhere.path().join("other");
    fs::hard_link(project.at("run.sh"), &other).unwrap();
    assert_eq!(apply(&order(), &project.tree, &quiet()), Applied::Done);
    assert_eq!(fs::read_to_string(other).unwrap(), "old program");
}
