//! The pages of `granted man`: whole, rendered without a warning, and at one with the manual.

use std::path::{Path, PathBuf};

use super::{CLI, named, part, rows, verbs};
use crate::home::{Home, Run};

/// Every page in a folder, each with its name.
fn pages(home: &Home) -> Vec<(String, PathBuf)> {
    let run = home.say("man --dir pages").ok();
    let path = |line: &str| (line.rsplit_once('/').unwrap().1.to_owned(), home.dir().join(line));
    run.stdout.lines().map(path).collect()
}

/// Renders a page as `man` does, where no warning may come.
fn rendered(home: &Home, page: &Path) -> String {
    // -k: it is UTF-8; -ww: every warning; the rest has text without codes for a terminal.
    let mut groff = home.other("groff");
    groff.args(["-k", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=4000n"]).arg(page);
    let run = groff.output().map(Run::from);
    let run = run.expect("there is no groff: install it, or run scripts/test, which does").ok();
    assert_eq!(run.stderr, "", "{}", page.display());
    run.stdout
}

/// Text without what breaks it into lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A section of a rendered page.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let from = page.split_once(&format!("\n{heading}\n"));
    let (_, from) = from.unwrap_or_else(|| panic!("no section {heading}"));
    let ends = from
        .match_indices('\n')
        .find(|(at, _)| from[at + 1..].chars().next().is_some_and(|c| c.is_ascii_uppercase()));
    &from[..ends.map_or(from.len(), |(at, _)| at)]
}

#[test]
fn every_verb_and_flag_has_its_place() {
    let home = Home::new();
    let pages = pages(&home);
    let command = granted::cli::command();
    let verbs = verbs("granted", &command);
    let names: Vec<String> = std::iter::once("granted".to_owned())
        .chain(verbs.iter().map(|(name, _)| name.replace(' ', "-")))
        .chain(["sats".to_owned()])
        .map(|name| format!("{name}.1"))
        .collect();
    assert_eq!(pages.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names);
    let whole = rendered(&home, &pages[0].1);
    for ((name, verb), (_, page)) in verbs.iter().zip(&pages[1..]) {
        let page = rendered(&home, page);
        let (_, short) = whole.split_once(&format!("\n   {name}\n")).unwrap();
        let short = short.split("\n   granted").next().unwrap();
        for argument in verb.get_arguments().filter(|argument| argument.get_id() != "help") {
            let help = flat(&argument.get_help().unwrap().to_string());
            for text in [&page, short] {
                let text = flat(text);
                assert!(text.contains(&named(argument)), "{name}: {}", named(argument));
                assert!(text.contains(&help), "{name}: {help}");
            }
        }
        let about = flat(&verb.get_about().unwrap().to_string());
        assert!(flat(&page).contains(&format!("{} - {about}", name.replace(' ', "-"))), "{page}");
        assert!(flat(short).contains(&about), "{name}: {about}");
        let help = verb.get_after_help().unwrap().to_string();
        let (example, rest) = help.split_once("\n\n").unwrap_or((&help, ""));
        for line in example.lines().skip(1) {
            assert!(page.contains(line), "{name}: {line}");
        }
        assert!(flat(&page).contains(&flat(rest)), "{name}: {rest}");
        for below in verb.get_subcommands().filter(|below| below.get_name() != "help") {
            let below = format!("{}-{}(1)", name.replace(' ', "-"), below.get_name());
            assert!(section(&page, "VERBS").contains(&below), "{name}: {below}");
        }
    }
    // What the page of `sats` names is there.
    let (_, sats) = pages.last().unwrap();
    let sats = rendered(&home, sats);
    let listed: Vec<&str> =
        section(&sats, "VERBS").split_whitespace().filter(|word| word.ends_with("(1)")).collect();
    assert!(listed.contains(&"granted-sats-init(1)"), "{listed:?}");
    for page in listed {
        assert!(names.contains(&page.replace("(1)", ".1")), "{page}");
    }
    for argument in command.get_arguments() {
        assert!(whole.contains(&named(argument)), "{}", named(argument));
    }
}

#[test]
fn the_whole_manual_is_printed() {
    let home = Home::new();
    let pages = pages(&home);
    assert_eq!(home.say("man").ok().stdout, std::fs::read_to_string(&pages[0].1).unwrap());
    let json = home.say("man --json --dir pages").ok().stdout;
    assert_eq!(json.lines().next(), Some("{\"path\":\"pages/granted.1\"}"));
    home.write("file", "");
    let run = home.say("man --dir file").exits(1);
    assert_eq!(run.stderr, "granted: `file` is not a folder\n");
    assert!(!home.root().exists(), "it makes no home");
}

/// Whatever lies in a page's place is replaced, and what it leads to is left; a folder is refused.
#[test]
fn a_page_goes_through_nothing() {
    let home = Home::new();
    let other = home.write("other", "not a page");
    let at = |name: &str| home.dir().join("pages").join(name);
    std::fs::create_dir(home.dir().join("pages")).unwrap();
    std::os::unix::fs::symlink(&other, at("granted.1")).unwrap();
    std::fs::hard_link(&other, at("granted-list.1")).unwrap();
    assert!(home.other("mkfifo").arg(at("granted-mint.1")).status().unwrap().success());
    for (_, page) in pages(&home) {
        let found = std::fs::symlink_metadata(&page).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
        assert!(found.is_file() && mode & 0o777 == 0o644, "{page:?}");
    }
    assert_eq!(std::fs::read_to_string(other).unwrap(), "not a page");
    std::fs::remove_file(at("granted-show.1")).unwrap();
    std::fs::create_dir(at("granted-show.1")).unwrap();
    let run = home.say("man --dir pages").exits(1);
    assert_eq!(run.stderr, "granted: `pages/granted-show.1`: is a directory\n");
}

/// The tables that are not about one verb are those of docs/cli.md, row for row.
#[test]
fn its_tables_are_those_of_the_manual() {
    let home = Home::new();
    let whole = rendered(&home, &pages(&home)[0].1);
    for (heading, in_cli, lead) in [
        ("EXIT STATUS", "## Exit codes", ""),
        ("REASONS", "## Outcomes and reasons", "one of these reasons. "),
        ("ENVIRONMENT", "## Environment", "What each of these moves: "),
        ("FILES", "## Files", "GRANTED_HOME: "),
    ] {
        let text = flat(section(&whole, heading));
        let (_, text) = text.split_once(lead).unwrap();
        let rows = rows(part(CLI, in_cli));
        assert!(rows.len() >= 5, "{heading}: {rows:?}");
        let row = |row: &Vec<&str>| match heading {
            "REASONS" => {
                let (first, rest) = row[2].split_at(1);
                format!("{} ({}) {}{rest}.", row[0], row[1], first.to_uppercase())
            }
            _ => row.join(" "),
        };
        let expected: Vec<String> = rows.iter().map(row).collect();
        let expected = expected.join(" ").replace('`', "");
        let text = text.replace("Executors are passed these: ", "");
        let text = text.replace("A notifier is passed where everything lies, and these: ", "");
        assert_eq!(text, expected, "{heading}");
    }
}
