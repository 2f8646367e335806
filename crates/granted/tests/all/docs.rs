//! The documents say what is: every verb, flag, code and word of a list, and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use granted_core::decision::grant::STAYS_HUMAN;
use granted_core::ledger::Event as Row;
use granted_core::proof::Check;
use pulldown_cmark::{Event, Options, Parser};

pub mod blocks;
mod links;
mod pages;

const CLI: &str = include_str!("../../../../docs/cli.md");
const FORMAT: &str = include_str!("../../../../docs/format.md");

/// A document, with its path from the repository's root as its name.
struct Document {
    name: String,
    text: String,
}

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The files below a folder with this ending, in the order of their names.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path, ending),
            false => Vec::from_iter(path.to_str().unwrap().ends_with(ending).then_some(path)),
        })
        .collect();
    found.sort();
    found
}

/// Every document: those at the root, and all below `docs`.
fn documents() -> Vec<Document> {
    let top = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        top.filter(|path| path.extension() == Some("md".as_ref())).collect();
    paths.extend(files(&root().join("docs"), ".md"));
    let document = |path: PathBuf| Document {
        name: path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(path).unwrap(),
    };
    let found: Vec<Document> = paths.into_iter().map(document).collect();
    assert!(found.iter().any(|document| document.name == "README.md"));
    found
}

/// What a document consists of.
fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// A document's part below this heading, up to the next.
fn part<'a>(document: &'a str, heading: &str) -> &'a str {
    let from = document.split_once(&format!("\n{heading}\n"));
    let (_, from) = from.unwrap_or_else(|| panic!("there is no heading `{heading}`"));
    from.split("\n#").next().unwrap()
}

/// The cells of the rows of the tables in a part, without their heads.
fn rows(part: &str) -> Vec<Vec<&str>> {
    part.split("\n\n")
        .flat_map(|paragraph| paragraph.trim().lines().skip(2))
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect())
        .collect()
}

/// The words in backticks.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a text has a word, and not only as a part of a longer one.
fn has(text: &str, word: &str) -> bool {
    let ends = |(at, _): (usize, &str)| {
        let next = text[at + word.len()..].chars().next();
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
    };
    text.match_indices(word).any(ends)
}

/// How an argument is named where it is described.
fn named(argument: &clap::Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => argument.get_value_names().unwrap()[0].to_string(),
    }
}

/// Every verb with its whole name, those below others too.
fn verbs(name: &str, command: &clap::Command) -> Vec<(String, clap::Command)> {
    let own = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    own.flat_map(|verb| {
        let name = format!("{name} {}", verb.get_name());
        let below = verbs(&name, verb);
        std::iter::once((name, verb.clone())).chain(below)
    })
    .collect()
}

#[test]
fn every_verb_and_flag_is_in_the_manual() {
    let command = granted::cli::command();
    assert!(command.get_subcommands().count() >= 14);
    for argument in command.get_arguments() {
        assert!(has(CLI, &named(argument)), "docs/cli.md says nothing of {}", named(argument));
    }
    for (name, verb) in verbs("granted", &command) {
        let part = part(CLI, &format!("### {name}"));
        for argument in verb.get_arguments().filter(|arg| arg.get_id() != "help") {
            let argument = named(argument);
            assert!(has(part, &argument), "docs/cli.md says nothing of `{name} {argument}`");
        }
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Example"), "{name}");
        let link = format!("[`{}`](#{})", &name["granted ".len()..], name.replace(' ', "-"));
        let is_one = !verb.is_subcommand_required_set();
        assert!(!is_one || CLI.contains(&link), "docs/cli.md has no {link} in its table of sides");
    }
}

/// And every part on a verb is about one that exists.
#[test]
fn every_verb_of_the_manual_exists() {
    let verbs: Vec<String> =
        verbs("granted", &granted::cli::command()).into_iter().map(|(name, _)| name).collect();
    let headings = CLI.lines().filter_map(|line| line.strip_prefix("### "));
    for heading in headings.filter(|heading| !heading.contains("--")) {
        assert!(verbs.iter().any(|verb| verb == heading), "there is no `{heading}`");
    }
}

