//! What the brief says of a path: who may write it, and what looks at it.

use granted_core::text::Name;
use granted_core::write::brief::{AgentEntry, Approval, Dispatch};
use granted_core::write::decide::{Asker, check_path};
use granted_core::write::direct::uncovered;
use granted_core::write::pattern::is_control_plane;
use granted_core::write::{Agent, Brief, ProjectPath, Refusal};
use serde::Serialize;

use super::gates::identity;
use super::project::OpenProject;

/// The rules for one path.
#[derive(Clone, Debug, Serialize)]
pub struct Rules {
    /// Each agent's.
    pub agents: Vec<AgentRules>,
    /// As it was asked for.
    pub asked: String,
    /// Where it leads, after links.
    pub path: ProjectPath,
    /// What protects it from everybody: a pattern of the brief, or `control plane`.
    pub protected: Option<String>,
}

/// The rules for one path and one agent.
#[derive(Clone, Debug, Serialize)]
pub struct AgentRules {
    /// The agent.
    pub agent: Agent,
    /// Whether its changes may land at once.
    pub approval: Approval,
    /// Whether it needs a nonce.
    pub dispatch: Dispatch,
    /// The gates that look at the file.
    pub gates: Vec<Name>,
    /// Whether it may file changes of it.
    pub may: bool,
    /// Why not.
    pub reason: Option<Refusal>,
    /// The first scope that takes it in.
    pub scope: Option<String>,
}

/// The rules for a path, for one agent or for all. The error says why it is no path of a file there.
pub fn rules(
    project: &OpenProject,
    brief: &Brief,
    asked: &str,
    only: Option<&Agent>,
) -> Result<Rules, String> {
    let path = ProjectPath::normalise(asked).map_err(|e| e.to_string())?;
    let path = project.tree().resolve(&path).map_err(|e| e.to_string())?.path;
    let by = brief.protected.iter().find(|reach| reach.contains(&path));
    let protected = match is_control_plane(&path) {
        true => Some("control plane".to_owned()),
        false => by.map(ToString::to_string),
    };
    let wanted = brief.agents.iter().filter(|(agent, _)| only.is_none_or(|only| only == *agent));
    let agents = wanted.map(|(agent, entry)| of_agent(brief, agent, entry, &path)).collect();
    Ok(Rules { agents, asked: asked.to_owned(), path, protected })
}

/// What keeps the gates of a brief from running, and its direct grants from being signed. One line each.
pub fn unsignable(project: &OpenProject, brief: &Brief) -> Vec<String> {
    let mut problems = Vec::new();
    for (agent, entry) in &brief.agents {
        if entry.approval == Approval::Direct {
            let all = uncovered(agent, entry, brief).into_iter();
            problems.extend(all.map(|problem| format!("agents.{agent}: {problem}")));
        }
    }
    for (name, gate) in &brief.gates {
        if let Err(why) = identity(project, gate) {
            problems.push(format!("gates.{name}: {why}"));
        }
    }
    problems
}

fn of_agent(brief: &Brief, agent: &Agent, entry: &AgentEntry, path: &ProjectPath) -> AgentRules {
    let asker = Asker { brief, agent: Some((agent, entry)) };
    let refused = check_path(&asker, path).err();
    let scope = entry.write_scopes.iter().find(|scope| scope.contains(path));
    let gates = brief.gates_for(Some(entry), path, &[]);
    AgentRules {
        agent: agent.clone(),
        approval: entry.approval,
        dispatch: entry.dispatch,
        gates: gates.into_iter().map(|(name, _)| name.clone()).collect(),
        may: refused.is_none(),
        reason: refused.map(|denied| denied.reason),
        scope: scope.map(ToString::to_string),
    }
}
