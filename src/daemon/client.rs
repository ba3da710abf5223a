//! A small MCP client for our own commands: calls tools of the daemon of a checkout, or of a server within this process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, duplex, split};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::connect::{LINE, Target, connect};
use crate::error::{Error, Kind, Result};
use crate::mcp;
use crate::process::lines::LineReader;
use crate::process::orphans;
use crate::supervisor::Supervisor;
use crate::supervisor::setup::Site;

/// The protocol that is spoken: the last one that begins with `initialize`.
const PROTOCOL: &str = "2025-11-25";

/// Bytes that may be on their way within this process.
const DUPLEX: usize = 64 * 1024;

/// A session. Its calls are cancelled when it is dropped.
pub struct Client {
    writer: tokio::sync::Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    waiting: Arc<Waiting>,
    ids: AtomicU64,
    listening: JoinHandle<()>,
    /// Of a server of our own.
    private: Option<Private>,
    /// What the server said to `initialize`.
    pub info: Value,
}

struct Private {
    supervisor: Supervisor,
    steward: JoinHandle<()>,
    stop: CancellationToken,
}

/// A request that was sent. It goes on when this is dropped; see [`Client::cancel`].
#[derive(Debug)]
pub struct Pending {
    pub id: u64,
    /// Each notification about its progress, as the protocol has it: `progress`, `total`, `message`.
    progress: mpsc::UnboundedReceiver<Value>,
    answer: oneshot::Receiver<Value>,
}

#[derive(Default)]
struct Waiting(Mutex<HashMap<u64, Waiter>>);

struct Waiter {
    answer: oneshot::Sender<Value>,
    progress: mpsc::UnboundedSender<Value>,
}

impl Client {
    /// A session with the daemon of a checkout, which is started if there is none. `name` is told to it.
    ///
    /// # Errors
    /// When there is no daemon and none can be started.
    pub async fn shared(site: &Site, name: &str) -> Result<Client> {
        let connection = connect(&Target::new(site, false)?).await?;
        Client::over(connection.reader, connection.writer).hello(name).await
    }

    /// A session with a server within this process, which shares nothing; end it with [`Client::close`].
    ///
    /// # Errors
    /// When the session does not begin.
    pub async fn private(site: &Site, name: &str) -> Result<Client> {
        orphans::adopt();
        let stop = CancellationToken::new();
        let (supervisor, steward) = Supervisor::start(site.clone(), false);
        let (ours, theirs) = duplex(DUPLEX);
        let (reader, writer) = split(theirs);
        tokio::spawn(mcp::serve(supervisor.clone(), reader, writer, stop.clone()));
        let (reader, writer) = split(ours);
        let mut client = Client::over(LineReader::with_limit(reader, LINE), writer);
        client.private = Some(Private {
            supervisor,
            steward,
            stop,
        });
        client.hello(name).await
    }

