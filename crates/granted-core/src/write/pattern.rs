//! Paths in a brief: write scopes, the paths of gates, and protected paths.
//!
//! A pattern is a literal file (`src/main.rs`), a folder with all below it (`src/`), or has wildcards
//! (`*`, `?`, `[…]`) that stay inside their segment. A pattern with wildcards that ends in a slash takes
//! in what lies below what it matches.

use std::fmt;

use glob::{MatchOptions, Pattern as Glob};
use serde::{Deserialize, Deserializer};
use unicode_normalization::UnicodeNormalization as _;

use super::path::ProjectPath;
use crate::text::{Shown, is_shown};

/// Where an agent may write. Matching is exact in case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Pattern);

/// Files that a gate looks at, or that are protected. Matching ignores case and how accents are composed,
/// since both only narrow; `**` stands for any folders, and wildcards match leading dots too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Pattern);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {why}", Shown(text))]
pub struct PatternError {
    text: String,
    why: &'static str,
}

/// The names that no change set ever touches, at any depth and in any case.
pub const CONTROL_PLANE: [&str; 10] = [
    ".git",
    ".claude",
    ".codex",
    ".goose",
    ".cursor",
    ".vscode",
    ".github",
    ".granted",
    "granted.toml",
    ".mcp.json",
];

/// What the names of the files begin with that a change set has beside its targets while it is applied.
const TEMPORARY: &str = ".granted-";

/// Whether a path lies in the control plane: what steers the agent's host, the repository, or granted.
pub fn is_control_plane(path: &ProjectPath) -> bool {
    path.segments().any(is_control_name)
}

fn is_control_name(name: &str) -> bool {
    let name = fold(name);
    CONTROL_PLANE.contains(&name.as_str()) || name.starts_with(TEMPORARY)
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    text: Box<str>,
    segments: Vec<Segment>,
    ends: Ends,
}

/// What the end of a pattern takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    /// What the pattern names.
    itself: bool,
    /// What lies below that.
    below: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(Box<str>),
    Wild(Glob),
    /// `**`: any number of segments.
    Any,
}

/// In a scope a wildcard never matches a leading dot.
const STRICT: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

const LENIENT: MatchOptions = MatchOptions { require_literal_leading_dot: false, ..STRICT };

impl Scope {
    /// Reads a scope: relative, without empty, `.` or `..` segments and `**`, no wildcard in the first
    /// segment, and not in the control plane.
    pub fn parse(text: &str) -> Result<Scope, PatternError> {
        let error = |why| PatternError { text: text.into(), why };
        let pattern = Pattern::parse(text, str::to_owned).map_err(error)?;
        if pattern.segments.contains(&Segment::Any) {
            return Err(error("a scope has no `**`: name the folder, with a slash at its end"));
        }
        if !matches!(pattern.segments.first(), Some(Segment::Literal(_))) {
            return Err(error("the first part of a scope has no wildcard"));
        }
        let control = |segment: &Segment| match segment {
            Segment::Literal(name) => is_control_name(name),
            _ => false,
        };
        match pattern.segments.iter().any(control) {
            true => Err(error("it lies in the control plane, where nothing is written")),
            false => Ok(Scope(pattern)),
        }
    }

    /// Whether the path lies in the scope.
    pub fn contains(&self, path: &ProjectPath) -> bool {
        let segments: Vec<&str> = path.segments().collect();
        self.0.matches(&segments, STRICT)
    }