#[test]
fn every_reason_stands_beside_its_outcome_and_its_meaning() {
    let expected: Vec<Vec<String>> = granted::REASONS
        .iter()
        .map(|reason| {
            let meaning = reason.meaning().strip_suffix('.').unwrap();
            let (first, rest) = meaning.split_at(1);
            let meaning = format!("{}{rest}", first.to_lowercase());
            vec![format!("`{reason}`"), reason.class().to_string(), meaning]
        })
        .collect();
    assert_eq!(rows(part(CLI, "## Outcomes and reasons")), expected);
    for row in rows(part(FORMAT, "## Reasons")) {
        let class = row[0].trim_matches('`');
        let of_class = granted::REASONS.iter().filter(|reason| reason.class().as_str() == class);
        assert_eq!(words(row[1]), of_class.map(ToString::to_string).collect(), "{class}");
    }
}

#[test]
fn every_kind_of_error_is_in_the_manual() {
    let (_, kinds) = CLI.split_once("The kinds: ").unwrap();
    let kinds = words(kinds.split("\n\n").next().unwrap());
    assert_eq!(kinds, granted::cli::ERROR_KINDS.iter().map(ToString::to_string).collect());
}

#[test]
fn every_kind_of_row_has_a_part() {
    let headings = FORMAT.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    let headings: BTreeSet<&str> = headings.collect();
    assert_eq!(headings, Row::KINDS.iter().copied().collect());
}

#[test]
fn every_check_of_a_proof_is_told_in_its_order() {
    let (_, checks) = part(FORMAT, "## Proofs of a grant").split_once("by its name:\n\n").unwrap();
    let told: Vec<&str> = rows(checks).iter().map(|row| row[0].trim_matches('`')).collect();
    let made: Vec<&str> = Check::ALL.iter().map(|check| check.as_str()).collect();
    assert_eq!(told, made);
}

/// The words in a text that begin like this and go on in capitals.
fn capitals(text: &str, begin: &str) -> BTreeSet<String> {
    let in_name = |c: &char| c.is_ascii_uppercase() || *c == '_';
    let rest = text.match_indices(begin).map(|(at, _)| &text[at + begin.len()..]);
    rest.map(|rest| rest.chars().take_while(in_name).collect())
        .filter(|name: &String| !name.is_empty())
        .collect()
}

/// Every variable that the sources read or set is in the manual, and the manual has no others.
#[test]
fn every_variable_is_in_the_manual() {
    let mut sources = String::new();
    for member in std::fs::read_dir(root().join("crates")).unwrap() {
        let is_test =
            |file: &PathBuf| file.iter().any(|name| name == "tests" || name == "tests.rs");
        let sources_of = files(&member.unwrap().path().join("src"), ".rs").into_iter();
        for file in sources_of.filter(|file| !is_test(file)) {
            sources.push_str(&std::fs::read_to_string(file).unwrap());
        }
    }
    let ours = capitals(&sources, "GRANTED_");
    assert!(ours.len() >= 10, "{ours:?}");
    assert_eq!(capitals(CLI, "GRANTED_"), ours);
    for read in capitals(&sources, "var(\"") {
        assert!(has(CLI, &read), "docs/cli.md says nothing of {read}");
    }
    for document in documents() {
        let named = capitals(&document.text, "GRANTED_");
        assert!(named.is_subset(&ours), "{}: {named:?}", document.name);
    }
}

/// What stays human is listed where the person reads it: in the manual and in the help of `mint`.
#[test]
fn what_stays_human_is_told() {
    let command = granted::cli::command();
    let mint = command.find_subcommand("mint").unwrap();
    let help = mint.get_long_about().unwrap().to_string();
    for action in STAYS_HUMAN {
        assert!(help.contains(action), "{action}: {help}");
        assert!(part(CLI, "### granted mint").contains(&format!("`{action}`")), "{action}");
    }
}

/// Every key of the config stands in the manual's example, which the program reads.
#[test]
fn the_example_of_a_config_is_one() {
    let (_, example) = CLI.split_once("```toml\n").unwrap();
    let example = example.split("```").next().unwrap();
    let config = granted::Config::parse(example).unwrap();
    assert_eq!((config.executors.len(), config.notify.is_some()), (1, true));
    assert!(config.witness.len() == 1 && example.contains("\nwitness_required = "));
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
