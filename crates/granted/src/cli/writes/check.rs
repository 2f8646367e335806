//! `granted writes check`

use granted_core::text::{Shown, for_shell};
use granted_core::write::brief::{Approval, Dispatch};
use granted_core::write::{Agent, Brief, Project};
use serde::Serialize;

use super::super::args::book;
use super::super::failure::Failure;
use super::super::out::{Mark, Out};
use super::ProjectArgs;
use super::request::unnamed;
use crate::home::Home;
use crate::hosts::{Host, Wiring};
use crate::write::check::{AgentRules, Rules, rules};

/// Explain what a project's brief says: of the whole, or of these paths.
///
/// Where granted.toml is wrong, it says what and in which line. For a path it says who may write it, by which
/// scope, which gates look at it, and what protects it. It looks for the program and the files of each gate,
/// and for what `sign` would refuse; it runs no gate.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A file, relative to the project's root; it need not be there.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Only for this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<Agent>,
    #[command(flatten)]
    project: ProjectArgs,
    /// Look at the config files of Claude Code, Codex and Goose too: whether the server is entered, and the
    /// tools that edit are denied.
    #[arg(long)]
    wiring: bool,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes check
  granted writes check src/app.py --agent producer
  granted writes check --wiring";

#[derive(Serialize)]
struct CheckJson<'a> {
    paths: &'a [Rules],
    problems: &'a [String],
    wiring: &'a [WiringJson],
}

#[derive(Serialize)]
struct WiringJson {
    agent: Option<Agent>,
    host: &'static str,
    problem: Option<String>,
    wired: bool,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let project = args.project.open()?;
    let (brief, problems) = project.look()?;
    if let Some(agent) = args.agent.as_ref().filter(|agent| !brief.agents.contains_key(*agent)) {
        return Err(unnamed(&project, &brief, agent));
    }
    let mut paths = Vec::new();
    for path in &args.paths {
        let found = rules(&project, &brief, path, args.agent.as_ref());
        paths.push(found.map_err(Failure::usage)?);
    }
    let wiring = match args.wiring {
        true => wired(book.home(), project.name(), &brief, args.agent.as_ref()),
        false => Vec::new(),
    };
    let is_wired = !args.wiring || wiring.iter().any(|host| host.wired);
    let is_wrong = |host: &WiringJson| host.problem.is_some();
    let code = u8::from(!problems.is_empty() || !is_wired || wiring.iter().any(is_wrong));
    if out.is_json() {
        out.value(&CheckJson { paths: &paths, problems: &problems, wiring: &wiring });
        return Ok(code);
    }
    for problem in &problems {
        out.line(format_args!("{} {}", out.marked("wrong", Mark::Bad), Shown(problem)));
    }
    if paths.is_empty() && !args.wiring && problems.is_empty() {
        for line in summary(&brief, args.agent.as_ref()) {
            out.line(line);
        }
        if brief.agents.is_empty() {
            out.line("the brief names no agent, so nobody may write here");
        }
    }
    for rules in &paths {
        show(rules, out);
    }
    for host in &wiring {
        let word = match (&host.problem, host.wired) {
            (Some(_), _) => out.marked("wrong", Mark::Bad),
            (None, true) => out.marked("wired", Mark::Good),
            (None, false) => "absent".to_owned(),
        };
        let agent = host.agent.as_ref().map(|agent| format!(" for agent `{agent}`"));
        let why = host.problem.as_ref().map(|why| format!(": {}", Shown(why)));
        out.line(format_args!(
            "{word} {}{}{}",
            host.host,
            agent.unwrap_or_default(),
            why.unwrap_or_default()
        ));
    }
    if !is_wired {
        out.remark(format_args!(
            "hint: granted writes setup claude-code --agent NAME --project {} --write",
            for_shell(project.name().as_str())
        ));
    }
    Ok(code)
}

/// The brief in a line for each agent.
fn summary(brief: &Brief, only: Option<&Agent>) -> Vec<String> {
    let wanted = brief.agents.iter().filter(|(agent, _)| only.is_none_or(|only| only == *agent));
    let line = |(agent, entry): (&Agent, &granted_core::write::brief::AgentEntry)| {
        let tools: Vec<&str> = entry.tools.iter().map(|tool| tool.as_str()).collect();
        let scopes: Vec<String> =
            entry.write_scopes.iter().map(|scope| format!("`{scope}`")).collect();
        let scopes = if scopes.is_empty() { "nothing".to_owned() } else { scopes.join(", ") };
        let how = terms(entry.approval, entry.dispatch);
        format!("{agent}: writes {scopes}, {how}; tools {}", tools.join(", "))
    };
    wanted.map(line).collect()
}

fn terms(approval: Approval, dispatch: Dispatch) -> &'static str {
    match (approval, dispatch) {
        (Approval::Staged, Dispatch::Optional) => "staged",
        (Approval::Staged, Dispatch::Required) => "staged, with a dispatch",
        (Approval::Direct, _) => "direct under a signed grant, with a dispatch",
    }
}

fn show(rules: &Rules, out: &Out) {
    let Rules { asked, path, protected, agents } = rules;
    let leads =
        if path.as_str() == asked { String::new() } else { format!(" (asked: {})", Shown(asked)) };
    let by = match protected {
        Some(by) => format!(": protected by {}", Shown(by)),
        None => String::new(),
    };
    out.line(format_args!("{path}{leads}{by}"));
    for agent in agents {
        let AgentRules { agent, may, reason, scope, gates, approval, dispatch } = agent;
        let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
        let gates = if gates.is_empty() {
            "no gate".to_owned()
        } else {
            format!("gates {}", gates.join(", "))
        };
        match (may, scope, reason) {
            (true, Some(scope), _) => out.line(format_args!(
                "  {agent}: {} by scope `{scope}`; {gates}; {}",
                out.marked("may", Mark::Good),
                terms(*approval, *dispatch)
            )),
            (_, _, reason) => out.line(format_args!(
                "  {agent}: {}: {}",
                out.marked("may not", Mark::Bad),
                reason.map_or("refused", granted_core::write::Refusal::as_str)
            )),
        }
    }
}

/// How each host is wired, for this agent or for any of the brief.
fn wired(home: &Home, project: &Project, brief: &Brief, only: Option<&Agent>) -> Vec<WiringJson> {
    let agents: Vec<&Agent> = match only {
        Some(agent) => vec![agent],
        None => brief.agents.keys().collect(),
    };
    Host::ALL.into_iter().map(|host| wired_host(host, home, project, &agents)).collect()
}

fn wired_host(host: Host, home: &Home, project: &Project, agents: &[&Agent]) -> WiringJson {
    let (mut there, mut problem) = (false, None);
    for agent in agents {
        let plan = Wiring::new(home, project, agent).and_then(|wiring| host.plan(project, &wiring));
        match plan {
            Ok(plan) if plan.iter().all(|planned| planned.is_done()) => {
                let agent = Some((*agent).clone());
                return WiringJson { agent, host: host.as_str(), problem: None, wired: true };
            }
            Ok(plan) => {
                there |= plan.iter().any(|planned| {
                    planned.before.as_ref().is_some_and(|text| text.contains("granted-writes"))
                });
                let undone = plan.iter().find(|planned| !planned.is_done());
                problem = undone.map(|planned| {
                    let path = planned.path.display();
                    format!(
                        "`{path}` is not what `granted writes setup {}` makes it",
                        host.as_str()
                    )
                });
            }
            Err(why) => (there, problem) = (true, Some(why)),
        }
    }
    let problem = problem.filter(|_| there);
    WiringJson { agent: None, host: host.as_str(), problem, wired: false }
}
