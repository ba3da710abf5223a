//! From MCP requests to the supervisor and back.

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::tools::{self, NoArguments, Reading, Restarted, RuntimeStatus, SpecRun, parse};
use crate::error::{Error, Result};
use crate::supervisor::Supervisor;

/// How long a client may keep the list of tools: it changes with the binary only.
const TOOLS_TTL_MS: u64 = 3_600_000;

#[derive(Debug, Clone)]
pub(super) struct Handler {
    supervisor: Supervisor,
    tools: Vec<Tool>,
}

impl Handler {
    pub(super) fn new(supervisor: Supervisor) -> Self {
        Handler {
            supervisor,
            tools: tools::all(),
        }
    }

    /// The alias has the arguments of what it stands for.
    fn check(&self, name: &str, arguments: &JsonObject) -> Result<()> {
        let listed = if name == tools::SPEC_RUN_ALIAS {
            tools::SPEC_RUN
        } else {
            name
        };
        let tool = self.tools.iter().find(|tool| tool.name == listed);
        tool.map_or(Ok(()), |tool| arguments::check(&tool.input_schema, arguments))
    }

    async fn call(self, name: String, arguments: Value, cancel: CancellationToken) -> Result<CallToolResult> {
        if let Some(reading) = Reading::named(&name) {
            let question = (reading.question)(arguments)?;
            return success(&self.supervisor.read(question, cancel).await?);
        }
        match name.as_str() {
            tools::STATUS => self.status(parse(arguments)?, cancel).await,
            tools::RESTART => {
                parse::<NoArguments>(arguments)?;
                self.restart().await
            }
            _ => {
                let input: SpecRun = parse(arguments)?;
                success(&self.supervisor.run(input.into(), cancel).await?)
            }
        }
    }

    async fn status(self, input: RuntimeStatus, cancel: CancellationToken) -> Result<CallToolResult> {
        if input.boot == Some(true) {
            self.supervisor.boot(cancel).await?;
        }
        success(&self.supervisor.status().await?)
    }

    async fn restart(self) -> Result<CallToolResult> {
        success(&Restarted {
            ended_boot_id: self.supervisor.restart().await,
            next: "booting; calls wait for it",
        })
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("coatepec", env!("CARGO_PKG_VERSION")).with_title("Coatepec"))
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(self.tools.clone());
        Ok(list.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if !tools::exists(&name) {
            return Err(ErrorData::invalid_params(
                format!("there is no tool named `{name}`"),
                None,
            ));
        }
        let arguments = request.arguments.unwrap_or_default();
        if let Err(error) = self.check(&name, &arguments) {
            return Ok(failure(&error).into());
        }
        // A task of its own, so that a panic is an answer and not the end of the session.
        let call = tokio::spawn(self.clone().call(name, Value::Object(arguments), context.ct));
        let result = call
            .await
            .unwrap_or_else(|error| Err(Error::internal("the call failed").source(error)));
        Ok(result.unwrap_or_else(|error| failure(&error)).into())
    }
}

/// Both halves, each complete: some clients pass on only the one, some only the other.
fn success(value: &impl Serialize) -> Result<CallToolResult> {
    let value =
        serde_json::to_value(value).map_err(|error| Error::internal("failed to write the result").source(error))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    Ok(result)
}

/// No structured half: it would have to fit the output schema.
fn failure(error: &Error) -> CallToolResult {
    let mut body = JsonObject::new();
    body.insert("code".into(), json!(error.kind.code()));
    body.insert("message".into(), json!(error.to_string()));
    body.extend(error.hint.as_ref().map(|hint| ("hint".to_owned(), json!(hint))));
    if let Some(Value::Object(details)) = error.details.as_deref() {
        body.extend(details.clone());
    }
    CallToolResult::error(vec![ContentBlock::text(Value::Object(body).to_string())])
}
