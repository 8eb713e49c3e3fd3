//! Client on the Rust SDK: commands and events as JSON lines, see ../../../README.md.
#![allow(deprecated)]

use std::{collections::HashMap, io::BufRead, sync::Arc};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt,
    model::*,
    service::{
        NotificationContext, Peer, RequestContext, RunningService, Subscription, SubscriptionEnd,
    },
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};
use tokio::{sync::Mutex, task::AbortHandle};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Answer = Result<Value, Failure>;

fn write(message: Value) {
    println!("{message}");
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Failure> {
    Ok(serde_json::from_value(value)?)
}

fn text_of(parts: &Value) -> String {
    let texts = parts.as_array().into_iter().flatten();
    texts.filter_map(|part| part["text"].as_str()).collect()
}

#[derive(Clone)]
struct Handler {
    answer: String,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("interop-rust", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(request).unwrap();
        write(json!({ "event": "elicit", "message": request["message"] }));
        let content = json!({ "answer": self.answer });
        Ok(from(json!({ "action": "accept", "content": content })).unwrap())
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        write(json!({ "event": "progress", "progress": params.progress }));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        write(json!({ "event": "log", "data": params.data }));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        write(json!({ "event": "updated", "uri": params.uri }));
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        write(json!({ "event": "toolsChanged" }));
    }
}

#[derive(Default)]
struct Program {
    service: Mutex<Option<Arc<RunningService<RoleClient, Handler>>>>,
    calls: Mutex<HashMap<u64, AbortHandle>>,
    listening: Mutex<Option<AbortHandle>>,
}

/// Writes what a listen stream brings, until it ends.
async fn write_events(mut stream: Subscription) {
    while let Ok(Some(notification)) = stream.next().await {
        match notification {
            ServerNotification::ResourceUpdatedNotification(updated) => {
                write(json!({ "event": "updated", "uri": updated.params.uri }))
            }
            ServerNotification::ToolListChangedNotification(_) => {
                write(json!({ "event": "toolsChanged" }))
            }
            _ => (),
        }
    }
    let with_result = matches!(stream.end(), Some(SubscriptionEnd::Graceful(_)));
    write(json!({ "event": "listenEnded", "withResult": with_result }));
}

impl Program {
    async fn connect(&self, command: &Value) -> Answer {
        let answer = command["answer"].as_str().unwrap_or_default().to_owned();
        let url = command["url"].as_str().unwrap_or_default();
        let transport = StreamableHttpClientTransport::from_uri(url);
        let handler = Handler { answer };
        // By default, this SDK initializes a session.
        let service = if command["era"] == "2026" {
            let lifecycle = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: None,
            };
            handler.serve_with_lifecycle(transport, lifecycle).await?
        } else {
            handler.serve(transport).await?
        };
        let info = serde_json::to_value(service.peer_info())?;
        *self.service.lock().await = Some(Arc::new(service));
        Ok(json!({ "server": info["serverInfo"]["name"], "protocol": info["protocolVersion"] }))
    }

    /// The SDK cancels a request whose future is dropped.
    async fn call(
        &self,
        service: Arc<RunningService<RoleClient, Handler>>,
        command: &Value,
    ) -> Answer {
        let mut params = json!({ "name": command["name"], "arguments": command["arguments"] });
        if let Some(level) = command["level"].as_str() {
            params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": level });
        }
        let params: CallToolRequestParams = from(params)?;
        let call = tokio::spawn(async move { service.call_tool(params).await });
        let id = command["id"].as_u64().unwrap_or_default();
        self.calls.lock().await.insert(id, call.abort_handle());
        let result = serde_json::to_value(call.await??)?;
        Ok(json!({
            "text": text_of(&result["content"]),
            "structured": result["structuredContent"],
            "isError": result["isError"].as_bool().unwrap_or(false),
        }))
    }

    async fn cancel(&self, command: &Value) -> Answer {
        let id = command["call"].as_u64().unwrap_or_default();
        if let Some(call) = self.calls.lock().await.remove(&id) {
            call.abort();
        }
        Ok(json!({}))
    }

    async fn listen(&self, peer: &Peer<RoleClient>, command: &Value) -> Answer {
        let filter = json!({
            "toolsListChanged": command["tools"].as_bool(),
            "resourceSubscriptions": command["uris"],
        });
        let stream = peer.listen(from(filter)?).await?;
        let writing = tokio::spawn(write_events(stream));
        *self.listening.lock().await = Some(writing.abort_handle());
        Ok(json!({}))
    }

    async fn run(&self, command: &Value) -> Answer {
        let op = command["op"].as_str().unwrap_or_default();
        if op == "connect" {
            return self.connect(command).await;
        }
        let service = self.service.lock().await.clone().ok_or("not connected")?;
        let peer = service.peer();
        let uri = json!({ "uri": command["uri"] });
        Ok(match op {
            "call" => return self.call(service, command).await,
            "cancel" => return self.cancel(command).await,
            "listen" => return self.listen(peer, command).await,
            "unlisten" => {
                if let Some(listening) = self.listening.lock().await.take() {
                    listening.abort();
                }
                json!({})
            }
            "tools" => names(peer.list_all_tools().await?, "name")?,
            "resources" => names(peer.list_all_resources().await?, "uri")?,
            "templates" => names(peer.list_all_resource_templates().await?, "uriTemplate")?,
            "prompts" => names(peer.list_all_prompts().await?, "name")?,
            "read" => {
                let result = serde_json::to_value(peer.read_resource(from(uri)?).await?)?;
                json!({ "text": text_of(&result["contents"]) })
            }
            "prompt" => {
                let params = json!({ "name": command["name"], "arguments": command["arguments"] });
                let result = serde_json::to_value(peer.get_prompt(from(params)?).await?)?;
                let messages = result["messages"].as_array().cloned().unwrap_or_default();
                let contents = messages.iter().map(|one| one["content"].clone()).collect();
                json!({ "text": text_of(&Value::Array(contents)) })
            }
            "subscribe" => json!({ "done": peer.subscribe(from(uri)?).await? }),
            "unsubscribe" => json!({ "done": peer.unsubscribe(from(uri)?).await? }),
            "level" => {
                peer.set_level(from(json!({ "level": command["level"] }))?)
                    .await?;
                json!({})
            }
            "ping" => {
                let request = ClientRequest::PingRequest(PingRequest::default());
                peer.send_request(request).await?;
                json!({})
            }
            "disconnect" => {
                service.cancellation_token().cancel();
                json!({})
            }
            _ => return Err(format!("unknown command {op}").into()),
        })
    }
}

fn names<T: serde::Serialize>(items: Vec<T>, member: &str) -> Answer {
    let items = serde_json::to_value(items)?;
    let names: Vec<_> = items
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| &one[member])
        .collect();
    Ok(json!({ "names": names }))
}

#[tokio::main]
async fn main() {
    let program = Arc::new(Program::default());
    let (sender, mut commands) = tokio::sync::mpsc::unbounded_channel::<Value>();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str(&line).expect("a JSON line"));
        }
    });
    while let Some(command) = commands.recv().await {
        let program = program.clone();
        tokio::spawn(async move {
            match program.run(&command).await {
                Ok(result) => write(json!({ "id": command["id"], "result": result })),
                Err(error) => write(json!({ "id": command["id"], "error": error.to_string() })),
            }
        });
    }
}
