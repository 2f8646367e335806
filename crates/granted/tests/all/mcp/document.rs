//! docs/mcp.md: its exchanges come out as they are written, and its lists are whole.

use serde_json::Value;

use crate::client::Client;
use crate::home::Home;

const DOCUMENT: &str = include_str!("../../../../../docs/mcp.md");

/// Whether a value is what the document shows of it: `…` in a text stands for anything, and as a
/// key for other keys.
fn is_shown(value: &Value, shown: &Value) -> bool {
    match (value, shown) {
        (Value::String(value), Value::String(shown)) => match shown.split_once('…') {
            None => value == shown,
            Some((first, last)) => value.starts_with(first) && value.ends_with(last),
        },
        (Value::Array(values), Value::Array(shown)) => {
            let all = values.iter().zip(shown).all(|(value, shown)| is_shown(value, shown));
            values.len() == shown.len() && all
        }
        (Value::Object(members), Value::Object(shown)) => {
            let named = shown.iter().filter(|(key, _)| *key != "…");
            let (count, is_whole) = (named.clone().count(), !shown.contains_key("…"));
            let mut named = named.map(|(key, shown)| (members.get(key), shown));
            named.all(|(value, shown)| value.is_some_and(|value| is_shown(value, shown)))
                && (!is_whole || members.len() == count)
        }
        _ => value == shown,
    }
}

#[test]
fn its_exchanges_come_out_as_they_are_written() {
    let home = Home::new();
    home.write(".granted/config.toml", "[executors.send_report]\nargv = [\"true\"]\n");
    let tools = DOCUMENT.split("\n## The tools\n").nth(1).unwrap();
    let blocks = |language: &str| -> Vec<&str> {
        let begin = format!("\n```{language}\n");
        tools.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
    };
    let mint = blocks("sh")[0].replace("\"owner keystroke\"", "'owner keystroke'");
    let args = mint.trim().strip_prefix("granted ").unwrap();
    let mut words = Vec::new();
    for (at, part) in args.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    home.run(words).ok();
    let mut client = Client::legacy(&home, &[]);
    let exchanges = blocks("json");
    assert_eq!(exchanges.len(), 8);
    for exchange in exchanges.chunks(2) {
        let asked: Value = serde_json::from_str(exchange[0]).unwrap();
        let shown: Value = serde_json::from_str(exchange[1]).unwrap();
        let tool = asked["name"].as_str().unwrap();
        let value = client.call(tool, asked["arguments"].clone());
        assert!(is_shown(&value, &shown), "{asked}\n{value:#}\nis not\n{shown:#}");
        if asked["arguments"]["key"] == "send-1" {
            let again = client.call(tool, asked["arguments"].clone());
            assert_eq!(again["replayed"], true);
        }
    }
    client.end();
}

#[test]
fn a_retry_is_advised_for_the_same_reasons_everywhere() {
    let home = Home::new();
    let mut client = Client::silent(&home, &[]);
    let instructions = client.initialize("2025-11-25")["instructions"].as_str().unwrap().to_owned();
    let list = client.ask("tools/list", serde_json::json!({}));
    let discharge = list["result"]["tools"][1]["description"].as_str().unwrap();
    for reason in granted::REASONS {
        let word = reason.as_str();
        let later =
            ["not_yet", "claim_lost", "executor_declined", "ledger_unwritable", "clock_behind"];
        let row = DOCUMENT.lines().find(|line| line.contains("may be made later")).unwrap();
        assert_eq!(row.contains(&format!("`{word}`")), later.contains(&word), "{word}");
        let advised = instructions.lines().find(|line| line.starts_with("5.")).unwrap();
        let words: Vec<&str> = advised.split([' ', ',', ':']).collect();
        assert_eq!(words.contains(&word), later.contains(&word), "{word}: {advised}");
        assert!(!later.contains(&word) || discharge.contains(word), "{word}");
    }
    client.end();
}
