//! The server's process, with frames as they stand on the wire.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{BRIEF, World};

#[test]
fn an_agent_has_the_tools_of_its_brief_and_no_others() {
    let world = World::new();
    let mut names = Vec::new();
    for agent in ["producer", "reader"] {
        let mut client = world.serve(agent);
        let list = client.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        for tool in &tools {
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert!(tool["description"].as_str().unwrap().len() > 200, "{tool}");
            assert!(tool["outputSchema"]["required"].is_array() && tool["annotations"].is_object());
            let required = tool["inputSchema"]["required"].as_array().unwrap();
            let files = tool["annotations"]["readOnlyHint"] == false;
            assert_eq!(required.contains(&json!("dispatch")), files, "{tool}");
        }
        names.push(tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>());
        client.end();
    }
    let all =
        ["read_file_hashed", "write_file", "delete_file", "propose_changes", "request_status"];
    assert_eq!(names, [json!(all).as_array().unwrap().clone(), vec![json!(all[0]), json!(all[4])]]);
    let mut client = world.serve("reader");
    let (code, why) = client.refused_call("write_file", world.change("src/a.txt", "x", "0"));
    assert_eq!(code, -32602);
    assert!(why.contains("the tools are `read_file_hashed` and `request_status`"), "{why}");
    client.end();
    let run = world.home.say("writes mcp --agent nobody --project site").exits(1);
    assert!(run.stderr.contains("names no agent `nobody`"), "{run:?}");
}

#[test]
fn what_is_filed_is_staged_and_approved_by_the_person() {
    let world = World::new();
    let nonce = world.nonce("producer");
    let mut client = world.serve("producer");
    let read = client.call("read_file_hashed", json!({"path": "./src//a.txt"}));
    assert_eq!(
        (&read["content"], &read["base_sha256"]),
        (&json!("one\n"), &json!(world.base("src/a.txt")))
    );
    let mut change = world.change("src/a.txt", "two\n", &nonce);
    change["key"] = "k1".into();
    let filed = client.call("write_file", change.clone());
    assert_eq!(
        (&filed["status"], &filed["replayed"]),
        (&json!("staged"), &json!(false)),
        "{filed}"
    );
    assert_eq!(filed["not_direct"], "agent `producer` has no direct grant");
    assert_eq!(filed["gates"][0]["gate"], "fine");
    assert_eq!(world.text("src/a.txt"), "one\n");
    // The same again is the same; another under its key is refused.
    let again = client.call("write_file", change.clone());
    assert_eq!((&again["request_id"], &again["replayed"]), (&filed["request_id"], &json!(true)));
    change["content"] = "three\n".into();
    assert_eq!(client.call("write_file", change)["reason"], "key_reused");
    let (id, digest) = (filed["request_id"].as_str().unwrap(), filed["digest"].as_str().unwrap());
    world.home.say(&format!("writes approve {id} --digest {digest} --by me")).ok();
    assert_eq!(world.text("src/a.txt"), "two\n");
    let status = client.call("request_status", json!({"request_id": id}));
    assert_eq!(status["status"], "applied");
    // Nobody else's requests are shown.
    let mut reader = world.serve("reader");
    for id in [id, "01J8ZC3V9Q6W5T4R3E2W1Q0PAS"] {
        let status = reader.call("request_status", json!({"request_id": id}));
        assert_eq!(status, json!({"status": "none", "request_id": id, "replayed": false}));
    }
    reader.end();
    client.end();
    world.home.verify();
}

#[test]
fn bytes_and_several_files_are_filed_whole() {
    let world = World::new();
    let nonce = world.nonce("producer");
    let mut client = world.serve("producer");
    let changes = json!([
        {"path": "src/b.bin", "content": "AP8=", "encoding": "base64", "base_sha256": "absent"},
        {"path": "src/a.txt", "content": null, "base_sha256": world.base("src/a.txt")},
    ]);
    let call = json!({"changes": changes, "rationale": "r", "dispatch": nonce});
    let filed = client.call("propose_changes", call);
    assert_eq!((&filed["status"], &filed["files"][0]["bytes"]), (&json!("staged"), &json!(2)));
    assert_eq!(filed["files"][1]["sha256"], "absent");
    let (id, digest) = (filed["request_id"].as_str().unwrap(), filed["digest"].as_str().unwrap());
    world.home.say(&format!("writes approve {id} --digest {digest} --by me")).ok();
    let read = client.call("read_file_hashed", json!({"path": "src/b.bin"}));
    assert_eq!((&read["encoding"], &read["content"]), (&json!("base64"), &json!("AP8=")));
    let read = client.call("read_file_hashed", json!({"path": "src/a.txt"}));
    assert_eq!((&read["exists"], &read["base_sha256"]), (&json!(false), &json!("absent")));
    client.end();
}

