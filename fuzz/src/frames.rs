//! Whatever an MCP client sends, the server answers each request once and with its id, answers nothing
//! else but what it cannot read, and ends when the client does.

use std::collections::BTreeMap;
use std::sync::Arc;

use granted::mcp::{Executors, Server};
use granted::{Book, Config, Door, Home};
use granted_testkit::{FixedClock, MemoryDocuments, MemoryLedger};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

pub fn run(bytes: &[u8]) {
    let answers = answers(bytes);
    let mut open = BTreeMap::<String, usize>::new();
    let lines: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'\n').filter(|line| !blank(line)).collect();
    for line in &lines {
        // What a lenient reader takes for a request. A key that stands twice counts with each value.
        if let Ok(Value::Object(frame)) = serde_json::from_slice::<Value>(line) {
            let id = frame.get("id").map_or("null".to_owned(), Value::to_string);
            *open.entry(id).or_default() += 1;
        }
    }
    let mut unknown = 0;
    for line in answers.split_inclusive(|byte| *byte == b'\n') {
        assert!(line.ends_with(b"\n"), "half a frame");
        let frame: Value = serde_json::from_slice(line).expect("stdout is the wire");
        assert_eq!(frame["jsonrpc"], "2.0");
        if frame.get("method").is_some() {
            assert_eq!(frame.get("id"), None, "the server asks nothing");
            continue;
        }
        assert!(frame.get("result").is_some() != frame.get("error").is_some(), "{frame}");
        let id = frame["id"].to_string();
        match open.get_mut(&id) {
            Some(left) if *left > 0 => *left -= 1,
            _ => {
                assert!(frame["id"].is_null() && frame.get("error").is_some(), "{frame}");
                unknown += 1;
            }
        }
    }
    assert!(unknown <= lines.len());
}

fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// All that a server says to this client.
fn answers(bytes: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let dir = tempfile::tempdir().expect("there is room");
    let clock = Arc::new(FixedClock::default());
    let ledger = Arc::new(MemoryLedger::new(clock.clone()));
    let documents = Arc::<MemoryDocuments>::default();
    let book = Book::with(Home::at(dir.path()), Door::Mcp, ledger, documents, clock);
    let executors = Executors::new(Config::default(), Vec::new()).expect("there are none");
    let server = Server::new(book, executors, None);
    runtime.expect("there is a runtime").block_on(async {
        let (mut input, server_input) = duplex(1 << 16);
        let (server_output, mut output) = duplex(1 << 16);
        let serving =
            tokio::spawn(granted::mcp::serve_on(server, server_input, server_output, |_| {}));
        let asked = bytes.to_vec();
        tokio::spawn(async move {
            // A server that stops reading has ended, which shows below.
            let _ = input.write_all(&asked).await;
            let _ = input.shutdown().await;
        });
        let mut answers = Vec::new();
        output.read_to_end(&mut answers).await.expect("a pipe");
        serving.await.expect("it ends by itself");
        answers
    })
}
