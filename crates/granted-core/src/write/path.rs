//! The path of a file in a project, in the one form in which it is compared, stored and shown.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json;
use crate::text::{Shown, cut, is_shown};

/// The most bytes of a path.
pub const MAX_PATH: usize = 1024;
/// The most bytes of one of its segments, as file systems have it.
pub const MAX_SEGMENT: usize = 255;

/// The path of a file, relative to the root of its project.
///
/// It has at least one segment, and none that is empty, `.` or `..`; it holds no backslash and no
/// character that is not shown as it is, and does not begin with `~`. Two paths name the same file
/// only if they are the same bytes, but for what links and a file system that folds case make of it:
/// spelling an accent in another way is another path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProjectPath(Box<str>);

/// Why a text is no path in a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the path `{}` {fault}", Shown(.path))]
pub struct PathError {
    /// The text, cut if it is long.
    pub path: String,
    /// What is wrong with it.
    pub fault: PathFault,
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// Nothing is named.
    #[error("is empty")]
    Empty,
    /// More than [`MAX_PATH`] bytes.
    #[error("is longer than {MAX_PATH} bytes")]
    Long,
    /// A segment of more than [`MAX_SEGMENT`] bytes.
    #[error("has a name of more than {MAX_SEGMENT} bytes")]
    LongSegment,
    /// It begins with `/`.
    #[error("is absolute; a path is relative to the root of the project")]
    Absolute,
    /// It begins with `~`.
    #[error("begins with `~`; a path is relative to the root of the project")]
    Home,
    /// A segment is `..`.
    #[error("holds `..`")]
    Above,
    /// A segment is empty or `.`, which the canonical form does not have.
    #[error("is not in its shortest form: a segment is empty or `.`")]
    Idle,
    /// It ends as the path of a folder does.
    #[error("names a folder, not a file")]
    Folder,
    /// A backslash.
    #[error("holds a backslash")]
    Backslash,
    /// A character that is not shown as it is.
    #[error("holds a character that cannot be shown")]
    Character,
}

impl ProjectPath {
    /// Reads the canonical form only.
    pub fn parse(text: &str) -> Result<ProjectPath, PathError> {
        match fault(text) {
            None => Ok(ProjectPath(text.into())),
            Some(fault) => Err(PathError::new(text, fault)),
        }
    }

