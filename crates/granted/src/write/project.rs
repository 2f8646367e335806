//! A project, opened: its files and its brief.

use std::path::Path;

use granted_core::digest::Digest;
use granted_core::text::{Shown, TextError};
use granted_core::write::path::ProjectPath;
use granted_core::write::{Brief, Project};
use granted_exec::tree::{Found, Tree, TreeError};
use granted_store::open::in_words;

use super::check::unsignable;
use crate::files;

/// The brief's name in the root of its project.
pub const BRIEF: &str = "granted.toml";

/// The most bytes of a brief.
const MAX_BRIEF: usize = 1 << 20;

/// A project whose files can be reached.
#[derive(Debug)]
pub struct OpenProject {
    name: Project,
    tree: Tree,
}

/// A brief, with the digest of its bytes.
#[derive(Clone, Debug)]
pub struct ReadBrief {
    /// What it says.
    pub brief: Brief,
    /// Of its bytes.
    pub sha256: Digest,
}

/// Why a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Its root.
    #[error("the project `{}`: {why}", Shown(path))]
    Root {
        /// As it was given.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Its root's path cannot be written down.
    #[error(transparent)]
    Name(#[from] TextError),
    /// A file of it.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// It has no brief.
    #[error("the project `{0}` has no `{BRIEF}`")]
    NoBrief(Project),
    /// Its brief is wrong; the line is in the text.
    #[error("`{project}/{BRIEF}`: {what}")]
    Brief {
        /// The project.
        project: Project,
        /// What is wrong.
        what: String,
    },
}

impl OpenProject {
    /// Opens the project in this folder, by the real path of that.
    pub fn open(root: &Path) -> Result<OpenProject, ProjectError> {
        let error = |why| ProjectError::Root { path: root.display().to_string(), why };
        let real = root.canonicalize().map_err(|e| error(in_words(&e)))?;
        let text = real.to_str().ok_or_else(|| error("its path is not UTF-8".into()))?;
        let name = Project::new(text)?;
        Ok(OpenProject { name, tree: Tree::open(&real)? })
    }

    /// Opens a project by its name, which rows have. It must still lie there.
    pub fn named(name: &Project) -> Result<OpenProject, ProjectError> {
        let project = OpenProject::open(Path::new(name.as_str()))?;
        match project.name == *name {
            true => Ok(project),
            false => {
                let why = format!("it is a link to `{}` now", project.name);
                Err(ProjectError::Root { path: name.as_str().into(), why })
            }
        }
    }

    /// Its name: the real path of its root.
    pub fn name(&self) -> &Project {
        &self.name
    }

    /// Its files.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Its brief, as it is now and without anything wrong in it.
    pub fn brief(&self) -> Result<ReadBrief, ProjectError> {
        let (text, sha256) = self.text()?;
        let wrong = |what| ProjectError::Brief { project: self.name.clone(), what };
        let brief: Brief = files::parse_toml(&text).map_err(wrong)?;
        match brief.problems().first() {
            Some(problem) => Err(wrong(in_line(problem, &text))),
            None => Ok(ReadBrief { brief, sha256 }),
        }
    }

    /// The digest of its brief, as it is now.
    pub fn brief_digest(&self) -> Result<Digest, ProjectError> {
        Ok(self.text()?.1)
    }

    /// Its brief, and everything that is wrong in it or keeps its gates from running and its direct grants
    /// from being signed, each with its line. One that cannot be parsed is shown empty.
    pub fn look(&self) -> Result<(Brief, Vec<String>), ProjectError> {
        let (text, _) = self.text()?;
        Ok(match files::parse_toml::<Brief>(&text) {
            Ok(brief) => {
                let all = brief.problems().into_iter().chain(unsignable(self, &brief));
                let problems = all.map(|problem| in_line(&problem, &text)).collect();
                (brief, problems)
            }
            Err(why) => (Brief::default(), vec![why]),
        })
    }

    fn text(&self) -> Result<(String, Digest), ProjectError> {
        let wrong = |what| ProjectError::Brief { project: self.name.clone(), what };
        let path = ProjectPath::parse(BRIEF).map_err(|e| wrong(e.to_string()))?;
        let Found::File(content) = self.tree.read(&path, MAX_BRIEF)? else {
            return Err(ProjectError::NoBrief(self.name.clone()));
        };
        let text = String::from_utf8(content.bytes);
        Ok((text.map_err(|_| wrong("it is not UTF-8 text".into()))?, content.digest))
    }
}

/// A problem behind the line of what it is about: it begins with that, such as `agents.producer`.
fn in_line(problem: &str, text: &str) -> String {
    let about = problem.split_once(": ").and_then(|(about, _)| about.split_once('.'));
    match about.and_then(|(table, key)| files::toml_line(text, table, key)) {
        Some(line) => format!("line {line}: {problem}"),
        None => problem.to_owned(),
    }
}
