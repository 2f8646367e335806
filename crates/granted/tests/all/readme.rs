//! The README's thirty seconds, run as they stand there.

use std::path::Path;
use std::process::Command;

use crate::home::{Home, Run};

const README: &str = include_str!("../../../../README.md");

/// What stands between these two texts, each time.
fn between<'a>(text: &'a str, from: &'a str, to: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(from).skip(1).map(move |rest| rest.split_once(to).unwrap().0)
}

/// Runs a script in this home with the program in its search path, both outputs in one.
fn shell(home: &Home, script: &str) -> Run {
    let bin = Path::new(env!("CARGO_BIN_EXE_granted")).parent().unwrap().display();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec 2>&1\n{script}"));
    command.current_dir(home.dir()).env_clear();
    command.env("HOME", home.dir()).env("PATH", format!("{bin}:/usr/bin:/bin"));
    command.output().unwrap().into()
}

/// Whether a line is what the README shows of it; `…` there stands for anything.
fn is_shown(line: &str, shown: &str) -> bool {
    let Some((first, rest)) = shown.split_once('…') else { return line == shown };
    let Some(mut line) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('…').collect();
    let (last, middle) = parts.split_last().unwrap();
    for part in middle {
        let Some((_, after)) = line.split_once(part) else { return false };
        line = after;
    }
    line.ends_with(last)
}

#[test]
fn the_tour_runs_as_it_is_written() {
    let home = Home::new();
    let tour = between(README, "\n## Thirty seconds\n", "\n## ").next().unwrap();
    let scripts: Vec<&str> = between(tour, "\n```sh\n", "```\n").collect();
    let outputs: Vec<&str> = between(tour, "\n```text\n", "```\n").collect();
    assert_eq!((scripts.len(), outputs.len()), (3, 3));
    for (script, output) in scripts.iter().zip(&outputs) {
        let run = shell(&home, script).ok();
        let lines: Vec<&str> = run.stdout.lines().collect();
        let shown: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), shown.len(), "{script}printed\n{}", run.stdout);
        for (line, shown) in lines.iter().zip(shown) {
            assert!(is_shown(line, shown), "{line:?}\nis not\n{shown:?}");
        }
    }
    home.verify();
}

#[test]
fn the_exit_codes_are_those_of_the_table() {
    let home = Home::new();
    let table = between(README, "\n## Outcomes\n", "\n## ").next().unwrap();
    let code = |outcome: &str| {
        let row = between(table, &format!("| `{outcome}` | "), " |").next().unwrap().to_owned();
        row.parse::<i32>().unwrap()
    };
    home.mint("good", "");
    home.mint("doubt", "");
    let say = |line: &str| home.say(&format!("discharge --type report --id {line}")).code;
    assert_eq!(say("good --exec true"), code("discharged"));
    assert_eq!(say("good --exec true"), code("refused"));
    assert_eq!(say("doubt --timeout 1s --exec yes>/dev/null"), code("uncertain"));
    home.say("mint --type report --id late --by me --for 1s").ok();
    while home.status("late") == "live" {}
    assert_eq!(say("late --exec true"), code("expired"));
}

#[test]
fn the_config_is_one() {
    let text = between(README, "```toml\n", "```\n").next().unwrap();
    let config = granted::Config::parse(text).unwrap();
    let entry = config.executors.values().next().unwrap();
    assert_eq!(entry.argv, ["/home/me/bin/send_report.sh"]);
    assert_eq!((entry.types.len(), entry.actions.len(), entry.env.len()), (1, 1, 1));
}

#[test]
fn a_line_is_shown_only_if_it_matches() {
    assert!(is_shown("a 1 b 2 c", "a … b … c"));
    assert!(is_shown("/x/y.json", "…/y.json"));
    for (line, shown) in [("a 1 c", "a … b … c"), ("b", "a…"), ("ab", "a"), ("a 1 b d", "a … b")]
    {
        assert!(!is_shown(line, shown), "{line} {shown}");
    }
}
