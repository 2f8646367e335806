//! Frames that no well-meaning client sends.

use serde_json::{Value, json};

use crate::client::Client;
use crate::home::Home;

/// A frame, and what it is answered with: code, id, and words of the message.
fn hostile() -> Vec<(Vec<u8>, i64, Value, &'static str)> {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"grant_discharge","arguments":{arguments}}}}}"#
        )
    };
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let text = |frame: &str| frame.as_bytes().to_vec();
    vec![
        (text("not json"), -32700, Value::Null, "no JSON"),
        (text("{"), -32700, Value::Null, "no JSON"),
        (text(r#"{"jsonrpc":"2.0","id":7,"method":"ping"} {}"#), -32700, Value::Null, "no JSON"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"p\xff\"}".to_vec(),
            -32700,
            Value::Null,
            "UTF-8",
        ),
        (b"\x00\x01\x02".to_vec(), -32700, Value::Null, "no JSON"),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":1e999}}"#),
            -32700,
            Value::Null,
            "out of range",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":"\ud800"}}"#),
            -32700,
            Value::Null,
            "hex escape",
        ),
        (text("[]"), -32600, Value::Null, "batches are not accepted"),
        (
            text(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#),
            -32600,
            Value::Null,
            "batches are not accepted",
        ),
        (text("5"), -32600, Value::Null, "not accepted"),
        (text("null"), -32600, Value::Null, "not accepted"),
        (text("{}"), -32600, Value::Null, "`jsonrpc` must be"),
        (text(r#"{"id":7,"method":"ping"}"#), -32600, json!(7), "`jsonrpc` must be"),
        (
            text(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#),
            -32600,
            json!(7),
            "`jsonrpc` must be",
        ),
        (text(r#"{"jsonrpc":"2.0","id":7}"#), -32600, json!(7), "`method` must be a string"),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":5}"#),
            -32600,
            json!(7),
            "`method` must be a string",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            -32600,
            Value::Null,
            "`id` must be",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            -32600,
            Value::Null,
            "`id` must be",
        ),
        (text(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), -32600, Value::Null, "`id` must be"),
        (
            text(r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#),
            -32600,
            Value::Null,
            "`id` must be",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#),
            -32600,
            Value::Null,
            "the key `id` stands twice",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}"#),
            -32600,
            json!(7),
            "the key `method` stands twice",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"ping","\u006dethod":"x"}"#),
            -32600,
            json!(7),
            "the key `method` stands twice",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","x":{"a":1,"a":2}}"#),
            -32600,
            json!(7),
            "the key `a` stands twice",
        ),
        (
            text(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}"#,
            ),
            -32600,
            Value::Null,
            "the key `requestId` stands twice",
        ),
        (
            text(&call(r#"{"type":"report","id":"b","id":"a","executor":"send"}"#)),
            -32602,
            json!(7),
            "the key `id` stands twice",
        ),
        (
            text(&call(r#"{"type":"report","id":"a","\u0069d":"a","executor":"send"}"#)),
            -32602,
            json!(7),
            "the key `id` stands twice",
        ),
        (
            text(&call(
                r#"{"type":"report","id":"a","executor":"send","x":[{"y":1,"y\u202e":1,"y\u202e":2}]}"#,
            )),
            -32602,
            json!(7),
            "the key `y\\u{202e}` stands twice",
        ),
        (
            text(
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"grant_status","name":"grant_discharge"}}"#,
            ),
            -32602,
            json!(7),
            "the key `name` stands twice",
        ),
        (text(&call("[]")), -32602, json!(7), "`arguments` must be an object"),
        (text(&call("null")), -32602, json!(7), "`arguments` must be an object"),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#),
            -32602,
            json!(7),
            "`name` is missing",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}"#),
            -32602,
            json!(7),
            "`name` must be a string",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}"#),
            -32602,
            json!(7),
            "`params` must be an object",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":5}"#),
            -32602,
            json!(7),
            "`params` must be an object",
        ),
        (
            text(
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":5}}"#,
            ),
            -32602,
            json!(7),
            "wrong form",
        ),
        (
            text(
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"grant_status","_meta":5}}"#,
            ),
            -32602,
            json!(7),
            "`_meta` must be an object",
        ),
        (text(&call(&format!("{{\"x\":{}}}", deep(64)))), -32600, json!(7), "nested more than 64"),
        (
            text(&call(&format!("{{\"x\":{}}}", deep(100_000)))),
            -32600,
            json!(7),
            "nested more than 64",
        ),
        (text(&deep(400_000)), -32600, Value::Null, "batches are not accepted"),
        (text(&"[".repeat(1_000_000)), -32700, Value::Null, "no JSON"),
        (vec![b'x'; 1024 * 1024 + 1], -32600, Value::Null, "over 1048576 bytes"),
        (
            text(&call(&format!("{{\"x\":\"{}\"}}", "x".repeat(1024 * 1024)))),
            -32600,
            Value::Null,
            "over 1048576 bytes",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"no/such/method"}"#),
            -32601,
            json!(7),
            "no/such/method",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#),
            -32601,
            json!(7),
            "resources/list",
        ),
        (
            text(r#"{"jsonrpc":"2.0","id":"s","method":"prompts/list"}"#),
            -32601,
            json!("s"),
            "prompts/list",
        ),
        (
            text(
                r#"{"jsonrpc":"2.0","id":7,"method":"notifications/cancelled","params":{"requestId":1}}"#,
            ),
            -32601,
            json!(7),
            "notifications/cancelled",
        ),
    ]
}

