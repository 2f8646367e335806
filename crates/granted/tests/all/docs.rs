//! The manual names what there is: every verb, flag and reason.

use granted_core::decision::grant::STAYS_HUMAN;

const CLI: &str = include_str!("../../../../docs/cli.md");

/// The manual's part on a verb: from its heading to the next.
fn part(name: &str) -> &'static str {
    let from = CLI.split_once(&format!("\n### {name}\n"));
    let (_, from) = from.unwrap_or_else(|| panic!("docs/cli.md has no part on `{name}`"));
    from.split("\n#").next().unwrap()
}

/// Checks a verb and those below it.
fn check(name: &str, command: &clap::Command) {
    let part = part(name);
    for argument in command.get_arguments().filter(|arg| !arg.is_global_set()) {
        let named = match argument.get_long() {
            Some("help") => continue,
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap()[0].to_string(),
        };
        let ends = |(at, _): (usize, &str)| {
            let next = part[at + named.len()..].chars().next();
            next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-')
        };
        let found = part.match_indices(&named).any(ends);
        assert!(found, "docs/cli.md says nothing of `{name} {named}`");
    }
    assert!(command.get_after_help().is_some_and(|help| help.to_string().starts_with("Example")));
    verbs(name, command);
}

fn verbs(name: &str, command: &clap::Command) {
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        check(&format!("{name} {}", verb.get_name()), verb);
    }
}

#[test]
fn every_verb_and_flag_is_in_the_manual() {
    let command = granted::cli::command();
    assert!(command.get_subcommands().count() >= 12);
    assert!(CLI.contains("Every verb takes `--json`"));
    verbs("granted", &command);
}

#[test]
fn every_reason_stands_beside_its_outcome() {
    for reason in granted::REASONS {
        let row = format!("\n| `{reason}` | {} | ", reason.class());
        assert_eq!(CLI.matches(&row).count(), 1, "{row}");
    }
    let rows =
        CLI.lines().filter(|line| line.starts_with("| `") && line.contains("` | refused | "));
    let refused = granted::REASONS.iter().filter(|reason| reason.class().as_str() == "refused");
    assert_eq!(rows.count(), refused.count());
}

/// What stays human is listed where the person reads it: in the manual and in the help of `mint`.
#[test]
fn what_stays_human_is_told() {
    let command = granted::cli::command();
    let mint = command.find_subcommand("mint").unwrap();
    let help = mint.get_long_about().unwrap().to_string();
    for action in STAYS_HUMAN {
        assert!(help.contains(action), "{action}: {help}");
        assert!(part("granted mint").contains(&format!("`{action}`")), "{action}");
    }
}

/// Every key of the config stands in the manual's example, which the program reads.
#[test]
fn the_example_of_a_config_is_one() {
    let (_, example) = CLI.split_once("```toml\n").unwrap();
    let example = example.split("```").next().unwrap();
    let config = granted::Config::parse(example).unwrap();
    assert_eq!((config.executors.len(), config.notify.is_some()), (1, true));
    for head in ["[executors.send_report]\n", "[notify]\n"] {
        let (_, part) = example.split_once(head).unwrap();
        let part = format!("\n{}", part.split("\n[").next().unwrap());
        let unknown = example.replace(head, &format!("{head}nonsense = 1\n"));
        let unknown = granted::Config::parse(&unknown).unwrap_err();
        let (_, keys) = unknown.split_once("expected one of ").unwrap();
        for key in keys.split(", ").map(|key| key.trim_matches('`')) {
            assert!(part.contains(&format!("\n{key} = ")), "{key}: {unknown}");
            assert!(CLI.contains(&format!("`{key}`")), "{key}");
        }
    }
}
