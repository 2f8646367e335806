use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use super::*;

fn put(path: &Path, bytes: &str, mode: u32) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let file = rustix::fs::open(path, flags, Mode::from_bits_retain(0o600)).unwrap();
    rustix::io::write(&file, bytes.as_bytes()).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn definition(cwd: &Path, argv: &[&str]) -> Definition {
    Definition {
        name: Name::new("mail").unwrap(),
        argv: argv.iter().map(OsString::from).collect(),
        cwd: cwd.to_owned(),
        path: "bin:/usr/bin:/bin".into(),
        env: vec![("LANG".into(), "C".into())],
        asks: vec!["MAIL_KEY".into()],
        files: Vec::new(),
        confirm: None,
    }
}

fn missing(definition: Definition) -> String {
    Program::prepare(definition).unwrap_err().to_string()
}

fn digest(definition: &Definition) -> Digest {
    Program::prepare(definition.clone()).unwrap().digest()
}

#[test]
fn says_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    put(&at("plain"), "x", 0o600);
    std::fs::create_dir(at("folder")).unwrap();
    rustix::fs::mknodat(CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    let of = |argv: &[&str]| missing(definition(home.path(), argv));
    let home_shown = home.path().display();
    assert_eq!(of(&[]), "no program is named: the command is empty");
    assert_eq!(of(&[""]), "no program is named: the command is empty");
    assert_eq!(of(&["nosuch"]), "no program `nosuch` in `bin:/usr/bin:/bin`");
    assert_eq!(of(&["./nosuch"]), format!("the program `{home_shown}/./nosuch` does not exist"));
    assert_eq!(of(&["/bin/true/x"]), "the program `/bin/true/x` does not exist");
    assert_eq!(of(&["./folder"]), format!("the program `{home_shown}/./folder` is a directory"));
    assert_eq!(of(&["./plain"]), format!("the program `{home_shown}/./plain` is not executable"));
    assert_eq!(of(&["./fifo"]), format!("the program `{home_shown}/./fifo` is not a regular file"));
    assert_eq!(of(&["/bin/true", "a\0b"]), "`a\\u{0}b` holds a NUL byte");

    let mut wrong = definition(home.path(), &["true"]);
    wrong.files = vec!["gone".into()];
    assert_eq!(missing(wrong), format!("the file `{home_shown}/gone` does not exist"));
    let mut wrong = definition(home.path(), &["true"]);
    wrong.files = vec!["fifo".into()];
    assert_eq!(missing(wrong), format!("the file `{home_shown}/fifo` is not a regular file"));
    let mut wrong = definition(home.path(), &["true"]);
    wrong.confirm = Some(vec!["./plain".into()]);
    assert_eq!(missing(wrong), format!("the program `{home_shown}/./plain` is not executable"));
    let mut wrong = definition(home.path(), &["true"]);
    wrong.env = vec![("A=B".into(), "".into())];
    assert_eq!(missing(wrong), "a variable of the environment may not be called `A=B`");

    assert_eq!(
        missing(definition(&at("plain"), &["true"])),
        format!("the directory `{home_shown}/plain` is not a directory")
    );
    assert_eq!(
        missing(definition(&at("away"), &["true"])),
        format!("the directory `{home_shown}/away` does not exist")
    );
    assert_eq!(
        missing(definition(Path::new("here"), &["true"])),
        "the directory `here` is not an absolute path"
    );
}

#[test]
fn finds_the_first_that_can_be_executed() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("bin/true")).unwrap();
    let found = Program::prepare(definition(home.path(), &["true"])).unwrap();
    assert_eq!(found.command().program.as_c_str(), c"/usr/bin/true");
    assert_eq!(found.command().argv, [c"true".to_owned()]);
    put(&home.path().join("bin/own"), "#!/bin/sh\n", 0o700);
    let found = Program::prepare(definition(home.path(), &["own"])).unwrap();
    assert!(found.command().program.to_str().unwrap().ends_with("/bin/own"));
    std::fs::create_dir(home.path().join("bin/only")).unwrap();
    assert!(missing(definition(home.path(), &["only"])).ends_with("/bin/only` is a directory"));
}

#[test]
fn every_part_is_in_the_digest() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    put(&at("run"), "#!/bin/sh\nexit 1\n", 0o700);
    put(&at("data"), "1", 0o600);
    put(&at("more"), "2", 0o600);
    let mut base = definition(home.path(), &["./run", "a", "bc"]);
    base.files = vec!["data".into()];
    let first = digest(&base);
    assert_eq!(digest(&base), first);

    type Change = fn(&mut Definition);
    let changes: [Change; 9] = [
        |d| d.name = Name::new("post").unwrap(),
        |d| d.argv = ["./run", "ab", "c"].map(OsString::from).to_vec(),
        |d| d.argv = ["./run", "a", "bc", ""].map(OsString::from).to_vec(),
        |d| d.cwd.push("."),
        |d| d.path = "/usr/bin".into(),
        |d| d.asks.push("TZ".into()),
        |d| d.files.push("more".into()),
        |d| d.files.clear(),
        |d| d.confirm = Some(vec!["/bin/true".into()]),
    ];
    let mut all = vec![first];
    for change in changes {
        let mut changed = base.clone();
        change(&mut changed);
        all.push(digest(&changed));
    }
    put(&at("run"), "#!/bin/sh\nexit 2\n", 0o700);
    all.push(digest(&base));
    put(&at("data"), "3", 0o600);
    all.push(digest(&base));
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    // `cwd.push(".")` is another directory by its bytes, though not by its place.
    assert_eq!(all.len(), count);

    // What the caller has set is no part of it.
    let before = digest(&base);
    base.env = vec![("MAIL_KEY".into(), "a secret".into())];
    assert_eq!(digest(&base), before);
}
