//! Codex CLI: `.codex/config.toml` in the project.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::{SERVER, Wiring};

/// Enters the server, and a permission profile in which nothing is written.
pub(super) fn config(text: &str, wiring: &Wiring) -> Result<String, String> {
    let mut file: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    if file.contains_key("sandbox_mode") {
        let why = "`sandbox_mode` keeps permission profiles from counting: take it out first";
        return Err(why.into());
    }
    if let Some(other) = file.get("default_permissions").filter(|p| p.as_str() != Some(SERVER)) {
        let other = other.as_str().unwrap_or("something else");
        return Err(format!("`default_permissions` is `{other}`: take it out first"));
    }
    set(file.as_table_mut(), "default_permissions", SERVER.into());
    let server = table(file.as_table_mut(), &["mcp_servers", SERVER])?;
    set(server, "command", wiring.command.as_str().into());
    set(server, "args", wiring.args.iter().map(String::as_str).collect::<Array>().into());
    if !wiring.env.is_empty() {
        let env = table(server, &["env"])?;
        for (name, text) in &wiring.env {
            set(env, name, text.as_str().into());
        }
    }
    let profile = table(file.as_table_mut(), &["permissions", SERVER])?;
    set(profile, "extends", ":read-only".into());
    let files = table(profile, &["filesystem"])?;
    for folder in &wiring.closed {
        set(files, folder, "deny".into());
    }
    Ok(file.to_string())
}

/// The table at this path, made where it is missing.
fn table<'t>(parent: &'t mut Table, path: &[&str]) -> Result<&'t mut Table, String> {
    let mut found = parent;
    for (at, name) in path.iter().enumerate() {
        let mut missing = Table::new();
        // Only the last has a heading of its own.
        missing.set_implicit(at + 1 < path.len());
        let item = found.entry(name).or_insert(Item::Table(missing));
        found = item.as_table_mut().ok_or_else(|| format!("`{name}` is no table"))?;
    }
    Ok(found)
}

/// Sets a key, unless it is that already.
fn set(table: &mut Table, name: &str, wanted: toml_edit::Value) {
    let plain = |value: &toml_edit::Value| value.clone().decorated("", "").to_string();
    let is = table.get(name).and_then(Item::as_value).map(plain);
    let same = match (&wanted, table.get(name).and_then(Item::as_array)) {
        (toml_edit::Value::Array(wanted), Some(is)) => {
            let texts = |array: &Array| -> Vec<Option<String>> {
                array.iter().map(|value| value.as_str().map(str::to_owned)).collect()
            };
            texts(wanted) == texts(is)
        }
        _ => is.as_deref() == Some(plain(&wanted).as_str()),
    };
    if same {
        return;
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        // What stands around it stays, such as a comment behind it.
        Some(is) => {
            let decor = is.decor().clone();
            *is = wanted;
            *is.decor_mut() = decor;
        }
        None => _ = table.insert(name, value(wanted)),
    }
}
