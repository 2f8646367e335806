//! Reading a file of a project for an agent, with the digest that a change of it is based on.

use granted_core::digest::Digest;
use granted_core::write::brief::Tool;
use granted_core::write::decide::{Asker, Denied};
use granted_core::write::pattern::is_control_plane;
use granted_core::write::secret::looks_secret;
use granted_core::write::{Agent, Project, ProjectPath, Refusal};
use granted_exec::tree::Found;

use super::checked::bad_path;
use super::project::OpenProject;

/// A file, as an agent may read it.
#[derive(Clone, Debug)]
pub struct Read {
    /// Where it is, after links.
    pub path: ProjectPath,
    /// Its bytes and their digest; `None` if nothing is there.
    pub content: Option<(Vec<u8>, Digest)>,
}

/// Reads a file: none of the control plane, and none that looks like a secret, by the path that is asked for
/// and by the one to which it leads; nor one that has other names, which the rules do not know.
pub fn read(root: &Project, agent: &Agent, path: &str) -> Result<Read, Denied> {
    let refused = |e: &dyn std::fmt::Display| Denied::new(Refusal::NotInBrief, e.to_string());
    let project = OpenProject::named(root).map_err(|e| refused(&e))?;
    let brief = project.brief().map_err(|e| refused(&e))?.brief;
    Asker::agent(&brief, agent)?.has(Tool::ReadFileHashed)?;
    let asked = ProjectPath::normalise(path);
    let asked = asked.map_err(|e| Denied::new(Refusal::BadPath, e.to_string()))?;
    readable(&asked, 1)?;
    let place = project.tree().resolve(&asked).map_err(|e| bad_path(&e))?;
    readable(&place.path, 1)?;
    let limit = usize::try_from(brief.caps.file_bytes).unwrap_or(usize::MAX);
    let content = match project.tree().read(&place.path, limit).map_err(|e| bad_path(&e))? {
        Found::Absent => None,
        Found::File(content) => {
            readable(&place.path, content.links)?;
            Some((content.bytes, content.digest))
        }
    };
    Ok(Read { path: place.path, content })
}

/// Checks that agents read a file of this name, which has so many of them.
pub(super) fn readable(path: &ProjectPath, links: usize) -> Result<(), Denied> {
    let why = if is_control_plane(path) {
        "lies in the control plane, which agents do not read here"
    } else if looks_secret(path) {
        "looks like a secret by its name"
    } else if links > 1 {
        "has another name too, which may lie outside the project: it is a hard link"
    } else {
        return Ok(());
    };
    Err(Denied::new(Refusal::Protected, format!("`{path}` {why}")))
}