#[test]
fn what_is_no_business_of_an_agent_is_not_read() {
    let world = World::new();
    for path in [".env", ".git/config", "tls/server.pem", "id_ed25519", "src/.ssh/known"] {
        world.home.write(&format!("site/{path}"), "secret");
    }
    world.home.write("outside", "secret");
    world.home.write("site/large", vec![b'x'; 256 * 1024 + 1]);
    symlink(".env", world.path("env")).unwrap();
    symlink("env", world.path("again")).unwrap();
    symlink("../outside", world.path("out")).unwrap();
    symlink(".git", world.path("git")).unwrap();
    let mut client = world.serve("reader");
    for (path, reason) in [
        (".env", "protected"),
        (".ENV", "protected"),
        ("env", "protected"),
        ("again", "protected"),
        (".git/config", "protected"),
        ("git/config", "protected"),
        ("granted.toml", "protected"),
        ("tls/server.pem", "protected"),
        ("id_ed25519", "protected"),
        ("src/.ssh/known", "protected"),
        ("out", "bad_path"),
        ("../outside", "bad_path"),
        ("/etc/passwd", "bad_path"),
        ("src", "bad_path"),
        ("a\\b", "bad_path"),
        ("large", "too_large"),
    ] {
        let read = client.call("read_file_hashed", json!({"path": path}));
        assert_eq!(
            (&read["status"], &read["reason"]),
            (&json!("refused"), &json!(reason)),
            "{path}: {read}"
        );
        assert!(!read.to_string().contains("secret\""), "{read}");
    }
    let rows = world.home.rows().len();
    // A tool that the brief takes away is gone at once.
    world.home.write(
        "site/granted.toml",
        BRIEF.replace("['read_file_hashed', 'request_status']", "['request_status']"),
    );
    let read = client.call("read_file_hashed", json!({"path": "src/a.txt"}));
    assert_eq!(read["reason"], "not_in_brief");
    let list = client.ask("tools/list", json!({}));
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 1);
    client.end();
    assert_eq!(world.home.rows().len(), rows, "reading writes no row");
}

#[test]
fn bad_arguments_are_errors_and_leave_no_row() {
    let world = World::new();
    let mut client = world.serve("producer");
    let rows = world.home.rows().len();
    let good = world.change("src/a.txt", "x", "0");
    for (name, value, says) in [
        ("path", json!(1), "`path` must be a string"),
        ("content", Value::Null, "`content` must be a string"),
        ("base_sha256", json!("ABC"), "64 hexadecimal digits"),
        ("encoding", json!("latin1"), "`encoding`"),
        ("rationale", json!(""), "`rationale`"),
        ("gates", json!("fine"), "`gates`"),
        ("gates", json!([1]), "`gates`"),
        ("key", json!("\u{202e}"), "`key`"),
        ("more", json!(1), "unknown argument `more`"),
    ] {
        let mut call = good.clone();
        call[name] = value;
        let (code, why) = client.refused_call("write_file", call);
        assert!(code == -32602 && why.contains(says), "{name}: {why}");
    }
    let mut call = good.clone();
    call["encoding"] = "base64".into();
    call["content"] = "*".into();
    assert!(client.refused_call("write_file", call).1.contains("no base 64"));
    for changes in [json!([]), json!(1), json!([1]), json!([{"path": "a"}])] {
        let call = json!({"changes": changes, "rationale": "r"});
        assert_eq!(client.refused_call("propose_changes", call).0, -32602);
    }
    assert_eq!(client.refused_call("request_status", json!({"request_id": "x"})).0, -32602);
    client.end();
    assert_eq!(world.home.rows().len(), rows);
}

#[test]
fn a_refusal_is_a_result_with_a_reason_and_a_row() {
    let world = World::new();
    let nonce = world.nonce("producer");
    let mut client = world.serve("producer");
    let mut stale = world.change("src/a.txt", "x", &nonce);
    stale["base_sha256"] = "0".repeat(64).into();
    let refused = client.call("write_file", stale);
    assert_eq!(refused["reason"], "stale_base");
    assert_eq!(
        refused["current"],
        json!({"path": "src/a.txt", "base_sha256": world.base("src/a.txt")})
    );
    for (path, reason) in [
        ("docs/x", "out_of_scope"),
        ("src/locked/x", "protected"),
        (".git/hooks/x", "protected"),
        ("granted.toml", "protected"),
        ("../x", "bad_path"),
    ] {
        let refused = client.call("write_file", world.change(path, "x", &nonce));
        assert_eq!(
            (&refused["status"], &refused["reason"]),
            (&json!("refused"), &json!(reason)),
            "{path}"
        );
        assert!(refused["request_id"].is_string());
    }
    assert_eq!(world.home.rows_of("write.refused").len(), 6);
    client.end();
    world.home.verify();
}
