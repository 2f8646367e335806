//! Claude Code: `.mcp.json` and `.claude/settings.json` in the project.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};

use super::{SERVER, Wiring};

/// Its tools that write files. A rule with a name alone takes the whole tool away.
const EDITORS: [&str; 3] = ["Edit", "Write", "NotebookEdit"];

/// Reads a file, of which an empty one is an empty object.
fn parse(text: &str) -> Result<(CstRootNode, CstObject), String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        ..ParseOptions::default()
    };
    let root = CstRootNode::parse(text, &strict).map_err(|e| e.to_string())?;
    let object = root.object_value().ok_or("it is no JSON object")?;
    Ok((root, object))
}

fn object(parent: &CstObject, name: &str) -> Result<CstObject, String> {
    let found = parent.object_value_or_create(name);
    found.ok_or_else(|| format!("`{name}` is no object"))
}

/// `.mcp.json`: the server.
pub(super) fn servers(text: &str, wiring: &Wiring) -> Result<String, String> {
    let (root, top) = parse(text)?;
    let servers = object(&top, "mcpServers")?;
    let entry = object(&servers, SERVER)?;
    let strings = |texts: &[String]| {
        CstInputValue::Array(texts.iter().map(|text| text.as_str().into()).collect())
    };
    let args = serde_json::json!(wiring.args);
    set(&entry, "command", &serde_json::json!(wiring.command), wiring.command.as_str().into());
    set(&entry, "args", &args, strings(&wiring.args));
    if !wiring.env.is_empty() {
        let env = object(&entry, "env")?;
        for (name, value) in &wiring.env {
            set(&env, name, &serde_json::json!(value), value.as_str().into());
        }
    }
    Ok(root.to_string())
}

/// `.claude/settings.json`: what is denied.
pub(super) fn settings(text: &str, wiring: &Wiring) -> Result<String, String> {
    let (root, top) = parse(text)?;
    let permissions = object(&top, "permissions")?;
    let deny = permissions.array_value_or_create("deny").ok_or("`deny` is no list")?;
    let has = |rule: &str| {
        let value =
            |element: jsonc_parser::cst::CstNode| element.as_string_lit()?.decoded_value().ok();
        deny.elements().into_iter().filter_map(value).any(|found| found == rule)
    };
    let mut rules: Vec<String> = EDITORS.map(str::to_owned).to_vec();
    for folder in &wiring.closed {
        // A path that begins with two slashes is absolute.
        rules.extend(["Read", "Edit"].map(|tool| format!("{tool}(/{folder}/**)")));
    }
    deny.ensure_multiline();
    for rule in rules {
        if !has(&rule) {
            deny.append(rule.as_str().into());
        }
    }
    Ok(root.to_string())
}

/// Sets a member, unless it is that already.
fn set(object: &CstObject, name: &str, wanted: &serde_json::Value, value: CstInputValue) {
    match object.get(name) {
        Some(member)
            if member.value().and_then(|v| v.to_serde_value()).as_ref() == Some(wanted) => {}
        Some(member) => member.set_value(value),
        None => _ = object.append(name, value),
    }
}