/// Frames that are answered with nothing.
const IGNORED: &[&str] = &[
    "",
    "\r",
    "   \t ",
    r#"{"jsonrpc":"2.0","method":"no/such/notification"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/no_such"}"#,
    r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"grant_discharge","arguments":{"type":"report","id":"a","executor":"send"}}}"#,
    r#"{"jsonrpc":"2.0","method":"tools/call","params":5}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"echo"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
];

#[test]
fn each_is_answered_once_and_the_server_lives_on() {
    let home = Home::new();
    home.mint("a", "");
    let mut client = Client::legacy(&home, &["--executor", "send=touch done"]);
    for (frame, code, id, says) in hostile() {
        let shown = String::from_utf8_lossy(&frame[..frame.len().min(200)]).into_owned();
        client.send_raw(&[frame.as_slice(), b"\n"].concat());
        let answer = client.next();
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer.as_object().unwrap()["id"], id, "{shown}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{shown}: {answer}");
    }
    for frame in IGNORED {
        client.send_raw(format!("{frame}\n").as_bytes());
        // What comes next is the answer to what comes next.
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}), "{frame}");
    }
    assert_eq!(client.status("a"), "live");
    let (rest, _) = client.end();
    assert_eq!(rest, Vec::<Value>::new());
    assert_eq!(home.rows().len(), 2);
    assert!(!home.dir().join("done").exists());
}

#[test]
fn the_id_of_an_unreadable_frame_is_null() {
    let home = Home::new();
    let mut client = Client::silent(&home, &[]);
    client.send_raw(b"nonsense\n");
    let answer = client.next();
    assert_eq!(answer.as_object().unwrap().get("id"), Some(&Value::Null), "{answer}");
    client.end();
}

#[test]
fn line_ends_are_lenient() {
    let home = Home::new();
    let mut client = Client::legacy(&home, &[]);
    client.send_raw(b"\r\n\n{\"jsonrpc\":\"2.0\",\"id\":91,\"method\":\"ping\"}\r\n");
    assert_eq!(client.answer(91)["result"], json!({}));
    // In pieces, several at once, and without an end.
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":92,");
    client.send_raw(
        b"\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":93,\"method\":\"ping\"}\n{\"jsonrpc\"",
    );
    assert_eq!(client.answer(92)["result"], json!({}));
    assert_eq!(client.answer(93)["result"], json!({}));
    client.send_raw(b":\"2.0\",\"id\":94,\"method\":\"ping\"}");
    client.close();
    assert_eq!(client.answer(94)["result"], json!({}));
    client.end();
}

#[test]
fn a_line_of_100_mib_is_skipped_in_little_memory() {
    let home = Home::new();
    let mut client = Client::legacy(&home, &[]);
    client.status("a");
    let before = resident(client.pid());
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        client.send_raw(&chunk);
    }
    client.send_raw(b"\n");
    let answer = client.next();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.status("a"), "none");
    let grown = resident(client.pid()).saturating_sub(before);
    assert!(grown < 8 * 1024, "it grew by {grown} KiB");
    client.end();
}

/// How much memory a process keeps, in KiB.
fn resident(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
