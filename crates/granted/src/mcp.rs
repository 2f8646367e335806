//! The agent's door: the Model Context Protocol on stdin and stdout.
//!
//! A thin shell over the pipelines. Everything asynchronous is here; the pipelines run in threads
//! of their own. There is no tool that mints, approves or resolves, so none has to refuse.

mod answers;
mod arguments;
mod calls;
mod executors;
mod frame;
mod handshake;
mod lines;
mod pace;
mod schema;
mod server;
pub(crate) mod spends;
mod tools;
mod wire;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

pub use executors::{ExecutorError, Executors, Given};
pub use handshake::PROTOCOLS;
pub use server::Server;

use crate::book::Book;
use calls::Calls;
use wire::{End, Wire, wire};

/// How often a server records what only time brings about.
const TICK: Duration = Duration::from_secs(60);

/// A server, as its streams see it. Its clones are the same server.
pub(crate) trait Serves: ServerHandler + Clone + Send + Sync + 'static {
    /// The tool whose calls may take as long as they like.
    const LONG: &'static str;

    /// How far it is from its end.
    fn end(&self) -> watch::Sender<End>;

    /// The book that it writes to.
    fn book(&self) -> &Book;

    /// Records what only time brings about.
    fn upkeep(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Serves on stdin and stdout until the client is gone. Then what runs runs to its end, and is
/// recorded. TERM, INT or HUP stop what runs; that is recorded too.
///
/// `remark` is told what a person should know and no client asked for.
pub fn serve(server: Server, remark: fn(&str)) -> io::Result<()> {
    serve_stdio(server, remark)
}

/// As [`serve`], any server.
pub(crate) fn serve_stdio<S: Serves>(server: S, remark: fn(&str)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        stop_on_signals(&server.end())?;
        let (input, output) = rmcp::transport::stdio_pipes();
        serve_streams(server, input, output, remark).await;
        Ok(())
    });
    // A read of stdin may still be under way. Nothing else is.
    runtime.shutdown_background();
    served
}

/// Has TERM, INT and HUP end the server.
fn stop_on_signals(end: &watch::Sender<End>) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let (mut signal, end) = (signal(kind)?, end.clone());
        tokio::spawn(async move {
            signal.recv().await;
            end.send_replace(End::Stopping);
        });
    }
    Ok(())
}

/// Serves on these streams until one of them ends, and returns when all that runs is recorded.
/// Needs a runtime of tokio with its clock.
pub async fn serve_on<R, W>(server: Server, input: R, output: W, remark: fn(&str))
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve_streams(server, input, output, remark).await;
}

/// As [`serve_on`], any server.
async fn serve_streams<S, R, W>(server: S, input: R, output: W, remark: fn(&str))
where
    S: Serves,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (calls, end) = (Arc::new(Calls::default()), server.end());
    let (wire, reader) = wire(input, output, &calls, S::LONG, end.clone());
    let done = CancellationToken::new();
    let ticking = Arc::new(Mutex::new(()));
    let ticker = tokio::spawn(tick_on(server.clone(), ticking.clone(), remark));
    let serving = tokio::spawn(speak(server.clone(), wire, done.clone()));
    let mut ended = end.subscribe();
    tokio::select! {
        () = reader.read() => {}
        // The sender lives in this function.
        _ = ended.wait_for(|end| *end != End::Open) => {}
    }
    calls.idle().await;
    done.cancel();
    // It ends by itself or was told to; there is nobody left to tell how.
    let _ = serving.await;
    let _between_ticks = ticking.lock().await;
    ticker.abort();
    // Nothing is noted any more. A thread that cannot be waited for has told what it could.
    let _ = tokio::task::spawn_blocking(move || server.book().news.told()).await;
}

/// Speaks the protocol until it is told to end.
async fn speak<S: Serves>(server: S, wire: Wire, done: CancellationToken) {
    loop {
        match server.clone().serve_with_ct(wire.clone(), done.clone()).await {
            Ok(service) => {
                // Whatever it says, nobody is left to be told.
                let _ = service.waiting().await;
                return;
            }
            Err(_) if done.is_cancelled() => return,
            // A client that began badly may begin again.
            Err(_) => {}
        }
    }
}

/// Records what only time brings about, once a minute.
async fn tick_on<S: Serves>(server: S, ticking: Arc<Mutex<()>>, remark: fn(&str)) {
    let mut last = String::new();
    let mut due = tokio::time::interval_at(tokio::time::Instant::now() + TICK, TICK);
    loop {
        due.tick().await;
        let _ticking = ticking.lock().await;
        let server = server.clone();
        let ticked = tokio::task::spawn_blocking(move || {
            let ticked = server.upkeep();
            server.book().news.tell_aside();
            ticked
        })
        .await;
        let why = match ticked {
            Ok(Ok(())) => String::new(),
            Ok(Err(e)) => e,
            Err(e) => e.to_string(),
        };
        // The same trouble is told once.
        if !why.is_empty() && why != last {
            remark(&format!("what is over could not be recorded: {why}"));
        }
        last = why;
    }
}

#[cfg(test)]
mod tests;
