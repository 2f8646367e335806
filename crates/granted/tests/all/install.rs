//! `scripts/install`, with the program under test in the place of the one that it would build.

use std::path::Path;
use std::process::Command;

use crate::home::{GRANTED, Home, Run};

fn install(home: &Home) -> Command {
    let mut command = home.other(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install"));
    command.args(["--binary", GRANTED]);
    command
}

/// The files below a folder, each as its path from there, in order.
fn files(folder: &Path) -> Vec<String> {
    let mut find = Command::new("find");
    let run = Run::from(find.arg(folder).args(["-type", "f", "-printf", "%P\n"]).output().unwrap());
    let mut found: Vec<String> = run.ok().stdout.lines().map(str::to_owned).collect();
    found.sort();
    found
}

#[test]
fn it_installs_what_works_and_removes_exactly_that() {
    let home = Home::new();
    let other = "share/man/man1/granted-other.1";
    home.write(&format!("a prefix/{other}"), "not ours");
    home.write("a prefix/bin/granted", "an older one");
    let run = Run::from(install(&home).args(["--prefix", "a prefix"]).output().unwrap()).ok();
    let prefix = home.dir().join("a prefix");
    for said in ["granted 0.1.0", "a prefix/bin is not in PATH", "--uninstall"] {
        assert!(run.stdout.contains(said), "{run:?}");
    }
    let found = files(&prefix);
    for file in [
        "bin/granted",
        "share/bash-completion/completions/granted",
        "share/fish/vendor_completions.d/granted.fish",
        "share/man/man1/granted-ledger-verify.1",
        "share/man/man1/granted.1",
        "share/zsh/site-functions/_granted",
    ] {
        assert!(found.iter().any(|path| path == file), "{file}: {found:?}");
    }
    let version = Command::new(prefix.join("bin/granted")).arg("--version").output().unwrap();
    assert_eq!(Run::from(version).ok().stdout, "granted 0.1.0\n");
    let bash =
        std::fs::read_to_string(prefix.join(found.iter().find(|f| f.contains("bash")).unwrap()));
    assert_eq!(bash.unwrap(), home.say("completions bash").ok().stdout);

    // Once more over itself, with its programs on the path: nothing to note.
    let path = format!("{}/bin:/usr/bin:/bin", prefix.display());
    let again = install(&home).args(["--prefix", "a prefix"]).env("PATH", path).output().unwrap();
    assert!(!Run::from(again).ok().stdout.contains("PATH"));
    assert_eq!(files(&prefix), found);

    let remove = ["--prefix", "a prefix", "--uninstall"];
    Run::from(install(&home).args(remove).output().unwrap()).ok();
    assert_eq!(files(&prefix), [other]);
    let none = Run::from(install(&home).args(remove).output().unwrap()).exits(1);
    assert!(none.stderr.contains("nothing was installed"), "{none:?}");
}

#[test]
fn a_package_gets_it_below_its_own_root() {
    let home = Home::new();
    let run = install(&home).args(["--prefix", "/usr"]).env("DESTDIR", "stage").output().unwrap();
    assert!(!Run::from(run).ok().stdout.contains("note:"));
    assert!(home.dir().join("stage/usr/bin/granted").is_file());
    let odd = Run::from(install(&home).arg("--prefx").output().unwrap()).exits(1);
    assert!(odd.stderr.contains("`--prefx`"), "{odd:?}");
}