    /// Reads a path as people write it, which may have `.` segments and doubled slashes, and gives the
    /// canonical form.
    pub fn normalise(text: &str) -> Result<ProjectPath, PathError> {
        let error = |fault| Err(PathError::new(text, fault));
        if text.starts_with('/') {
            return error(PathFault::Absolute);
        }
        if text.rsplit('/').next().is_some_and(|last| matches!(last, "" | "." | ".."))
            && !text.is_empty()
        {
            return error(PathFault::Folder);
        }
        let mut kept = String::new();
        for segment in text.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
            if !kept.is_empty() {
                kept.push('/');
            }
            kept.push_str(segment);
        }
        match fault(&kept) {
            None => Ok(ProjectPath(kept.into())),
            Some(fault) => error(fault),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names on the way to the file, its own last.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The folder in which it lies; `None` if that is the root.
    pub fn parent(&self) -> Option<ProjectPath> {
        self.0.rsplit_once('/').map(|(above, _)| ProjectPath(above.into()))
    }

    /// The file's own name.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// Whether this path lies below a folder of that path.
    pub fn is_below(&self, folder: &ProjectPath) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path of what has this name, or these names separated by `/`, in a folder of this path.
    pub fn join(&self, name: &str) -> Result<ProjectPath, PathError> {
        ProjectPath::parse(&format!("{}/{name}", self.0))
    }
}

impl PathError {
    fn new(text: &str, fault: PathFault) -> PathError {
        PathError { path: cut(text, 256), fault }
    }
}

/// The first thing that keeps a text from being a canonical path.
fn fault(text: &str) -> Option<PathFault> {
    if text.is_empty() {
        return Some(PathFault::Empty);
    }
    if text.len() > MAX_PATH {
        return Some(PathFault::Long);
    }
    match text.chars().next() {
        Some('/') => return Some(PathFault::Absolute),
        Some('~') => return Some(PathFault::Home),
        _ => {}
    }
    if text.contains('\\') {
        return Some(PathFault::Backslash);
    }
    if !text.chars().all(is_shown) {
        return Some(PathFault::Character);
    }
    text.split('/').find_map(|segment| match segment {
        "" | "." => Some(PathFault::Idle),
        ".." => Some(PathFault::Above),
        long if long.len() > MAX_SEGMENT => Some(PathFault::LongSegment),
        _ => None,
    })
}

/// As it is: every character of it is one that is shown.
impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for ProjectPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<ProjectPath, PathError> {
        ProjectPath::parse(text)
    }
}

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ProjectPath, D::Error> {
        json::text(deserializer, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is hostile in a path, to be put together.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "src", ".", "..", "", "/", "//", "~", "\\", "\0", "\u{202e}", "\u{a0}", "é",
            "e\u{301}", ".git", "a b", "...", "\n", "\u{feff}", "C:", "%2e", "-",
        ]);
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    /// The rule once more, in other words.
    fn is_canonical(text: &str) -> bool {
        let segments: Vec<&str> = text.split('/').collect();
        text.len() <= 1024
            && !text.starts_with('~')
            && text.chars().all(|c| is_shown(c) && c != '\\')
            && segments.iter().all(|s| !["", ".", ".."].contains(s) && s.len() <= 255)
    }

    proptest! {
        #[test]
        fn only_the_canonical_form_is_read(text in pieces()) {
            let parsed = ProjectPath::parse(&text);
            prop_assert_eq!(parsed.is_ok(), is_canonical(&text));
            if let Ok(path) = parsed {
                prop_assert_eq!(path.as_str(), &text);
                prop_assert_eq!(ProjectPath::normalise(&text), Ok(path));
            }
        }

        #[test]
        fn what_is_normalised_is_canonical_and_names_the_same(text in pieces()) {
            if let Ok(path) = ProjectPath::normalise(&text) {
                prop_assert!(is_canonical(path.as_str()));
                let named: std::path::PathBuf = std::path::Path::new(&text)
                    .components()
                    .filter(|c| *c != std::path::Component::CurDir)
                    .collect();
                prop_assert_eq!(named.to_str(), Some(path.as_str()));
                let again: ProjectPath =
                    serde_json::from_str(&serde_json::to_string(&path).unwrap()).unwrap();
                prop_assert_eq!(again, path);
            }
        }

        #[test]
        fn a_path_is_its_parent_and_its_name(text in "[a-c.é]{1,3}(/[a-c. ]{1,3}){0,4}") {
            let Ok(path) = ProjectPath::parse(&text) else { return Ok(()) };
            let segments: Vec<&str> = path.segments().collect();
            prop_assert_eq!(segments.last(), Some(&path.name()));
            match path.parent() {
                None => prop_assert_eq!(segments.len(), 1),
                Some(parent) => {
                    prop_assert!(path.is_below(&parent) && !parent.is_below(&path));
                    prop_assert_eq!(parent.segments().count(), segments.len() - 1);
                    prop_assert_eq!(parent.join(path.name()), Ok(path));
                }
            }
        }
    }

    #[test]
    fn each_fault_has_its_line() {
        let long = format!("{}/x", "a".repeat(256));
        let deep = "a/".repeat(512) + "b";
        for (text, line) in [
            ("", "the path `` is empty"),
            ("/etc/passwd", "is absolute; a path is relative to the root of the project"),
            ("~/x", "begins with `~`; a path is relative to the root of the project"),
            ("~", "begins with `~`"),
            ("a/../b", "the path `a/../b` holds `..`"),
            ("..", "holds `..`"),
            ("a//b", "is not in its shortest form: a segment is empty or `.`"),
            ("./a", "is not in its shortest form"),
            ("a/", "is not in its shortest form"),
            ("a\\b", "holds a backslash"),
            ("a\0b", "the path `a\\u{0}b` holds a character that cannot be shown"),
            ("a\u{202e}b", "holds a character that cannot be shown"),
            (&long, "has a name of more than 255 bytes"),
            (&deep, "is longer than 1024 bytes"),
        ] {
            let said = ProjectPath::parse(text).unwrap_err().to_string();
            assert!(said.contains(line) && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn intake_takes_what_people_write() {
        for (text, canonical) in [
            ("./src/a.py", "src/a.py"),
            ("src//a.py", "src/a.py"),
            ("src/./a.py", "src/a.py"),
            (".//././a", "a"),
            (".env", ".env"),
            ("a/...", "a/..."),
        ] {
            assert_eq!(ProjectPath::normalise(text).unwrap().as_str(), canonical, "{text}");
        }
        for (text, fault) in [
            ("", PathFault::Empty),
            (".", PathFault::Folder),
            ("./", PathFault::Folder),
            ("src/", PathFault::Folder),
            ("src/.", PathFault::Folder),
            ("src/..", PathFault::Folder),
            ("src/../a", PathFault::Above),
            ("//a", PathFault::Absolute),
            ("./~a", PathFault::Home),
        ] {
            assert_eq!(ProjectPath::normalise(text).unwrap_err().fault, fault, "{text}");
        }
    }

    #[test]
    fn spellings_of_an_accent_are_two_paths() {
        let (composed, apart) =
            (ProjectPath::parse("caf\u{e9}"), ProjectPath::parse("cafe\u{301}"));
        assert_ne!(composed.unwrap(), apart.unwrap());
    }

    #[test]
    fn a_segment_has_255_bytes_and_a_path_1024() {
        assert!(ProjectPath::parse(&"é".repeat(127)).is_ok());
        assert!(ProjectPath::parse(&"é".repeat(128)).is_err());
        let path = ["a".repeat(255), "b".repeat(255), "c".repeat(255), "d".repeat(256)].join("/");
        assert_eq!(ProjectPath::parse(&path).unwrap_err().fault, PathFault::LongSegment);
        assert!(ProjectPath::parse(&path[..1023]).is_ok());
    }

    #[test]
    fn below_is_by_whole_names() {
        let path = |text| ProjectPath::parse(text).unwrap();
        assert!(path("src/a").is_below(&path("src")));
        assert!(!path("src").is_below(&path("src")));
        assert!(!path("srcs/a").is_below(&path("src")));
    }
}
