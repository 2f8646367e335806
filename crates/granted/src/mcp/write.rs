//! The tools of writes: read a file, file changes, see what became of them. An agent has those that the
//! brief names.

use std::sync::Arc;

use base64ct::{Base64, Encoding as _};
use granted_core::digest::Digest;
use granted_core::write::brief::{Tool as Named, twice};
use granted_core::write::{Agent, Brief, Project, Side};
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ErrorData, JsonObject, Tool};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::watch;

mod answer;
mod schema;
mod tools;

use super::arguments::{Arguments, invalid};
use super::attempts::{Attempts, Client, Left};
use super::readings::Readings;
use super::server::{Server, Tools, no_tool};
use super::wire::End;
use crate::book::Book;
use crate::write::expire::expire;
use crate::write::file::{Change, Proposal, file};
use crate::write::gather;
use crate::write::loaded::{Loaded, StartError};
use crate::write::project::OpenProject;
use crate::write::read::read;
use crate::write::recover::recover;
use answer::{ABSENT, Answer, Content};

/// The most changes of one call: more than any brief allows.
const MAX_CHANGES: usize = 64;
/// The most gates that a call names.
const MAX_GATES: usize = 32;

/// The agent's door to the files of one project.
pub struct Writes {
    book: Book,
    project: Project,
    agent: Agent,
    /// The brief at the start: what it did not give then is not given before another start.
    brief: Brief,
    loaded: Loaded,
    attempts: Arc<Attempts>,
    readings: Readings,
}

impl Server<Writes> {
    /// A server for this agent of a project. Verifies and records the direct grants.
    pub fn start(
        book: Book,
        project: &OpenProject,
        agent: Agent,
    ) -> Result<Server<Writes>, StartError> {
        // What cannot be seen to now is tried again each minute, and told then.
        let _ = recover(&book, Side::Agent, Some(project.name()));
        let end = watch::Sender::new(End::Open);
        let writes = Writes {
            brief: project.brief()?.brief,
            loaded: Loaded::start(&book, project, agent.clone())?,
            book,
            project: project.name().clone(),
            agent,
            attempts: Arc::new(Attempts::new(end.clone())),
            readings: Readings::new(),
        };
        Ok(Server::of(writes, end))
    }

    /// The book, the project, the agent and how its changes are written, in one line.
    pub fn describe(&self) -> String {
        let Writes { book, project, agent, loaded, .. } = self.tools();
        let direct = match loaded.off() {
            None => "written directly under a direct grant".to_owned(),
            Some(why) => format!("staged ({why})"),
        };
        format!("{}; project `{project}`; agent `{agent}`; changes are {direct}", book.describe())
    }

    async fn read_file(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let path = args.string("path")?;
        args.end()?;
        let server = self.clone();
        let look = move || {
            let Writes { project, agent, .. } = server.tools();
            let content = Content::from(read(project, agent, &path));
            serde_json::to_value(content).map_err(|e| e.to_string())
        };
        self.tools().readings.make(look).await
    }

    async fn request_status(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let id = args.parsed("request_id")?;
        args.end()?;
        let server = self.clone();
        let look = move || {
            let Writes { book, project, agent, .. } = server.tools();
            let state = gather::request(book, id).map_err(|e| e.to_string())?;
            let own = state.filter(|s| s.agent() == Some(agent) && s.project() == project);
            let answer = own.map_or_else(|| Answer::none(id), |state| Answer::of(&state));
            serde_json::to_value(answer).map_err(|e| e.to_string())
        };
        self.tools().readings.make(look).await
    }

    async fn file(
        &self,
        tool: Named,
        changes: Vec<Change>,
        mut args: Arguments,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let proposal = Proposal {
            agent: self.tools().agent.clone(),
            tool,
            changes,
            rationale: args.required("rationale")?,
            gates: args.list("gates", MAX_GATES)?,
            key: args.optional("key")?,
            dispatch: args.optional_string("dispatch")?,
        };
        args.end()?;
        if let Some(gate) = twice(&proposal.gates) {
            return Err(invalid(format!("`gates` names `{gate}` twice")));
        }
        let server = self.clone();
        let make = move |client: &Client<'_>| server.made(&proposal, client);
        self.tools().attempts.make(make, &context).await
    }

    /// One run of the pipeline, in a thread of its own.
    fn made(&self, proposal: &Proposal, client: &Client<'_>) -> Result<Answer, Left> {
        let Writes { book, project, loaded, .. } = self.tools();
        let filed = file(book, project, proposal, loaded, client.stop, client);
        book.news.tell_aside();
        filed.map(Answer::from)
    }
}