    fn over<R, W>(reader: LineReader<R>, writer: W) -> Client
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let waiting = Arc::<Waiting>::default();
        Client {
            writer: tokio::sync::Mutex::new(Box::new(writer)),
            listening: tokio::spawn(listen(reader, Arc::clone(&waiting))),
            waiting,
            ids: AtomicU64::new(1),
            private: None,
            info: Value::Null,
        }
    }

    async fn hello(mut self, name: &str) -> Result<Client> {
        let client = json!({"name": name, "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        self.info = self.request("initialize", hello).await?.answer().await?;
        self.notify("notifications/initialized", json!({})).await?;
        Ok(self)
    }

    /// Whether nobody is there any more.
    pub fn is_lost(&self) -> bool {
        self.listening.is_finished()
    }

    /// Calls a tool, and asks to be told of its progress.
    ///
    /// # Errors
    /// `ServerLost` when nobody is there any more.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Pending> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Any request of the protocol. `params` is an object.
    ///
    /// # Errors
    /// As of [`Client::call`].
    pub async fn request(&self, method: &str, mut params: Value) -> Result<Pending> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        params["_meta"]["progressToken"] = id.into();
        let (waiter, pending) = pair(id);
        self.waiting.lock().insert(id, waiter);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?;
        Ok(pending)
    }

    /// What a resource says, as JSON.
    ///
    /// # Errors
    /// What the server refused it with; `ServerLost`.
    pub async fn read(&self, uri: &str) -> Result<Value> {
        let result = self
            .request("resources/read", json!({"uri": uri}))
            .await?
            .answer()
            .await?;
        let text = result["contents"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text)
            .map_err(|error| Error::internal("the server's answer was not understood").source(error))
    }

    /// Takes a request back. A run is ended then, and nobody answered.
    ///
    /// # Errors
    /// As of [`Client::call`].
    pub async fn cancel(&self, id: u64) -> Result<()> {
        self.notify("notifications/cancelled", json!({"requestId": id})).await
    }

    /// Wants a run gone at once that was taken back.
    ///
    /// # Errors
    /// As of [`Client::call`].
    pub async fn hurry(&self, run_id: &str) -> Result<()> {
        self.notify(mcp::HURRY, json!({mcp::RUN_ID: run_id})).await
    }

    async fn notify(&self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await
    }

    async fn send(&self, message: &Value) -> Result<()> {
        let line = format!("{message}\n");
        let mut writer = self.writer.lock().await;
        writer.write_all(line.as_bytes()).await.map_err(|_| lost())
    }

    /// Ends the session; and everything of a server within this process, waiting until nothing is left.
    pub async fn close(mut self) {
        let _ = self.writer.lock().await.shutdown().await;
        if let Some(private) = self.private.take() {
            private.stop.cancel();
            private.supervisor.shut_down().await;
            let _ = private.steward.await;
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.listening.abort();
        if let Some(private) = &self.private {
            private.stop.cancel();
        }
    }
}

impl Pending {
    /// The structured result of a tool, or the result of another request.
    ///
    /// # Errors
    /// What the server refused it with; `ServerLost` when there will be no answer.
    pub async fn answer(self) -> Result<Value> {
        result(self.answer.await)
    }

    /// The news about it, and its answer.
    pub fn apart(self) -> (mpsc::UnboundedReceiver<Value>, impl Future<Output = Result<Value>>) {
        let Pending { progress, answer, .. } = self;
        (progress, async { result(answer.await) })
    }
}

fn result(answer: std::result::Result<Value, oneshot::error::RecvError>) -> Result<Value> {
    let answer = answer.map_err(|_| lost())?;
    if let Some(error) = answer.get("error") {
        let message = error["message"].as_str().unwrap_or_default();
        let kind = error["data"]["code"].as_str().and_then(Kind::of_code);
        return Err(Error::new(kind.unwrap_or(Kind::Internal), message));
    }
    let mut result = answer["result"].clone();
    if result["isError"] == true {
        return Err(refusal(&result));
    }
    match result.get_mut("structuredContent") {
        Some(content) => Ok(content.take()),
        None => Ok(result),
    }
}

/// As the server said it, with everything that it said.
fn refusal(result: &Value) -> Error {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let kind = body["code"].as_str().and_then(Kind::of_code).unwrap_or(Kind::Internal);
    let error = Error::new(kind, body["message"].as_str().unwrap_or(text));
    let error = match body["hint"].as_str() {
        Some(hint) => error.hint(hint),
        None => error,
    };
    error.details(body)
}

fn lost() -> Error {
    Error::new(Kind::ServerLost, "the server ended before it answered").hint("try again: a new one is started")
}

fn pair(id: u64) -> (Waiter, Pending) {
    let (answer, answered) = oneshot::channel();
    let (progress, told) = mpsc::unbounded_channel();
    let pending = Pending {
        id,
        progress: told,
        answer: answered,
    };
    (Waiter { answer, progress }, pending)
}

/// Hands each answer to whoever waits for it, until the end; who still waits then learns of the end.
async fn listen<R: AsyncRead + Unpin>(mut reader: LineReader<R>, waiting: Arc<Waiting>) {
    while let Ok(Some(line)) = reader.next().await {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        waiting.hear(message);
    }
    waiting.lock().clear();
}

impl Waiting {
    fn hear(&self, message: Value) {
        if message["method"] == "notifications/progress" {
            let params = &message["params"];
            let id = params["progressToken"].as_u64().unwrap_or_default();
            if let Some(waiter) = self.lock().get(&id) {
                let _ = waiter.progress.send(params.clone());
            }
        } else if let Some(id) = message["id"].as_u64()
            && let Some(waiter) = self.lock().remove(&id)
        {
            let _ = waiter.answer.send(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
