//! The stream of frames between a client and the server: every frame is checked on its way in,
//! and nothing is sent of a request that the client has cancelled.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions as _,
    GetMeta as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc, watch};

use super::calls::{Calls, Opening};
use super::frame::{self, Checked, Refusal};
use super::lines::{Line, Lines};

/// How far the server is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It serves.
    Open,
    /// Nothing more is read; what runs runs to its end.
    Closing,
    /// What runs is stopped.
    Stopping,
}

/// The server's end of the stream. Its clones are the same stream.
#[derive(Clone)]
pub(super) struct Wire {
    incoming: Arc<Mutex<mpsc::Receiver<ClientJsonRpcMessage>>>,
    out: Arc<Out>,
    calls: Arc<Calls>,
}

/// The client's end: reads, checks and hands on.
pub(super) struct Reader<R> {
    lines: Lines<R>,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    out: Arc<Out>,
    calls: Arc<Calls>,
    /// The tool whose calls may take as long as they like.
    long: &'static str,
}

/// Where frames go.
struct Out {
    stream: Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    end: watch::Sender<End>,
}

/// Both ends of a stream of frames.
pub(super) fn wire<R, W>(
    input: R,
    output: W,
    calls: &Arc<Calls>,
    long: &'static str,
    end: watch::Sender<End>,
) -> (Wire, Reader<R>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (messages, incoming) = mpsc::channel(1);
    let out = Arc::new(Out { stream: Mutex::new(Box::new(output)), end });
    let incoming = Arc::new(Mutex::new(incoming));
    let wire = Wire { incoming, out: out.clone(), calls: calls.clone() };
    (wire, Reader { lines: Lines::new(input), messages, out, calls: calls.clone(), long })
}

impl Out {
    /// Writes one frame, if it is still wanted when its turn comes.
    async fn write(&self, frame: &impl Serialize, wanted: impl Fn() -> bool) -> io::Result<()> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        if !wanted() {
            return Ok(());
        }
        let written = async {
            stream.write_all(&line).await?;
            stream.flush().await
        };
        written.await.inspect_err(|_| {
            // Whoever does not read any more asks nothing more either.
            self.end.send_if_modified(|end| {
                let open = *end == End::Open;
                if open {
                    *end = End::Closing;
                }
                open
            });
        })
    }

    async fn refuse(&self, refusal: Refusal) {
        let Refusal { id, error } = refusal;
        // The SDK leaves an unknown id out, but JSON-RPC wants a null.
        let answer = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
        // Where it cannot be written the server ends; see above.
        let _ = self.write(&answer, || true).await;
    }
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Hands on what comes, until the stream ends.
    pub(super) async fn read(mut self) {
        // A stream that cannot be read has ended.
        while let Ok(Some(line)) = self.lines.next().await {
            let checked = match line {
                Line::TooLong => Checked::Refused(frame::too_long()),
                Line::Whole(line) => frame::check(line),
            };
            match checked {
                Checked::Nothing => {}
                Checked::Refused(refusal) => self.out.refuse(refusal).await,
                Checked::Message(message) => self.hand_on(*message).await,
            }
        }
    }

    async fn hand_on(&mut self, mut message: ClientJsonRpcMessage) {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                self.calls.room().await;
                let id = request.id.clone();
                let opening = opening(id.clone(), &request.request, self.long);
                match self.calls.begin(opening) {
                    Some(work) => {
                        request.request.extensions_mut().insert(Arc::new(work));
                    }
                    None => {
                        let why = format!("a request with the id `{id}` is under way");
                        let error = ErrorData::invalid_request(why, None);
                        return self.out.refuse(Refusal { id: None, error }).await;
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.calls.cancel(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return,
        }
        // Nobody receives any more only when the server is at its end.
        let _ = self.messages.send(message).await;
    }
}

fn opening(id: RequestId, request: &ClientRequest, long: &str) -> Opening {
    let token = request.get_meta().get_progress_token();
    let long = match request {
        ClientRequest::CallToolRequest(call) => call.params.name == long,
        _ => false,
    };
    Opening { id, token, long }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let Wire { out, calls, .. } = self.clone();
        async move {
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            let token = match &message {
                JsonRpcMessage::Notification(sent) => match &sent.notification {
                    ServerNotification::ProgressNotification(progress) => {
                        Some(&progress.params.progress_token)
                    }
                    _ => None,
                },
                _ => None,
            };
            let wanted = || {
                id.is_none_or(|id| calls.is_awaited(id))
                    && token.is_none_or(|token| calls.wants_progress(token))
            };
            let written = out.write(&message, wanted).await;
            if let Some(id) = id {
                calls.answered(id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.incoming.lock().await.recv().await {
            Some(message) => Some(message),
            // The server is told of its end when what runs has ended, not before.
            None => std::future::pending().await,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
