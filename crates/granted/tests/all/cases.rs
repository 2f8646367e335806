//! The command line's behaviour as data: `tests/cases/*.toml`, which are the manual's examples too.
//!
//! A case is a list of shell lines, run one after the other in one new home, with what each prints
//! and its exit code. Ids, instants, digests, lock names and the home's path are shown as `[ID]`,
//! `[TIME]`, `[HASH]`, `[ACT]` and `[HOME]`; `[..]` stands for anything. `$GRANT` and `$DISCHARGE` are
//! the last grant and the last attempt of the ledger.

use granted_core::time::Stamp;
use serde::Deserialize;

use crate::home::{Home, Run};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    step: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    run: String,
    #[serde(default)]
    code: i32,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
}

#[test]
fn every_case_holds() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases")).unwrap();
    let mut wrong = Vec::new();
    for file in files.map(|file| file.unwrap().path()) {
        let home = Home::new();
        let case: Case = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for (number, step) in case.step.iter().enumerate() {
            let run = Run::from(home.shell(&step.run).output().unwrap());
            for (what, is, should) in [
                ("stdout", plain(&run.stdout, &home), &step.stdout),
                ("stderr", plain(&run.stderr, &home), &step.stderr),
                ("code", run.code.to_string(), &step.code.to_string()),
            ] {
                if !matches(&is, &plain(should, &home)) {
                    let place = format!("{} step {}: {}", file.display(), number + 1, step.run);
                    wrong.push(format!("{place}\n{what} is:\n{is}\nand should be:\n{should}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

/// Whether a text is this pattern, whose `[..]` stand for anything.
fn matches(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

/// The text with placeholders for what is another in every run.
fn plain(text: &str, home: &Home) -> String {
    let text = text.replace(home.dir().to_str().unwrap(), "[HOME]");
    let (mut rest, mut shown) = (text.as_str(), String::new());
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let time = rest.find('Z').map_or("", |end| &rest[..=end]);
        let is = |digits: &str| rest[..word].chars().all(|c| digits.contains(c));
        let (taken, placeholder) = match word {
            4 if Stamp::parse(time).is_ok() => (time.len(), "[TIME]"),
            26 if is("0123456789ABCDEFGHJKMNPQRSTVWXYZ") => (word, "[ID]"),
            32 if is("0123456789abcdef") => (word, "[ACT]"),
            64 if is("0123456789abcdef") => (word, "[HASH]"),
            0 => (first.len_utf8(), &rest[..first.len_utf8()]),
            _ => (word, &rest[..word]),
        };
        shown.push_str(placeholder);
        rest = &rest[taken..];
    }
    shown
}
