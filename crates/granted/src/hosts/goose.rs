//! Goose: the user's `goose/config.yaml`. It has none for a project.

use std::str::FromStr as _;

use yaml_edit::{Document, Mapping, MappingBuilder, SequenceBuilder};

use super::{SERVER, Wiring};

/// The extension with the built-in tools that edit files, where the file says nothing of it.
const DEVELOPER: &str = "\
extensions:
  developer:
    bundled: true
    enabled: false
    name: developer
    timeout: 300
    type: builtin
";

/// Enters the server as an extension, and switches the one off that edits files.
pub(super) fn config(text: &str, wiring: &Wiring) -> Result<String, String> {
    let file = parse(text)?;
    let has = file.as_mapping().is_some_and(|top| top.get("extensions").is_some());
    let file = match has {
        true => file,
        false if text.is_empty() || text.ends_with('\n') => parse(&format!("{text}{DEVELOPER}"))?,
        false => parse(&format!("{text}\n{DEVELOPER}"))?,
    };
    let top = file.as_mapping().ok_or("it is no mapping")?;
    let extensions = top.get_mapping("extensions").ok_or("`extensions` is no mapping")?;
    match extensions.get_mapping("developer") {
        Some(developer) if text_of(&developer, "enabled").as_deref() == Some("false") => {}
        Some(developer) => developer.set("enabled", false),
        None => {
            let developer = MappingBuilder::new()
                .pair("bundled", true)
                .pair("enabled", false)
                .pair("name", "developer")
                .pair("timeout", 300)
                .pair("type", "builtin");
            extensions.set("developer", built(developer)?);
        }
    }
    if !is_entered(&extensions, wiring) {
        let args =
            wiring.args.iter().fold(SequenceBuilder::new(), |args, arg| args.item(arg.as_str()));
        let args = args.build_document().as_sequence().ok_or("a list was not built")?;
        let envs = wiring.env.iter().fold(MappingBuilder::new(), |envs, (name, value)| {
            envs.pair(name.as_str(), value.as_str())
        });
        let entry = MappingBuilder::new()
            .pair("type", "stdio")
            .pair("name", SERVER)
            .pair("enabled", true)
            .pair("cmd", wiring.command.as_str())
            .pair("args", args);
        let entry = match wiring.env.is_empty() {
            true => entry,
            false => entry.pair("envs", built(envs)?),
        };
        extensions.set(SERVER, built(entry.pair("timeout", 900))?);
    }
    Ok(file.to_string())
}

fn parse(text: &str) -> Result<Document, String> {
    let is_remark = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    match text.lines().all(is_remark) {
        true => Document::from_str("{}\n"),
        false => Document::from_str(text),
    }
    .map_err(|e| e.to_string())
}

fn built(builder: MappingBuilder) -> Result<Mapping, String> {
    builder.build_document().as_mapping().ok_or_else(|| "a mapping was not built".into())
}

/// A scalar, as it counts.
fn text_of(mapping: &Mapping, name: &str) -> Option<String> {
    Some(mapping.get(name)?.as_scalar()?.as_string())
}

/// Whether the server is entered already, as it is to be.
fn is_entered(extensions: &Mapping, wiring: &Wiring) -> bool {
    let Some(entry) = extensions.get_mapping(SERVER) else { return false };
    let is = |name: &str, wanted: &str| text_of(&entry, name).as_deref() == Some(wanted);
    let args: Option<Vec<String>> = entry
        .get_sequence("args")
        .map(|args| args.values().filter_map(|arg| Some(arg.as_scalar()?.as_string())).collect());
    let envs = wiring.env.iter().all(|(name, value)| {
        let envs = entry.get_mapping("envs");
        envs.and_then(|envs| text_of(&envs, name)).as_deref() == Some(value)
    });
    is("type", "stdio")
        && is("enabled", "true")
        && is("cmd", &wiring.command)
        && args.as_ref() == Some(&wiring.args)
        && envs
}
