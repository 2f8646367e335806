//! The blocks of code in the documents: commands run as they stand there, configs and JSON parse.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::{Document, documents, events};
use crate::home::{Home, Run};
use crate::keys::PASSWORD;
use crate::pty::Pty;

/// Blocks of commands that are not run: the document, how the block begins, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    (
        "README.md",
        "claude mcp add",
        "the client is not free software; scripts/test-hosts has it do this",
    ),
    ("docs/mcp.md", "claude mcp add", "likewise"),
    (
        "docs/timer.md",
        "granted timer install",
        "needs a user's service manager; tests of the timer have one",
    ),
];

/// Blocks of TOML that are another program's config.
const NOT_OURS: &[(&str, &str)] = &[("docs/mcp.md", "[mcp_servers.granted]")];

/// A block of code, with the block that stands right below it.
struct Block {
    /// What is behind the opening fence.
    language: String,
    text: String,
    /// The text of the block below, if it is one of output.
    output: Option<String>,
}

fn blocks(document: &Document) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    // Whether the last event ended a block, so that the next one stands right below it.
    let (mut inside, mut just_ended, mut is_output) = (false, false, false);
    for event in events(&document.text) {
        let ended = matches!(event, Event::End(TagEnd::CodeBlock));
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_output = just_ended && &*language == "text";
                inside = true;
                match (is_output, found.last_mut()) {
                    (true, Some(above)) => above.output = Some(String::new()),
                    _ => found.push(Block {
                        language: language.to_string(),
                        text: String::new(),
                        output: None,
                    }),
                }
            }
            Event::Text(text) if inside => {
                let block = found.last_mut().unwrap();
                block
                    .output
                    .as_mut()
                    .filter(|_| is_output)
                    .unwrap_or(&mut block.text)
                    .push_str(&text);
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Start(Tag::CodeBlock(_)) => panic!("{}: a block without a fence", document.name),
            _ => {}
        }
        just_ended = ended;
    }
    found
}

/// Every block in this language, with its document's name.
fn all(language: &str) -> Vec<(String, Block)> {
    let of = |document: Document| {
        let name = document.name.clone();
        blocks(&document).into_iter().map(move |block| (name.clone(), block))
    };
    documents().into_iter().flat_map(of).filter(|(_, block)| block.language == language).collect()
}

/// Runs a script in this home with the program in its search path, both outputs in one.
fn shell(home: &Home, script: &str) -> Run {
    home.shell(&format!("exec 2>&1\n{script}")).output().unwrap().into()
}

/// Runs a script likewise, at a terminal where the person answers what is asked.
fn at_terminal(home: &Home, script: &str) -> Run {
    let mut pty = Pty::start(&home.shell(&format!("exec 2>&1\n{script}")));
    pty.answer(&[
        ("password for key", PASSWORD),
        ("again: ", PASSWORD),
        ("password of", PASSWORD),
        ("[y/N] ", "y"),
    ]);
    pty.end()
}

/// Whether a line is what the document shows of it; `…` there stands for anything.
pub fn is_shown(line: &str, shown: &str) -> bool {
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

/// In a home for each document, which holds what the document says that the reader has.
#[test]
fn commands_run_as_they_are_written() {
    let mut unused: Vec<_> = NOT_RUN.iter().collect();
    let mut ran = 0;
    for document in documents() {
        let home = Home::new();
        home.write("asks.jsonl", include_str!("asks.jsonl"));
        for block in blocks(&document).iter().filter(|block| block.language == "sh") {
            let is_this = |(name, begins, _): &(&str, &str, &str)| {
                *name == document.name && block.text.starts_with(begins)
            };
            if NOT_RUN.iter().any(is_this) {
                unused.retain(|named| !is_this(named));
                continue;
            }
            let run = match block.text.contains("granted key new") {
                true => at_terminal(&home, &block.text),
                false => shell(&home, &block.text),
            };
            let said = &run.stdout;
            if let Some(shown) = &block.output {
                let place = format!("{}: {}printed\n{said}", document.name, block.text);
                assert_eq!(said.lines().count(), shown.lines().count(), "{place}");
                for (line, shown) in said.lines().zip(shown.lines()) {
                    assert!(is_shown(line, shown), "{line:?}\nis not\n{shown:?}\n{place}");
                }
            } else {
                run.ok();
            }
            ran += 1;
        }
        if home.ledger().exists() {
            home.verify();
        }
    }
    assert!(unused.is_empty(), "there is no such block: {unused:?}");
    assert!(ran >= 5, "{ran}");
}

#[test]
fn configs_are_read() {
    let found = all("toml");
    assert!(found.len() >= 4, "{}", found.len());
    for (name, block) in found {
        if NOT_OURS.iter().any(|(n, begins)| *n == name && block.text.starts_with(begins)) {
            toml::from_str::<toml::Table>(&block.text).unwrap_or_else(|e| panic!("{name}: {e}"));
            continue;
        }
        if block.text.contains("[agents.") {
            let brief: granted_core::write::Brief =
                toml::from_str(&block.text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(brief.problems(), Vec::<String>::new(), "{name}");
            continue;
        }
        let config = granted::Config::parse(&block.text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_ne!(config, granted::Config::default(), "{name}");
    }
}

#[test]
fn json_is_json() {
    let found = all("json");
    assert!(found.len() >= 20, "{}", found.len());
    for (name, block) in found {
        let parsed = serde_json::from_str::<serde_json::Value>(&block.text);
        assert!(parsed.is_ok(), "{name}: {parsed:?}\n{}", block.text);
    }
}

/// Commands stand in blocks of their own, where they are run.
#[test]
fn a_prompt_is_in_no_block() {
    for (name, block) in ["text", "sh", "console", ""].into_iter().flat_map(all) {
        let output = block.output.as_deref().unwrap_or_default();
        let prompt = block.text.lines().chain(output.lines()).find(|line| line.starts_with("$ "));
        assert_eq!(prompt, None, "{name}");
    }
}

#[test]
fn the_exit_codes_are_those_of_the_table() {
    let home = Home::new();
    let readme = include_str!("../../../../../README.md");
    let code = |outcome: &str| {
        let (_, row) = readme.split_once(&format!("\n| `{outcome}` | ")).unwrap();
        row.split(" |").next().unwrap().parse::<i32>().unwrap()
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
fn a_line_is_shown_only_if_it_matches() {
    assert!(is_shown("a 1 b 2 c", "a … b … c"));
    assert!(is_shown("/x/y.json", "…/y.json"));
    for (line, shown) in
        [("a 1 c", "a … b … c"), ("b", "a…"), ("ab", "a"), ("a 1 b d", "a … b … c")]
    {
        assert!(!is_shown(line, shown), "{line} {shown}");
    }
}

#[test]
fn output_belongs_to_the_block_right_above() {
    let text = "```sh\na\n```\n\n```text\nb\n```\n\n```sh\nc\n```\n\nand\n\n```text\nd\n```\n";
    let document = Document { name: "x".into(), text: text.into() };
    let found: Vec<_> =
        blocks(&document).into_iter().map(|b| (b.language, b.text, b.output)).collect();
    let block = |language: &str, text: &str, output: Option<&str>| {
        (language.to_owned(), text.to_owned(), output.map(str::to_owned))
    };
    let expected =
        [block("sh", "a\n", Some("b\n")), block("sh", "c\n", None), block("text", "d\n", None)];
    assert_eq!(found, expected);
}