    /// Whether it names one file, and nothing else can match.
    pub fn is_one_file(&self) -> bool {
        !self.0.ends.below && self.0.segments.iter().all(|s| matches!(s, Segment::Literal(_)))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl Reach {
    /// Reads the paths of a gate, or a protected path: relative, without empty, `.` or `..` segments.
    pub fn parse(text: &str) -> Result<Reach, PatternError> {
        let error = |why| PatternError { text: text.into(), why };
        Pattern::parse(text, fold).map(Reach).map_err(error)
    }

    /// As [`Reach::parse`], for what is protected: it takes in what lies below as well.
    pub fn parse_protected(text: &str) -> Result<Reach, PatternError> {
        let mut reach = Reach::parse(text)?;
        reach.0.ends.below = true;
        Ok(reach)
    }

    /// Whether the path is one of these.
    pub fn contains(&self, path: &ProjectPath) -> bool {
        let folded = fold(path.as_str());
        let segments: Vec<&str> = folded.split('/').collect();
        self.0.matches(&segments, LENIENT)
    }

    /// Whether every path that the scope can match is provably one of these. It may say no of one that
    /// is; it never says yes of one that is not.
    pub fn covers(&self, scope: &Scope) -> bool {
        covers(&self.0.segments, self.0.ends, &scope.0.segments, scope.0.ends)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl Pattern {
    fn parse(text: &str, fold: fn(&str) -> String) -> Result<Pattern, &'static str> {
        let below = text.ends_with('/');
        let ends = Ends { itself: !below, below };
        let body = text.strip_suffix('/').unwrap_or(text);
        if body.is_empty() || body.starts_with(['/', '~']) {
            return Err("a path below the project's root is wanted");
        }
        if text.len() > 1_024 || text.contains('\\') || !text.chars().all(is_shown) {
            return Err("it holds a backslash or a character that is not shown, or is too long");
        }
        let segments: Option<Vec<Segment>> = body.split('/').map(|s| segment(&fold(s))).collect();
        let segments = segments.ok_or("an empty, `.` or `..` part, or a wildcard that is none")?;
        Ok(Pattern { text: text.into(), segments, ends })
    }

    fn matches(&self, path: &[&str], options: MatchOptions) -> bool {
        matches(&self.segments, self.ends, path, options)
    }
}

fn segment(text: &str) -> Option<Segment> {
    match text {
        "" | "." | ".." => None,
        "**" => Some(Segment::Any),
        _ if text.contains(['*', '?', '[']) => match text.contains("**") {
            true => None,
            false => Glob::new(text).ok().map(Segment::Wild),
        },
        _ => Some(Segment::Literal(text.into())),
    }
}

fn matches(pattern: &[Segment], ends: Ends, path: &[&str], options: MatchOptions) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => ends.itself,
        (None, Some(_)) => ends.below,
        (Some((Segment::Any, rest)), _) => {
            matches(rest, ends, path, options)
                || path.split_first().is_some_and(|(_, path)| matches(pattern, ends, path, options))
        }
        (Some(_), None) => false,
        (Some((first, rest)), Some((name, path))) => {
            let hit = match first {
                Segment::Literal(literal) => **literal == **name,
                Segment::Wild(glob) => glob.matches_with(name, options),
                Segment::Any => false,
            };
            hit && matches(rest, ends, path, options)
        }
    }
}

fn covers(reach: &[Segment], ends: Ends, scope: &[Segment], scoped: Ends) -> bool {
    match (reach.split_first(), scope.split_first()) {
        (None, None) => (ends.itself || !scoped.itself) && (ends.below || !scoped.below),
        // A folder takes in all that lies deeper.
        (None, Some(_)) => ends.below,
        (Some((Segment::Any, [])), _) => ends.itself || scoped.below || !scope.is_empty(),
        (Some((Segment::Any, rest)), Some((_, deeper))) => {
            covers(rest, ends, scope, scoped) || covers(reach, ends, deeper, scoped)
        }
        (Some(_), None) => false,
        (Some((first, rest)), Some((part, deeper))) => {
            takes_in(first, part) && covers(rest, ends, deeper, scoped)
        }
    }
}

/// Whether a part of a reach matches whatever a part of a scope does. Of two with wildcards only `*` and
/// equal ones of nothing but `*` and literals count: folding changes what `?` and `[…]` match.
fn takes_in(reach: &Segment, scope: &Segment) -> bool {
    match (reach, scope) {
        (Segment::Literal(a), Segment::Literal(b)) => **a == fold(b),
        (Segment::Wild(glob), Segment::Literal(name)) => glob.matches_with(&fold(name), LENIENT),
        (Segment::Wild(a), Segment::Wild(b)) => {
            let plain = !a.as_str().contains(['?', '[']);
            a.as_str() == "*" || (plain && a.as_str() == fold(b.as_str()))
        }
        _ => false,
    }
}

/// The form in which what protects is compared: composed, in lower case.
pub(super) fn fold(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).nfc().collect()
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
        crate::json::text(deserializer, Scope::parse)
    }
}

impl<'de> Deserialize<'de> for Reach {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reach, D::Error> {
        crate::json::text(deserializer, Reach::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::parse(text).unwrap()
    }

    fn scope(text: &str) -> Scope {
        Scope::parse(text).unwrap()
    }

    fn reach(text: &str) -> Reach {
        Reach::parse(text).unwrap()
    }

