//! Server on the Rust SDK: server stdio | http | stateless [port], see ../../../README.md.
#![allow(deprecated)]

use std::{collections::HashMap, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{Peer, RequestContext},
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

type Context = RequestContext<RoleServer>;
type Outcome = Result<Value, ErrorData>;

#[derive(Default)]
struct Shared {
    peers: Vec<Peer<RoleServer>>,
    subscribed: HashMap<String, Vec<Peer<RoleServer>>>,
    cancelled: u64,
    has_extra: bool,
}

/// One per session; all share the state of the process.
#[derive(Clone)]
struct Interop {
    shared: Arc<Mutex<Shared>>,
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

fn failed(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn text(value: impl ToString) -> Value {
    json!({ "content": [{ "type": "text", "text": value.to_string() }] })
}

fn schema(kind: &str, members: &[&str]) -> Value {
    let properties: HashMap<_, _> = members.iter().map(|one| (*one, json!({ "type": kind }))).collect();
    json!({ "type": "object", "properties": properties, "required": members })
}

fn tools(has_extra: bool) -> Vec<Value> {
    let tool = |name: &str, kind: &str, members: &[&str]| {
        json!({ "name": name, "inputSchema": schema(kind, members) })
    };
    let mut tools = vec![
        tool("echo", "string", &["text"]),
        tool("sum", "number", &["a", "b"]),
        tool("log", "string", &["text"]),
        tool("progress", "number", &["steps"]),
        tool("slow", "number", &["ms"]),
        tool("cancelled", "string", &[]),
        tool("capabilities", "string", &[]),
        tool("ask", "string", &["question"]),
        tool("touch", "string", &["uri"]),
        tool("grow", "string", &[]),
    ];
    tools[1]["outputSchema"] = schema("number", &["sum"]);
    if has_extra {
        tools.push(tool("extra", "string", &[]));
    }
    tools
}

fn capabilities(context: &Context) -> Result<String, ErrorData> {
    let info = context.peer.peer_info().ok_or_else(|| failed("not initialized"))?;
    let value = serde_json::to_value(&info.capabilities).map_err(failed)?;
    let names: Vec<_> = value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    Ok(names.join(","))
}

impl Interop {
    async fn run(&self, name: &str, arguments: &Value, context: &Context) -> Outcome {
        let number = |member: &str| arguments[member].as_f64().unwrap_or_default();
        let word = |member: &str| arguments[member].as_str().unwrap_or_default();
        match name {
            "echo" => Ok(text(word("text"))),
            "sum" => {
                let sum = number("a") + number("b");
                let mut result = text(sum);
                result["structuredContent"] = json!({ "sum": sum });
                Ok(result)
            }
            "log" => {
                let params = from(json!({ "level": "info", "data": word("text") }))?;
                context.peer.notify_logging_message(params).await.map_err(failed)?;
                Ok(text("logged"))
            }
            "progress" => self.progress(number("steps") as u64, context).await,
            "slow" => self.slow(number("ms") as u64, context).await,
            "cancelled" => Ok(text(self.shared.lock().await.cancelled)),
            "capabilities" => Ok(text(capabilities(context)?)),
            "ask" => self.ask(word("question"), context).await,
            "touch" => self.touch(word("uri")).await,
            "grow" => self.grow().await,
            "extra" => Ok(text("extra")),
            _ => Err(ErrorData::invalid_params(format!("unknown tool {name}"), None)),
        }
    }

    async fn progress(&self, steps: u64, context: &Context) -> Outcome {
        let token = serde_json::to_value(&context.meta).map_err(failed)?["progressToken"].clone();
        for step in 1..=steps {
            let params = from(json!({ "progressToken": token, "progress": step, "total": steps }))?;
            context.peer.notify_progress(params).await.map_err(failed)?;
        }
        Ok(text("done"))
    }

    async fn slow(&self, ms: u64, context: &Context) -> Outcome {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(ms)) => Ok(text("slept")),
            () = context.ct.cancelled() => {
                self.shared.lock().await.cancelled += 1;
                Err(failed("cancelled"))
            }
        }
    }

    async fn ask(&self, question: &str, context: &Context) -> Outcome {
        let schema = schema("string", &["answer"]);
        let params = from(json!({ "mode": "form", "message": question, "requestedSchema": schema }))?;
        let result = context.peer.create_elicitation(params).await.map_err(failed)?;
        let result = serde_json::to_value(result).map_err(failed)?;
        let answer = result["content"]["answer"].as_str().unwrap_or_default();
        Ok(text(format!("{}:{answer}", result["action"].as_str().unwrap_or_default())))
    }

    async fn touch(&self, uri: &str) -> Outcome {
        let peers = self.shared.lock().await.subscribed.get(uri).cloned().unwrap_or_default();
        for peer in peers {
            let _ = peer.notify_resource_updated(from(json!({ "uri": uri }))?).await;
        }
        Ok(text("touched"))
    }

    async fn grow(&self) -> Outcome {
        let (has_extra, peers) = {
            let mut shared = self.shared.lock().await;
            shared.has_extra = !shared.has_extra;
            (shared.has_extra, shared.peers.clone())
        };
        for peer in peers {
            let _ = peer.notify_tool_list_changed().await;
        }
        Ok(text(has_extra))
    }
}

impl ServerHandler for Interop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "tools": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "prompts": {},
            "logging": {},
        });
        let info = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": { "name": "interop-rust", "version": "1.0.0" },
        });
        serde_json::from_value(info).expect("server info")
    }

    async fn on_initialized(&self, context: rmcp::service::NotificationContext<RoleServer>) {
        self.shared.lock().await.peers.push(context.peer);
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        from(json!({ "tools": tools(self.shared.lock().await.has_extra) }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = self.run(&request.name, &arguments, &context).await?;
        Ok(from::<CallToolResult>(result)?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        from(json!({ "resources": [{ "uri": "note://one", "name": "one" }] }))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        from(json!({ "resourceTemplates": [{ "uriTemplate": "note://{name}", "name": "note" }] }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let content = json!({ "uri": request.uri, "mimeType": "text/plain", "text": format!("content of {}", request.uri) });
        Ok(from::<ReadResourceResult>(json!({ "contents": [content] }))?.into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        let mut shared = self.shared.lock().await;
        shared.subscribed.entry(request.uri).or_default().push(context.peer);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _context: Context) -> Result<(), ErrorData> {
        self.shared.lock().await.subscribed.remove(&request.uri);
        Ok(())
    }

    async fn set_level(&self, _request: SetLevelRequestParams, _context: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = json!([{ "name": "name", "required": true }]);
        from(json!({ "prompts": [{ "name": "greet", "arguments": arguments }] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let request = serde_json::to_value(request).map_err(failed)?;
        let greeting = format!("Hello {}", request["arguments"]["name"].as_str().unwrap_or_default());
        let message = json!({ "role": "user", "content": { "type": "text", "text": greeting } });
        Ok(from::<GetPromptResult>(json!({ "messages": [message] }))?.into())
    }
}

async fn serve_http(server: Interop, stateless: bool, port: &str) -> std::io::Result<()> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = !stateless;
    config.json_response = stateless;
    let mut sessions = LocalSessionManager::default();
    if let Some(ms) = std::env::var("INTEROP_IDLE_MS").ok().and_then(|text| text.parse().ok()) {
        sessions.session_config.keep_alive = Some(Duration::from_millis(ms));
    }
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let has_extra = std::env::var("INTEROP_EXTRA").is_ok_and(|value| value == "1");
    let shared = Shared { has_extra, ..Shared::default() };
    let server = Interop { shared: Arc::new(Mutex::new(shared)) };
    let port = arguments.get(2).map_or("0", String::as_str);
    match arguments[1].as_str() {
        "stdio" => {
            server.serve(stdio()).await?.waiting().await?;
        }
        mode => serve_http(server, mode == "stateless", port).await?,
    }
    Ok(())
}
