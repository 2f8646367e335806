//! `scripts/install`, with the program under test in the place of the one that it would build.

use std::path::Path;
use std::process::Command;

use crate::home::{GRANTED, Home, Run};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts");

fn install(home: &Home) -> Command {
    let mut command = home.other(&format!("{SCRIPTS}/install"));
    command.args(["--binary", GRANTED]);
    command
}

/// A program that stands in for another version: this one, made larger.
fn larger(home: &Home, name: &str, bytes: usize) {
    let text = format!("#!/bin/sh\nexec {GRANTED} \"$@\"\n{}", "#".repeat(bytes));
    home.script(name, &text);
}

/// Refused in one line, which says this.
#[track_caller]
fn refused(command: &mut Command, why: &str) {
    let run = Run::from(command.output().unwrap()).exits(1);
    assert!(run.stderr.contains(why) && run.stderr.lines().count() == 1, "{run:?}");
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
    let run = Run::from(install(&home).args(["--prefix", "a prefix"]).output().unwrap()).ok();
    let prefix = home.dir().join("a prefix");
    for said in ["granted 0.1.0", "a prefix/bin is not in PATH", "--uninstall"] {
        assert!(run.stdout.contains(said), "{run:?}");
    }
    let found = files(&prefix);
    for file in [
        "bin/granted",
        "bin/sats",
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
    let version = Command::new(prefix.join("bin/sats")).arg("--version").output().unwrap();
    assert_eq!(Run::from(version).ok().stdout, "sats 0.1.0\n");
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

/// Whatever an upgrade meets, the installation before it works on and can be removed.
#[test]
fn an_upgrade_that_fails_loses_nothing() {
    let home = Home::new();
    let prefix = home.dir().join("prefix");
    let to = ["--prefix", "prefix"];
    let uninstall = ["--prefix", "prefix", "--uninstall"];
    larger(&home, "old", 0);
    larger(&home, "new", 8 << 20);
    let upgrade = || {
        let mut command = home.other(&format!("{SCRIPTS}/install"));
        command.args(["--binary", "new"]).args(to);
        command
    };
    Run::from(upgrade().args(["--binary", "old"]).output().unwrap()).ok();
    // What this version has no more, and what another program put beside the list.
    let list = prefix.join("share/granted/installed");
    let mut listed = std::fs::read_to_string(&list).unwrap();
    listed.push_str("share/man/man1/granted-gone.1\n");
    std::fs::write(&list, listed).unwrap();
    home.write("prefix/share/man/man1/granted-gone.1", "a verb of then");
    home.write("prefix/share/granted/foreign", "not ours");
    let before = files(&prefix);

    // In the place of a file, a directory; in that of a directory, a file.
    let (page, man) = (prefix.join("share/man/man1/granted.1"), prefix.join("share/man/man1"));
    std::fs::remove_file(&page).unwrap();
    std::fs::create_dir(&page).unwrap();
    refused(&mut upgrade(), "granted.1` is a directory, where a file belongs");
    refused(upgrade().arg("--uninstall"), "granted.1` is a directory, where a file belongs");
    std::fs::remove_dir(&page).unwrap();
    std::fs::write(&page, "").unwrap();
    assert_eq!(files(&prefix), before);
    std::fs::rename(&man, home.dir().join("man1")).unwrap();
    std::fs::write(&man, "").unwrap();
    refused(&mut upgrade(), "/share/man/man1");
    std::fs::remove_file(&man).unwrap();
    std::fs::rename(home.dir().join("man1"), &man).unwrap();
    assert_eq!(files(&prefix), before);

    // A disk that is full in the middle, and has room again.
    let script = r#"
        mount -t tmpfs -o size=4m none prefix && cp -a whole/. prefix && before=$(find prefix | sort)
        "$0" --binary new --prefix prefix 2>&1 && exit 9
        [ "$(find prefix | sort)" = "$before" ] && cmp -s prefix/bin/granted old || exit 8
        mount -o remount,size=64m prefix && "$0" --binary new --prefix prefix || exit 7
        cmp -s prefix/bin/granted new && [ ! -e prefix/share/man/man1/granted-gone.1 ] || exit 6
        "$0" --prefix prefix --uninstall && find prefix -type f -printf 'left %P\n'"#;
    std::fs::rename(&prefix, home.dir().join("whole")).unwrap();
    std::fs::create_dir(&prefix).unwrap();
    let mut unshare = home.other("unshare");
    let user = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
    unshare.args([user, "sh", "-c", script, &format!("{SCRIPTS}/install")]);
    let run = Run::from(unshare.output().unwrap()).ok();
    assert!(run.stdout.contains("No space left on device"), "{run:?}");
    assert!(run.stdout.ends_with("left share/granted/foreign\n"), "{run:?}");

    // One that was killed in the middle left parts of files, which its list names.
    std::fs::remove_dir(&prefix).unwrap();
    std::fs::rename(home.dir().join("whole"), &prefix).unwrap();
    let part = home.write("prefix/bin/granted.granted-part", "half");
    std::fs::write(&list, std::fs::read_to_string(&list).unwrap() + "bin/granted.granted-part\n")
        .unwrap();
    Run::from(upgrade().output().unwrap()).ok();
    assert!(!part.exists());
    Run::from(install(&home).args(uninstall).output().unwrap()).ok();
    assert_eq!(files(&prefix), ["share/granted/foreign"]);
}

#[test]
fn what_it_did_not_install_it_leaves() {
    let home = Home::new();
    let prefix = home.dir().join("prefix");
    let own = home.write("prefix/bin/granted", "the person's own");
    let to = ["--prefix", "prefix"];
    refused(install(&home).args(to), "/bin/granted` is there and was not installed by this");
    assert_eq!(files(&prefix), ["bin/granted"]);
    std::fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink("nowhere", &own).unwrap();
    refused(install(&home).args(to), "/bin/granted` is there and was not installed by this");
    std::fs::remove_file(&own).unwrap();
    Run::from(install(&home).args(to).output().unwrap()).ok();

    let precious = home.write("precious", "");
    let before = files(&prefix);
    for hostile in ["../precious", "bin/../../precious", precious.to_str().unwrap()] {
        home.write("prefix/share/granted/installed", format!("bin/granted\n{hostile}\n"));
        refused(install(&home).args(to).arg("--uninstall"), "which is not below ");
        refused(install(&home).args(to), "which is not below ");
        assert_eq!(files(&prefix), before);
    }
    assert!(precious.exists());
}

/// `cd` prints and goes elsewhere where CDPATH is set.
#[test]
fn scripts_find_themselves_wherever_cd_would_go() {
    let home = Home::new();
    let copy = home.dir().join("copy");
    let copied = home.other("cp").args(["-r", SCRIPTS]).arg(&copy).status().unwrap();
    assert!(copied.success());
    std::fs::create_dir_all(home.dir().join("elsewhere/copy")).unwrap();
    let mut help = home.other("copy/install");
    let run = Run::from(help.arg("--help").env("CDPATH", "elsewhere").output().unwrap()).ok();
    assert!(run.stdout.starts_with("Builds granted and installs it"), "{run:?}");
    for script in std::fs::read_dir(SCRIPTS).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&script).unwrap_or_default();
        let goes = text.find("\ncd \"").or(text.find("$(cd "));
        let unset = text.find("\nunset CDPATH\n");
        assert!(goes.is_none_or(|goes| unset.is_some_and(|unset| unset < goes)), "{script:?}");
    }
}

#[test]
fn a_fuzzer_has_some_seconds() {
    let home = Home::new();
    for odd in ["0", "abc", "-1", "1.5", "00"] {
        refused(
            home.other(&format!("{SCRIPTS}/fuzz")).arg(odd),
            &format!("`{odd}` are no seconds"),
        );
    }
}