    #[test]
    fn f6_scopes_are_linted() {
        for bad in [
            "",
            "/",
            "/etc/",
            "~/x",
            ".",
            "./a",
            "a/../b",
            "a//b",
            "*",
            "*.md",
            "**/x",
            "a/**/b",
            "a/b**",
            ".git/",
            "a/.git/",
            "src/.GitHub/x",
            ".granted/",
            "granted.toml",
            "a\\b",
            "a/\u{202e}",
            "[a",
            "docs/[a",
        ] {
            assert!(Scope::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn f6_scopes_match_segment_by_segment() {
        for (text, hits, misses) in [
            ("src/main.rs", vec!["src/main.rs"], vec!["src/main.rs/x", "SRC/main.rs", "src"]),
            ("src/", vec!["src/a", "src/a/b", "src/.hidden"], vec!["src", "srcs/a", "a/src/b"]),
            ("docs/*.md", vec!["docs/a.md"], vec!["docs/.a.md", "docs/a/b.md", "docs/a.MD"]),
            ("docs/.*.md", vec!["docs/.a.md"], vec!["docs/a.md"]),
            ("a/*/c/", vec!["a/b/c/d", "a/b/c/.d/e"], vec!["a/b/c", "a/.b/c/d", "a/b/x/d"]),
            ("a/[bc].x", vec!["a/b.x"], vec!["a/d.x", "a/[bc].x"]),
        ] {
            for hit in hits {
                assert!(scope(text).contains(&path(hit)), "{text} {hit}");
            }
            for miss in misses {
                assert!(!scope(text).contains(&path(miss)), "{text} {miss}");
            }
        }
    }

    #[test]
    fn what_protects_ignores_case_and_composition() {
        let protected = Reach::parse_protected("Secrets").unwrap();
        for hit in ["secrets", "SECRETS/a", "secrets/.b/c"] {
            assert!(protected.contains(&path(hit)), "{hit}");
        }
        let accents = Reach::parse_protected("caf\u{e9}/").unwrap();
        assert!(accents.contains(&path("CAFE\u{301}/x")));
        assert!(reach("**/*.py").contains(&path("setup.PY")));
        assert!(reach("**/*.py").contains(&path("a/.b/c.py")));
        assert!(!reach("*.py").contains(&path("a/c.py")));
    }

    #[test]
    fn the_control_plane_is_found_at_any_depth() {
        for hit in [
            "src/.granted-01J8-0",
            "src/.GRANTED-x",
            ".git/config",
            "a/b/.GIT/x",
            "granted.toml",
            "x/Granted.TOML",
            ".mcp.json",
        ] {
            assert!(is_control_plane(&path(hit)), "{hit}");
        }
        assert!(!is_control_plane(&path("src/git/granted.toml.md")));
    }

    #[test]
    fn d22_coverage_is_proven() {
        for (gate, covered, not) in [
            (
                "src/",
                vec!["src/", "src/a/", "src/*.py", "src/a.py"],
                vec!["docs/", "srcs/", "sr?/"],
            ),
            ("src/*.py", vec!["src/*.py", "src/a.py"], vec!["src/", "src/*", "src/a/*.py"]),
            ("**", vec!["src/", "a/b"], vec![]),
            ("**/*.py", vec!["src/*.py", "src/x/a.py"], vec!["src/", "src/*"]),
            ("src/*", vec!["src/*.md", "src/a"], vec!["src/", "src/a/b"]),
            ("*/", vec!["src/", "src/a/"], vec![]),
            ("docs/", vec![], vec!["src/"]),
        ] {
            let gate = reach(gate);
            for s in covered {
                let wanted = match s.split('/').next().unwrap().contains('?') {
                    true => continue,
                    false => scope(s),
                };
                assert!(gate.covers(&wanted), "{gate} {s}");
            }
            for s in not.into_iter().filter(|s| !s.starts_with("sr?")) {
                assert!(!gate.covers(&scope(s)), "{gate} {s}");
            }
        }
        assert!(!scope("docs/a?.md").is_one_file() && !scope("docs/[a].md").is_one_file());
    }

    proptest::proptest! {
        #[test]
        fn d22_what_is_covered_is_matched(
            gate in "(\\*\\*|[ab]|\\*|a\\*)(/(\\*\\*|[ab]|\\*|a\\*)){0,2}/?",
            scope in "[ab](/([ab]|\\*|a\\*|\\?)){0,2}/?",
            file in "[ab](/[ab.]{1,2}){0,3}",
        ) {
            let (Ok(gate), Ok(scope)) = (Reach::parse(&gate), Scope::parse(&scope)) else { return Ok(()) };
            let Ok(file) = ProjectPath::parse(&file) else { return Ok(()) };
            if gate.covers(&scope) && scope.contains(&file) {
                proptest::prop_assert!(gate.contains(&file), "{gate} {scope} {file}");
            }
        }
    }
}