/// One change of `write_file` and `propose_changes`.
fn change(args: &mut Arguments, may_delete: bool) -> Result<Change, ErrorData> {
    let path = args.string("path")?;
    let base64 = match args.optional_string("encoding")?.as_deref() {
        None | Some("utf-8") => false,
        Some("base64") => true,
        Some(_) => return Err(invalid("`encoding` is utf-8 or base64".into())),
    };
    let content = match args.string_or_null("content")? {
        None if may_delete => None,
        None => return Err(invalid("`content` must be a string".into())),
        Some(text) if base64 => match Base64::decode_vec(&text) {
            Ok(bytes) => Some(bytes),
            Err(_) => return Err(invalid("`content` is no base 64".into())),
        },
        Some(text) => Some(text.into_bytes()),
    };
    Ok(Change { path, content, base: base(args)? })
}

/// `base_sha256`.
fn base(args: &mut Arguments) -> Result<Option<Digest>, ErrorData> {
    match args.string("base_sha256")?.as_str() {
        ABSENT => Ok(None),
        text => match Digest::parse(text) {
            Some(digest) => Ok(Some(digest)),
            None => Err(invalid(format!(
                "`base_sha256` is 64 hexadecimal digits in lower case, or `{ABSENT}`"
            ))),
        },
    }
}

/// The changes of `propose_changes`.
fn changes(args: &mut Arguments) -> Result<Vec<Change>, ErrorData> {
    let mut changes = Vec::new();
    for value in args.array("changes", MAX_CHANGES)? {
        let Value::Object(object) = value else {
            return Err(invalid("each of `changes` must be an object".into()));
        };
        let mut args = Arguments::new(object, tools::CHANGE_TAKES);
        changes.push(change(&mut args, true)?);
        args.end()?;
    }
    match changes.is_empty() {
        true => Err(invalid("`changes` must have at least one".into())),
        false => Ok(changes),
    }
}

impl Tools for Writes {
    const LONG: &'static [&'static str] = &["write_file", "delete_file", "propose_changes"];
    // A file of the largest size that a brief may allow fits, as text or in base 64.
    const MAX_FRAME: usize = 8 * 1024 * 1024;

    fn instructions(&self) -> String {
        tools::INSTRUCTIONS.to_owned()
    }

    fn book(&self) -> &Book {
        &self.book
    }

    /// Those of the start that the brief gives still.
    fn list(&self) -> Vec<Tool> {
        let Some(given) = self.brief.agents.get(&self.agent) else { return Vec::new() };
        let now = OpenProject::named(&self.project).and_then(|project| project.brief());
        // What a brief that cannot be read gives is told by each call.
        let Ok(now) = now else { return tools::all(&self.brief, given) };
        let Some(entry) = now.brief.agents.get(&self.agent) else { return Vec::new() };
        let mut entry = entry.clone();
        entry.tools.retain(|tool| given.tools.contains(tool));
        tools::all(&now.brief, &entry)
    }

    fn tick(&self) -> Result<(), String> {
        let seen = recover(&self.book, Side::Agent, Some(&self.project));
        expire(&self.book).map_err(|e| e.to_string())?;
        let seen = seen.map_err(|e| e.to_string())?;
        seen.into_iter().try_for_each(|seen| seen.state.map(drop))
    }

    async fn call(
        server: &Server<Writes>,
        tool: &str,
        args: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Writes { brief, agent, .. } = server.tools();
        let given = brief.agents.get(agent).map_or(&[][..], |entry| &entry.tools);
        let named = given.iter().find(|given| given.as_str() == tool);
        match named {
            Some(Named::ReadFileHashed) => {
                server.read_file(Arguments::new(args, tools::READ_TAKES)).await
            }
            Some(Named::RequestStatus) => {
                server.request_status(Arguments::new(args, tools::STATUS_TAKES)).await
            }
            Some(Named::WriteFile) => {
                let mut args = Arguments::new(args, tools::WRITE_TAKES);
                let changes = vec![change(&mut args, false)?];
                server.file(Named::WriteFile, changes, args, context).await
            }
            Some(Named::DeleteFile) => {
                let mut args = Arguments::new(args, tools::DELETE_TAKES);
                let path = args.string("path")?;
                let changes = vec![Change { path, content: None, base: base(&mut args)? }];
                server.file(Named::DeleteFile, changes, args, context).await
            }
            Some(Named::ProposeChanges) => {
                let mut args = Arguments::new(args, tools::PROPOSE_TAKES);
                let changes = changes(&mut args)?;
                server.file(Named::ProposeChanges, changes, args, context).await
            }
            None => {
                let names: Vec<&str> = given.iter().map(|tool| tool.as_str()).collect();
                Err(no_tool(tool, &names))
            }
        }
    }
}
