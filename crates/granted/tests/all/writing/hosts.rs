//! `writes setup` and `writes check`.

use serde_json::Value;

use super::{BRIEF, World};

#[test]
fn d13_a_host_is_wired_once_and_that_is_seen() {
    let world = World::new();
    let home = &world.home;
    home.write("site/.claude/settings.json", "{\"permissions\": {\"deny\": [\"WebFetch\"]}}\n");
    let check = "writes check --project site --wiring --agent producer";
    let run = home.say(check).exits(1);
    assert_eq!(run.stdout, "absent claude-code\nabsent codex\nabsent goose\n");
    for host in ["claude-code", "codex", "goose"] {
        let setup = format!("writes setup {host} --agent producer --project site");
        let shown = home.say(&setup).ok().stdout;
        assert!(shown.contains("granted-writes"), "{shown}");
        let written = home.say(&format!("{setup} --write")).ok().stdout;
        assert!(written.lines().all(|line| line.ends_with(": written")), "{written}");
        let again = home.say(&format!("{setup} --write")).ok().stdout;
        assert!(again.lines().all(|line| line.ends_with("as it is to be already")), "{again}");
    }
    let run = home.say(check).ok();
    assert_eq!(run.stdout.matches("wired ").count(), 3, "{run:?}");
    let settings = world.text(".claude/settings.json");
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let deny = settings["permissions"]["deny"].as_array().unwrap();
    let folder = home.root().canonicalize().unwrap();
    let rule = |rest: &str| Value::from(format!("Edit(/{}/{rest}/**)", folder.display()));
    for rule in
        ["WebFetch".into(), "Edit".into(), "Write".into(), rule("keys"), rule("direct-grants")]
    {
        assert!(deny.contains(&rule), "{rule} in {deny:?}");
    }
    // A rule that is taken out is missed.
    home.write("site/.claude/settings.json", "{}");
    let run = home.say(check).exits(1);
    assert!(run.stdout.contains("wrong claude-code: "), "{run:?}");
}

#[test]
fn the_rules_for_a_path_are_explained() {
    let world = World::new();
    let home = &world.home;
    std::os::unix::fs::symlink("src", world.path("link")).unwrap();
    let run = home.say("writes check src/a.txt src/locked/x .git/x link/a.txt --project site").ok();
    assert_eq!(
        run.stdout,
        "\
src/a.txt
  producer: may by scope `src/`; gates fine; direct under a signed grant, with a dispatch
  reader: may not: out_of_scope
src/locked/x: protected by src/locked/
  producer: may not: protected
  reader: may not: protected
.git/x: protected by control plane
  producer: may not: protected
  reader: may not: protected
src/a.txt (asked: link/a.txt)
  producer: may by scope `src/`; gates fine; direct under a signed grant, with a dispatch
  reader: may not: out_of_scope
"
    );
    home.say("writes check ../x --project site").exits(2);
    home.say("writes check --agent nobody --project site").exits(1);
}

#[test]
fn what_is_wrong_with_a_brief_is_told_with_its_line() {
    let world = World::new();
    let home = &world.home;
    let bad = BRIEF
        .replace("gates = ['fine']", "gates = ['fine', 'gone']")
        .replace("'required'", "'optional'");
    home.write("site/granted.toml", bad + "[caps]\nfiles = 100\n");
    let run = home.say("writes check --project site").exits(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "wrong line 3: agents.producer: there is no gate `gone`",
            "wrong line 3: agents.producer: `approval = \"direct\"` needs `dispatch = \"required\"`",
            "wrong line 16: caps.files: it is 1 to 64",
        ]
    );
    home.write("site/granted.toml", "[agents.x]\ntools = ['write_file']\nmore = 1\n");
    let run = home.say("writes check --project site").exits(1);
    assert!(run.stdout.starts_with("wrong line 3: unknown field `more`"), "{run:?}");
    home.write("site/granted.toml", BRIEF);
    let run = home.say("writes check --project site").ok();
    assert!(run.stdout.starts_with("producer: writes `src/`, direct under"), "{run:?}");
}
