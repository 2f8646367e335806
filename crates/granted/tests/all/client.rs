//! An MCP client that says exactly what it is told to, over the pipes of `granted mcp`.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::Home;

/// Long enough that only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The protocol's generation without `initialize`.
pub const MODERN: &str = "2026-07-28";

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    frames: Receiver<Value>,
    /// Notifications that came while something else was awaited.
    pub heard: VecDeque<Value>,
    next: i64,
    modern: bool,
}

impl Client {
    /// Starts the server, and says nothing yet.
    pub fn silent(home: &Home, args: &[&str]) -> Client {
        Client::of(home.command(["mcp"].iter().chain(args)))
    }

    /// Starts the server that a command is, and says nothing yet.
    pub fn of(mut command: Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                // Whatever is on stdout is a frame.
                let frame = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        Client { child, stdin, frames, heard: VecDeque::new(), next: 0, modern: false }
    }

    /// Starts the server and shakes hands as clients did up to 2025-11-25.
    pub fn legacy(home: &Home, args: &[&str]) -> Client {
        let mut client = Client::silent(home, args);
        client.initialize("2025-11-25");
        client
    }

    /// Starts the server and speaks without a handshake, as clients do since 2026-07-28.
    pub fn modern(home: &Home, args: &[&str]) -> Client {
        Client { modern: true, ..Client::silent(home, args) }
    }

    /// Shakes hands; what the server answered.
    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_raw(format!("{frame}\n").as_bytes());
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// The next frame, whatever it is.
    #[track_caller]
    pub fn next(&mut self) -> Value {
        match self.frames.recv_timeout(PATIENCE) {
            Ok(frame) => frame,
            Err(e) => panic!("no frame came: {e}"),
        }
    }

    /// The next notification of a method.
    #[track_caller]
    pub fn hear(&mut self, method: &str) -> Value {
        loop {
            let heard = self.heard.pop_front().unwrap_or_else(|| self.next());
            if heard["method"] == method {
                return heard;
            }
        }
    }

    /// Sends a request and does not wait; its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        if self.modern {
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert(json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to a request.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        loop {
            let frame = self.next();
            match frame.get("id") {
                Some(answered) if *answered == id => return frame,
                Some(_) => panic!("an answer to another request: {frame}"),
                None => self.heard.push_back(frame),
            }
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and does not wait; the request's id.
    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What a tool returned: its structured content, which its text repeats.
    #[track_caller]
    pub fn returned(&mut self, id: i64) -> Value {
        let answer = self.answer(id);
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        result["structuredContent"].clone()
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.returned(id)
    }

    /// The error that a call of a tool is answered with.
    #[track_caller]
    pub fn refused_call(&mut self, tool: &str, arguments: Value) -> (i64, String) {
        let id = self.begin_call(tool, arguments);
        let answer = self.answer(id);
        let message = answer["error"]["message"].as_str();
        let message = message.unwrap_or_else(|| panic!("{answer}")).to_owned();
        (answer["error"]["code"].as_i64().unwrap(), message)
    }

    /// Discharges `report/ID`.
    #[track_caller]
    pub fn discharge(&mut self, id: &str, executor: &str) -> Value {
        self.call("grant_discharge", json!({"type": "report", "id": id, "executor": executor}))
    }

    /// Discharges `report/ID` while refusals of other calls come in, which are counted.
    #[track_caller]
    pub fn discharge_amid(&mut self, id: &str, executor: &str, refused: &mut usize) -> Value {
        let arguments = json!({"type": "report", "id": id, "executor": executor});
        let call = self.begin_call("grant_discharge", arguments);
        loop {
            let frame = self.next();
            let result = &frame["result"];
            if frame["id"] == call {
                return result["structuredContent"].clone();
            }
            *refused += usize::from(result["isError"] == false);
        }
    }

    #[track_caller]
    pub fn status(&mut self, id: &str) -> String {
        let view = self.call("grant_status", json!({"type": "report", "id": id}));
        view["status"].as_str().unwrap().to_owned()
    }

    pub fn cancel(&mut self, id: i64) {
        let params = json!({"requestId": id, "reason": "a test"});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Ends the input and waits for the server to end; the frames that came, and stderr.
    #[track_caller]
    pub fn end(mut self) -> (Vec<Value>, String) {
        self.close();
        let mut heard = Vec::from(self.heard);
        loop {
            match self.frames.recv_timeout(PATIENCE) {
                Ok(frame) => heard.push(frame),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(ended(self.child), Some(0), "{stderr}");
        (heard, stderr)
    }
}

/// Waits for a process to end; its exit code.
#[track_caller]
pub fn ended(mut child: Child) -> Option<i32> {
    let (sender, status) = channel();
    std::thread::spawn(move || sender.send(child.wait()));
    match status.recv_timeout(PATIENCE) {
        Ok(status) => status.unwrap().code(),
        Err(_) => panic!("the server does not end"),
    }
}
