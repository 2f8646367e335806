//! The files of a change set, line by line. What agents wrote is shown escaped.

use std::time::Duration;

use granted_core::text::Shown;
use similar::{ChangeTag, TextDiff};

use crate::write::show::{FileView, Side};

/// How long the shortest diff of one file is looked for; then a longer one does.
const PATIENCE: Duration = Duration::from_millis(500);

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// As it is shown.
    pub text: String,
}

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of which file, and where in it.
    Head,
    /// In both.
    Same,
    /// New.
    Added,
    /// Gone.
    Removed,
}

/// How many lines a file gains and loses; `None` where that cannot be told or it is no text.
pub fn counts(view: &FileView) -> Option<(usize, usize)> {
    let (before, after) = texts(view)?;
    let diff = compare(before, after);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

/// The diff of one file, with its head.
pub fn lines(view: &FileView) -> Vec<Line> {
    let head = |text: String| Line { kind: Kind::Head, text };
    let path = &view.change.path;
    let from = match view.before {
        Side::Absent => "/dev/null".to_owned(),
        _ => format!("a/{path}"),
    };
    let to = match view.after {
        Side::Absent => "/dev/null".to_owned(),
        _ => format!("b/{path}"),
    };
    let mut lines = vec![head(format!("--- {from}")), head(format!("+++ {to}"))];
    if let Some(mode) = view.change.after.and_then(|after| after.mode) {
        lines.push(head(format!("mode {mode:o}, if it is made anew")));
    }
    let Some((before, after)) = texts(view) else {
        for side in [&view.before, &view.after] {
            match side {
                Side::Binary(bytes) => lines.push(head(format!("no text: {bytes} bytes"))),
                Side::Unknown(why) => lines.push(head(format!("not to be told: {}", Shown(why)))),
                Side::Absent | Side::Text(_) => {}
            }
        }
        return lines;
    };
    let diff = compare(before, after);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        lines.push(head(hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let (kind, sign) = match change.tag() {
                ChangeTag::Equal => (Kind::Same, ' '),
                ChangeTag::Insert => (Kind::Added, '+'),
                ChangeTag::Delete => (Kind::Removed, '-'),
            };
            let value = change.value();
            let value = value.strip_suffix('\n').unwrap_or(value);
            lines.push(Line { kind, text: format!("{sign}{}", shown(value)) });
            if change.missing_newline() {
                lines.push(head("\\ No newline at end of file".into()));
            }
        }
    }
    lines
}

/// Both sides, if both can be compared line by line.
fn texts(view: &FileView) -> Option<(&str, &str)> {
    Some((text(&view.before)?, text(&view.after)?))
}

fn text(side: &Side) -> Option<&str> {
    match side {
        Side::Text(text) => Some(text),
        Side::Absent => Some(""),
        Side::Binary(_) | Side::Unknown(_) => None,
    }
}

fn compare<'a>(before: &'a str, after: &'a str) -> TextDiff<'a, 'a, 'a, str> {
    TextDiff::configure().timeout(PATIENCE).diff_lines(before, after)
}

/// A line of a file. Tabs stay: they indent, and a terminal makes nothing else of them.
fn shown(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(|part| Shown(part).to_string()).collect();
    parts.join("\t")
}
