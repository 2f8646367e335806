//! What depends on time, with a clock that is advanced and not waited for.

use std::sync::Arc;
use std::time::Duration;

use granted_core::decision::mint::Terms;
use granted_core::ledger::Door;
use granted_core::store::{Ledger as _, RawLine};
use granted_core::time::Clock as _;
use granted_testkit::{FixedClock, MemoryDocuments, MemoryLedger};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::book::Book;
use crate::config::Config;
use crate::decision::stage::terms;
use crate::home::Home;

/// A server under a clock that stands, and a client of it.
struct Served {
    ledger: Arc<MemoryLedger>,
    clock: Arc<FixedClock>,
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
    serving: tokio::task::JoinHandle<()>,
    dir: tempfile::TempDir,
}

impl Served {
    fn new() -> Served {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::default());
        let ledger = Arc::new(MemoryLedger::new(clock.clone()));
        let documents = Arc::new(MemoryDocuments::default());
        let home = Home::at(dir.path());
        let book = Book::with(home, Door::Mcp, ledger.clone(), documents, clock.clone());
        let terms = Terms {
            not_after: clock.now().plus(Duration::from_secs(90)),
            object: granted_testkit::sample::object(1),
            ..terms(&clock)
        };
        crate::decision::mint::mint(&book, &[terms]).unwrap();
        let executors = Executors::new(Config::default(), Vec::new()).unwrap();
        let (input, server_input) = duplex(1024 * 1024);
        let (output, server_output) = duplex(1024 * 1024);
        let server = Server::new(book, executors, None);
        let serving = tokio::spawn(serve_on(server, server_input, server_output, |_| {}));
        let output = BufReader::new(output).lines();
        Served { ledger, clock, input, output, serving, dir }
    }

    async fn send(&mut self, id: usize, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn kinds(&self) -> Vec<String> {
        let mut kinds = Vec::new();
        let mut show = |line: RawLine<'_>| {
            let row: Value = serde_json::from_slice(line.bytes).unwrap();
            kinds.push(row["kind"].as_str().unwrap().to_owned());
            std::ops::ControlFlow::Continue(())
        };
        self.ledger.scan(1, &mut show).unwrap();
        kinds
    }

    fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|other| *other == kind).count()
    }

    /// Ends the server; the home that it leaves.
    async fn end(self) -> tempfile::TempDir {
        drop(self.input);
        self.serving.await.unwrap();
        self.dir
    }
}

fn refused() -> Value {
    json!({"type": "report", "id": "nothing", "executor": "send"})
}

#[tokio::test(start_paused = true)]
async fn refusals_are_paced_and_none_is_lost() {
    let mut served = Served::new();
    let began = Instant::now();
    for id in 0..30 {
        served.send(id, "grant_discharge", refused()).await;
    }
    for _ in 0..20 {
        assert_eq!(served.next().await["result"]["structuredContent"]["reason"], "none");
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(served.count("decision.outcome"), 20);
    for seconds in 1..=10 {
        assert_eq!(served.next().await["result"]["structuredContent"]["reason"], "none");
        assert_eq!(began.elapsed().as_millis().div_ceil(1_000), seconds);
    }
    assert_eq!(served.count("decision.outcome"), 30);
    served.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_waits_is_decided_when_its_turn_comes() {
    let mut served = Served::new();
    for id in 0..20 {
        served.send(id, "grant_discharge", refused()).await;
        served.next().await;
    }
    served.send(20, "grant_discharge", refused()).await;
    served.send(21, "grant_discharge", refused()).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 20}});
    served.input.write_all(format!("{cancel}\n").as_bytes()).await.unwrap();
    // Cancelled while it waited: no row, no answer, and no turn taken.
    let began = Instant::now();
    assert_eq!(served.next().await["id"], 21);
    assert!(began.elapsed() <= Duration::from_secs(1));
    assert_eq!(served.count("decision.outcome"), 21);
    served.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_over_is_recorded_once_a_minute() {
    let served = Served::new();
    assert_eq!(served.count("decision.expired"), 0);
    tokio::time::sleep(TICK + Duration::from_secs(1)).await;
    assert_eq!(served.count("decision.expired"), 0);
    served.clock.advance(Duration::from_secs(91));
    tokio::time::sleep(TICK).await;
    assert_eq!(served.count("decision.expired"), 1);
    tokio::time::sleep(TICK * 5).await;
    assert_eq!(served.count("decision.expired"), 1);
    served.end().await;
}

/// The clock here is the book's: it stands, but where it is advanced.
#[tokio::test(start_paused = true)]
async fn what_a_tick_finds_is_told_once() {
    let served = Served::new();
    let told = served.dir.path().join("told");
    let script = format!("echo \"$GRANTED_NOTICE_EVENT\" >> {}", told.display());
    let config = format!("[notify]\ncommand = ['sh', '-c', '{script}']\n");
    #[expect(clippy::disallowed_methods, reason = "the person writes it")]
    std::fs::write(served.dir.path().join("config.toml"), config).unwrap();
    served.clock.advance(Duration::from_secs(85));
    tokio::time::sleep(TICK * 3).await;
    served.clock.advance(Duration::from_secs(6));
    tokio::time::sleep(TICK * 3).await;
    let dir = served.end().await;
    #[expect(clippy::disallowed_methods, reason = "a test looks at what was written")]
    let told = std::fs::read_to_string(dir.path().join("told")).unwrap();
    assert_eq!(told, "due\nexpired\n");
}
