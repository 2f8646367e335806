//! A command line that cannot be parsed, said in the same form as every other error.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextValue, ErrorKind};

use super::failure::Failure;

/// What is wrong, on one line, and where to look.
pub(super) fn failure(error: &clap::Error, command: &Command, args: &[OsString]) -> Failure {
    // What clap calls a subcommand is a verb here.
    let text = marked(error).replace("subcommand", "verb");
    let mut paragraphs = text.split("\n\n");
    let message = one_line(paragraphs.next().unwrap_or_default(), "error: ");
    // That an unknown flag could be given as a value is never what was meant.
    let is_tip = |line: &&str| line.starts_with("tip: ") && !line.starts_with("tip: to pass ");
    let tips = paragraphs.flat_map(str::lines).map(str::trim).filter(is_tip);
    let mut hints: Vec<String> = tips.map(|tip| one_line(tip, "tip: ")).collect();
    hints.push(format!("{} --help", verb(command, args)));
    Failure::usage(message).hint(hints.join("; see "))
}

/// Whether this is asked for and no error: help.
pub(super) fn is_answer(error: &clap::Error) -> bool {
    !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// The error's text with what the person typed, and the names of arguments, in backticks.
fn marked(error: &clap::Error) -> String {
    let mut text = error.to_string();
    let mut mark = |value: &str| text = text.replace(&format!("'{value}'"), &format!("`{value}`"));
    for (_, value) in error.context() {
        match value {
            ContextValue::String(value) => mark(value),
            ContextValue::Strings(values) => values.iter().for_each(|value| mark(value)),
            _ => {}
        }
    }
    text
}

/// A first line and the items below it.
fn one_line(paragraph: &str, label: &str) -> String {
    let mut lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix(label).unwrap_or(first);
    match lines.collect::<Vec<_>>().join(", ") {
        items if items.is_empty() => first.to_owned(),
        items => format!("{first} {items}"),
    }
}

/// The verb that was meant, as far as it is known.
fn verb(command: &Command, args: &[OsString]) -> String {
    let mut at = command;
    let mut words = vec![command.get_name()];
    for arg in args.iter().skip(1) {
        if let Some(next) = arg.to_str().and_then(|arg| at.find_subcommand(arg)) {
            words.push(next.get_name());
            at = next;
        }
    }
    words.join(" ")
}
