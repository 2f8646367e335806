//! The merges, on files of the shape that each host documents.

use super::*;

fn wiring() -> Wiring {
    Wiring {
        command: "/usr/bin/granted".into(),
        args: ["writes", "mcp", "--agent", "producer", "--project", "/p q"]
            .map(str::to_owned)
            .into(),
        env: vec![("GRANTED_HOME".into(), "/h".into())],
        closed: vec!["/h/direct-grants".into(), "/h/keys".into()],
    }
}

/// A merge of this file; once more changes nothing.
#[track_caller]
fn merged(merge: Merge, text: &str) -> String {
    let once = merge(text, &wiring()).unwrap();
    assert_eq!(merge(&once, &wiring()).unwrap(), once, "a second time");
    once
}

#[test]
fn claude_code_knows_the_server() {
    let new = merged(claude_code::servers, "");
    let value: serde_json::Value = serde_json::from_str(&new).unwrap();
    let server = &value["mcpServers"]["granted-writes"];
    assert_eq!(server["command"], "/usr/bin/granted");
    assert_eq!(server["args"][3], "producer");
    assert_eq!(server["env"]["GRANTED_HOME"], "/h");
    let there = r#"{
    "zebra": 1,
    "mcpServers": {
        "github": { "type": "http", "url": "https://example.com/mcp" },
        "granted-writes": { "command": "old", "args": ["x"], "timeout": 9 }
    }
}
"#;
    let both = merged(claude_code::servers, there);
    assert!(both.starts_with("{\n    \"zebra\": 1,\n"), "{both}");
    let value: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(value["mcpServers"]["github"]["type"], "http");
    let server = &value["mcpServers"]["granted-writes"];
    assert_eq!((&server["command"], &server["timeout"]), (&"/usr/bin/granted".into(), &9.into()));
}

#[test]
fn claude_code_denies_its_editors_and_the_closed_folders() {
    let there = r#"{"permissions": {"allow": ["Bash(npm run test)"], "deny": ["WebFetch", "Edit"]}, "model": "m"}"#;
    for text in ["", there] {
        let value: serde_json::Value =
            serde_json::from_str(&merged(claude_code::settings, text)).unwrap();
        let deny: Vec<&str> = value["permissions"]["deny"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule.as_str().unwrap())
            .collect();
        for rule in
            ["Edit", "Write", "NotebookEdit", "Edit(//h/keys/**)", "Read(//h/direct-grants/**)"]
        {
            assert_eq!(
                deny.iter().filter(|found| **found == rule).count(),
                1,
                "{rule} in {deny:?}"
            );
        }
        assert_eq!(deny.contains(&"WebFetch"), !text.is_empty());
    }
}

#[test]
fn codex_has_the_server_and_a_profile_that_writes_nothing() {
    let there = "\
# mine
model = \"gpt-5.2\" # keep

[mcp_servers.docs] # the manuals
command = \"docs\"

[mcp_servers.granted-writes]
command = \"old\" # why
startup_timeout_sec = 20
";
    let both = merged(codex::config, there);
    assert!(both.contains("# mine\nmodel = \"gpt-5.2\" # keep\n"), "{both}");
    assert!(both.contains("[mcp_servers.docs] # the manuals\n"), "{both}");
    assert!(both.contains("command = \"/usr/bin/granted\" # why\n"), "{both}");
    assert!(both.contains("startup_timeout_sec = 20\n"), "{both}");
    for text in ["", there] {
        let value: toml::Table = merged(codex::config, text).parse().unwrap();
        assert_eq!(value["default_permissions"].as_str(), Some("granted-writes"));
        let profile = &value["permissions"]["granted-writes"];
        assert_eq!(profile["extends"].as_str(), Some(":read-only"));
        assert_eq!(profile["filesystem"]["/h/keys"].as_str(), Some("deny"));
        let server = &value["mcp_servers"]["granted-writes"];
        assert_eq!(server["args"][5].as_str(), Some("/p q"));
        assert_eq!(server["env"]["GRANTED_HOME"].as_str(), Some("/h"));
    }
    for (text, name) in [
        ("sandbox_mode = \"workspace-write\"", "sandbox_mode"),
        ("default_permissions = \"mine\"", "`mine`"),
    ] {
        assert!(codex::config(text, &wiring()).unwrap_err().contains(name));
    }
}

#[test]
fn goose_has_the_server_and_no_developer_extension() {
    let there = "\
# Model Configuration
active_provider: anthropic
providers:
  anthropic:
    enabled: true
    model: claude-sonnet-4-5-20250929

# Extensions Configuration
extensions:
  developer:
    bundled: true
    enabled: true # for now
    name: developer
    timeout: 300
    type: builtin

  memory:
    bundled: true
    enabled: true
    name: memory
    timeout: 300
    type: builtin

# Recipe Configuration
GOOSE_RECIPE_GITHUB_REPO: \"aaif-goose/goose-recipes\"
";
    let both = merged(goose::config, there);
    for line in there.lines().filter(|line| !line.contains("for now")) {
        assert!(both.lines().any(|found| found == line), "{line} in\n{both}");
    }
    assert!(both.contains("    enabled: false # for now\n"), "{both}");
    for text in [
        "",
        "# only a remark\n",
        "GOOSE_MODE: auto",
        there,
        "extensions:\n  memory:\n    enabled: true\n",
    ] {
        let both = merged(goose::config, text);
        let value: yaml_edit::Document = both.parse().unwrap();
        let top = value.as_mapping().unwrap();
        let extensions = top.get_mapping("extensions").unwrap();
        let off = extensions.get_mapping("developer").unwrap();
        assert_eq!(off.get("enabled").unwrap().as_scalar().unwrap().as_string(), "false");
        let own = extensions.get_mapping("granted-writes").unwrap();
        assert_eq!(own.get("cmd").unwrap().as_scalar().unwrap().as_string(), "/usr/bin/granted");
        assert_eq!(own.get_sequence("args").unwrap().len(), 6);
        let home = own.get_mapping("envs").unwrap().get("GRANTED_HOME").unwrap();
        assert_eq!(home.as_scalar().unwrap().as_string(), "/h");
    }
}

#[test]
fn what_is_no_config_is_not_touched() {
    for (merge, texts) in [
        (claude_code::servers as Merge, &["[]", "{", "{\"mcpServers\": []}", "// {}"][..]),
        (claude_code::settings, &["{\"permissions\": {\"deny\": \"all\"}}"][..]),
        (codex::config, &["a = ", "mcp_servers = 1"][..]),
        (goose::config, &["- a\n", "extensions: 1\n"][..]),
    ] {
        for text in texts {
            assert!(merge(text, &wiring()).is_err(), "{text}");
        }
    }
}
