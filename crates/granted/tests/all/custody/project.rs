//! A home inside a project that agents write to.

use std::fs;
use std::os::unix::fs::symlink;

use super::{furnished, hint, mend};
use crate::home::Run;

#[test]
fn nothing_is_relied_on_below_the_brief_of_a_project() {
    let home = furnished();
    home.mint("y", "");
    let project = home.dir().join("work");
    let place = project.join("deep/.granted");
    fs::create_dir_all(project.join("deep")).unwrap();
    fs::rename(home.root(), &place).unwrap();
    let run = |line: &str| -> Run {
        let mut command = home.command(line.split(' '));
        command.env("GRANTED_HOME", &place).output().unwrap().into()
    };
    let discharge = "discharge --type report --id x --exec touch${IFS}ran --json";
    run("executors").ok();
    let mut advice = String::new();
    for folder in [&project, &project.join("deep"), &place] {
        let brief = folder.join("granted.toml");
        fs::write(&brief, "").unwrap();
        let said = format!("`{}` makes all below it a project", brief.display());
        let refused = run("executors").exits(1);
        assert!(refused.stderr.starts_with(&format!("granted: {said}")), "{refused:?}");
        advice = hint(&refused).to_owned();
        for (line, code) in
            [("mint --type report --id z --by me --for 1h --json", 1), (discharge, 3)]
        {
            let refused = run(line).exits(code);
            assert!(
                refused.stderr.contains(&said) || refused.stdout.contains(&said),
                "{refused:?}"
            );
        }
        fs::remove_file(&brief).unwrap();
    }
    assert!(!home.dir().join("ran").exists());
    // It is the place itself that counts, and not by which way it is reached.
    fs::write(project.join("granted.toml"), "").unwrap();
    symlink(&place, home.root()).unwrap();
    home.say("executors").exits(1);
    fs::remove_file(home.root()).unwrap();
    // What only takes away works all the same.
    run("revoke --type report --id y").ok();
    mend(&home, &advice);
    home.say("executors").ok();
    assert_eq!(home.status("y"), "revoked");
    assert_eq!(home.discharge("x", "true", &[])["reason"], "confirmed");
    home.verify();
}

/// What lies elsewhere than the home is asked for itself.
#[test]
fn grants_and_a_ledger_in_a_project_give_no_authority() {
    let home = furnished();
    let project = home.dir().join("work");
    home.write("work/granted.toml", "");
    for (variable, from) in [("GRANTED_STORE", "grants"), ("GRANTED_LEDGER", "ledger.jsonl")] {
        let (from, to) = (home.root().join(from), project.join("x").join(from));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(&from, &to).unwrap();
        let line = "discharge --type report --id x --exec touch${IFS}ran";
        let mut command = home.command(line.split(' '));
        let refused: Run = command.env(variable, &to).output().unwrap().into();
        assert!(refused.exits(3).stdout.contains("work/granted.toml` makes all"), "{variable}");
        fs::rename(&to, &from).unwrap();
    }
    assert!(!home.dir().join("ran").exists());
    assert_eq!(home.discharge("x", "true", &[])["reason"], "confirmed");
}
