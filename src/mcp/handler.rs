//! From MCP requests to the supervisor and back.

use std::path::Path;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CompletionInfo, ContentBlock, CustomNotification, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::progress::Reporter;
use super::prompts;
use super::resources;
use super::schema;
use super::subscriptions::{Listener, Subscriptions};
use super::tasks;
use super::tools::{
    self, FlakyCheck, NoArguments, Reading, Restarted, RunResult, Running, RuntimeStatus, SpecFor, SpecList, SpecRun,
    parse,
};
use super::{CONTINUES, HURRY, RUN_ID};
use crate::error::{Error, Kind, Result};
use crate::journal::Entry;
use crate::supervisor::Supervisor;
use crate::supervisor::call::RunArguments;
use crate::supervisor::runs::{Answer, Found, Ongoing};

/// Seconds after which a run that goes on is answered with `running`: less than any client waits for an answer (60 s in the
/// TypeScript SDK).
const WAIT_SECONDS: u64 = 45;

/// How long a client may keep the list of tools: it changes with the binary only.
const TOOLS_TTL_MS: u64 = 3_600_000;

/// Requests whose parameters may be wrong.
const METHODS: [&str; 14] = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

#[derive(Debug, Clone)]
pub(super) struct Handler {
    supervisor: Supervisor,
    tools: Vec<Tool>,
    subscriptions: Subscriptions,
    /// Cancelled at the end of the session.
    over: CancellationToken,
}

impl Handler {
    pub(super) fn new(supervisor: Supervisor, over: CancellationToken) -> Self {
        Handler {
            supervisor,
            tools: tools::all(),
            subscriptions: Subscriptions::default(),
            over,
        }
    }

    /// The alias has the arguments of what it stands for.
    fn check(&self, name: &str, arguments: &JsonObject) -> Result<()> {
        let tool = self.tools.iter().find(|tool| tool.name == tools::listed(name));
        tool.map_or(Ok(()), |tool| arguments::check(&tool.input_schema, arguments))
    }

    async fn answer(&self, name: &str, arguments: JsonObject, context: RequestContext<RoleServer>) -> CallToolResponse {
        if let Err(error) = self.check(name, &arguments) {
            return failure(&error).into();
        }
        let caller = Caller {
            reporter: Reporter::of(&context),
            takes_tasks: tasks::declared(&context),
            continues: context
                .meta
                .get(CONTINUES)
                .and_then(|run| Some(run.as_str()?.to_owned())),
            cancel: context.ct,
        };
        answered(self.clone().call(name.to_owned(), Value::Object(arguments), caller)).await
    }

    async fn call(self, name: String, arguments: Value, caller: Caller) -> Result<CallToolResponse> {
        if tools::listed(&name) == tools::SPEC_RUN {
            return self.run(parse(arguments)?, caller).await;
        }
        self.other(&name, arguments, caller).await.map(CallToolResponse::from)
    }

    async fn other(self, name: &str, arguments: Value, caller: Caller) -> Result<CallToolResult> {
        if let Some(reading) = Reading::named(name) {
            let question = (reading.question)(arguments)?;
            return success(&self.supervisor.read(question, caller.cancel).await?);
        }
        match tools::listed(name) {
            tools::SPEC_LIST => {
                let input: SpecList = parse(arguments)?;
                success(&self.supervisor.list(input.into(), caller.cancel).await?)
            }
            tools::SPEC_FOR => {
                let input: SpecFor = parse(arguments)?;
                success(&self.supervisor.concern(input.into()).await?)
            }
            tools::FLAKY => {
                let input: FlakyCheck = parse(arguments)?;
                success(&self.supervisor.check_flaky(input.into(), caller.cancel).await?)
            }
            tools::STATUS => self.status(parse(arguments)?, caller.cancel).await,
            tools::RESTART => {
                parse::<NoArguments>(arguments)?;
                self.restart().await
            }
            _ => self.result(parse(arguments)?, caller).await,
        }
    }

    async fn run(self, input: SpecRun, caller: Caller) -> Result<CallToolResponse> {
        let takes_tasks = caller.takes_tasks;
        let wait = input.wait_seconds.or(takes_tasks.then_some(tasks::WAIT_SECONDS));
        let arguments = RunArguments {
            continues: caller.continues.clone(),
            ..input.into()
        };
        let ongoing = self.supervisor.begin(arguments).await?;
        match wait_for(&ongoing, wait, caller).await? {
            Answer::Running(_) if takes_tasks => Ok(CallToolResponse::Task(tasks::created(&ongoing))),
            answer => told(&ongoing, answer).map(CallToolResponse::from),
        }
    }

    async fn result(self, input: RunResult, caller: Caller) -> Result<CallToolResult> {
        let unknown = |()| {
            let message = format!("`{}` is no id of a run", input.run_id);
            Error::new(Kind::InvalidArguments, message).hint("it is `run_id` of an earlier answer, such as `run-7`")
        };
        let id = input.run_id.parse().map_err(unknown)?;
        input.check()?;
        match self.supervisor.found(id)? {
            // What there is by now, at once: to wait for its end is another question.
            Found::Ongoing(ongoing) if ongoing.error().is_none() => match (input.failure, input.output) {
                (Some(number), _) => {
                    let failure = self.supervisor.failure_so_far(&ongoing, number)?;
                    success(&Running::with(&ongoing, failure))
                }
                (None, Some(stream)) => {
                    let offset = input.offset.unwrap_or(0);
                    success(&self.supervisor.output_so_far(&ongoing, stream, offset)?)
                }
                (None, None) => told(&ongoing, wait_for(&ongoing, input.wait_seconds, caller).await?),
            },
            Found::Ongoing(ongoing) => told(&ongoing, wait_for(&ongoing, input.wait_seconds, caller).await?),
            Found::Over(over) => match (input.failure, input.output) {
                (Some(number), _) => success(&over.failure(number)?),
                (None, Some(stream)) => success(&over.page(stream, input.offset.unwrap_or(0))?),
                (None, None) => success(&over.report()),
            },
        }
    }

    /// The same for all prompts and resources: a name means one thing.
    async fn completions(&self, argument: &str, text: &str) -> CompletionInfo {
        let values: Vec<String> = match argument {
            prompts::PATH => self.supervisor.completions(text).await.unwrap_or_default(),
            prompts::RUN | "id" => {
                let known = self.supervisor.known_runs().into_iter();
                let ids = known.map(|(id, _)| id.to_string());
                ids.filter(|id| id.contains(text)).collect()
            }
            _ => Vec::new(),
        };
        completed(values)
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

/// As many as an answer may have, and whether there are more.
fn completed(values: Vec<String>) -> CompletionInfo {
    let total = u32::try_from(values.len()).ok();
    let more = values.len() > CompletionInfo::MAX_VALUES;
    let first = values.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    CompletionInfo::with_pagination(first, total, more).unwrap_or_default()
}

/// Waits for the end of a run, telling how far it is, and no longer than every client waits.
async fn wait_for(ongoing: &Ongoing, wait_seconds: Option<u64>, caller: Caller) -> Result<Answer> {
    let telling = caller
        .reporter
        .map(|reporter| AbortOnDrop(tokio::spawn(reporter.tell(ongoing))));
    let at_most = Duration::from_secs(wait_seconds.unwrap_or(WAIT_SECONDS));
    let answer = ongoing.wait(Some(at_most), &caller.cancel).await;
    drop(telling);
    answer
}

fn told(ongoing: &Ongoing, answer: Answer) -> Result<CallToolResult> {
    match answer {
        Answer::Over(over) => success(&over.report()),
        Answer::Running(_) => success(&Running::of(ongoing)),
    }
}

/// Who called, and how to tell them.
struct Caller {
    cancel: CancellationToken,
    reporter: Option<Reporter>,
    /// Whether a run may be handed out as a task.
    takes_tasks: bool,
    /// The run that is of one selection with the one that is asked for.
    continues: Option<String>,
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("coatepec", env!("CARGO_PKG_VERSION")).with_title("Coatepec"))
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(self.tools.iter().map(schema::listed).collect());
        Ok(list.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        let list = ListResourcesResult::with_all_items(resources::list(&self.supervisor));
        // Runs come and go.
        Ok(list.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(list.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        let result = resources::read(&self.supervisor, &request.uri).await?;
        Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let telling = Listener::Session(context.peer).tell_of_runs(self.supervisor.clone());
        self.subscriptions.add(String::new(), telling, self.over.clone());
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        resources::subscribable(&self.supervisor, &request.uri)?;
        let telling = Listener::Session(context.peer).tell_of(self.supervisor.clone(), request.uri.clone());
        self.subscriptions.add(request.uri, telling, self.over.clone());
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        self.subscriptions.remove(request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::subscribable(&self.supervisor, uri).is_ok());
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> std::result::Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut telling = JoinSet::new();
        for uri in uris {
            let listener = Listener::Subscription(context.sink().clone());
            telling.spawn(listener.tell_of(self.supervisor.clone(), uri));
        }
        if context.accepted().resources_list_changed == Some(true) {
            telling.spawn(Listener::Subscription(context.sink().clone()).tell_of_runs(self.supervisor.clone()));
        }
        context.cancelled().await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::all());
        Ok(list.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get(&self.supervisor, &request.name, &arguments)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<CompleteResult, ErrorData> {
        let values = self.completions(&request.argument.name, &request.argument.value).await;
        Ok(CompleteResult::new(values))
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
        let since = Instant::now();
        let client = context.client_info().map(|client| client.name);
        let entry = Entry::default()
            .with_client(client.as_deref())
            .with_paths(paths(&arguments));
        let result = self.answer(&name, arguments, context).await;
        self.supervisor.called(Entry {
            tool: Some(name),
            paths: entry.paths,
            more_paths: entry.more_paths,
            client: entry.client,
            ..account(&result, self.supervisor.root(), since.elapsed())
        });
        Ok(result)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<GetTaskResult, ErrorData> {
        tasks::state(&self.supervisor, &request.task_id).map(GetTaskResult::new)
    }

    /// A run asks its client for nothing.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        tasks::state(&self.supervisor, &request.task_id).map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        tasks::cancel(&self.supervisor, &request.task_id)
    }

    /// What could not be read as a request that is known: of another name, or with other parameters than it has.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(match METHODS.contains(&method.as_str()) {
            true => ErrorData::invalid_params(format!("the parameters are none of `{method}`"), None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleServer>,
    ) {
        let run = notification
            .params
            .as_ref()
            .and_then(|params| params[RUN_ID].as_str()?.parse().ok());
        if let (HURRY, Some(run)) = (notification.method.as_str(), run) {
            self.supervisor.hurry(run);
        }
    }
}

/// In a task of its own, so that a panic is an answer and not the end of the session.
async fn answered(call: impl Future<Output = Result<CallToolResponse>> + Send + 'static) -> CallToolResponse {
    let result = tokio::spawn(call)
        .await
        .unwrap_or_else(|error| Err(Error::internal("the call failed").source(error)));
    result.unwrap_or_else(|error| failure(&error).into())
}

/// The selectors that were named: all that is kept of the arguments.
fn paths(arguments: &JsonObject) -> impl Iterator<Item = &str> {
    let paths = arguments.get("paths").and_then(Value::as_array);
    paths.into_iter().flatten().filter_map(Value::as_str)
}

/// What an answer amounts to, in the words of its result.
fn account(response: &CallToolResponse, root: &Path, took: Duration) -> Entry {
    let now = Entry::now(root, took);
    match response {
        CallToolResponse::Complete(result) => account_of_result(result, now),
        CallToolResponse::Task(created) => Entry {
            run_id: Some(created.task.task_id.clone()),
            outcome: Some("running".to_owned()),
            ..now
        },
        _ => now,
    }
}

fn account_of_result(result: &CallToolResult, now: Entry) -> Entry {
    let text = result.content.first().and_then(|content| content.as_text());
    let text = text.map_or("", |text| text.text.as_str());
    let parsed = || serde_json::from_str(text).unwrap_or_default();
    let body: Value = result.structured_content.clone().unwrap_or_else(parsed);
    let member = |name: &str| body[name].as_str().map(str::to_owned);
    Entry {
        run_id: member("run_id"),
        outcome: member("outcome"),
        mode: member("mode"),
        code: member("code").filter(|_| result.is_error == Some(true)),
        bytes: Some(text.len()),
        ..now
    }
}

/// Both halves, each complete: some clients pass on only the one, some only the other.
pub(super) fn success(value: &impl Serialize) -> Result<CallToolResult> {
    let value =
        serde_json::to_value(value).map_err(|error| Error::internal("failed to write the result").source(error))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    Ok(result)
}

/// No structured half: it would have to fit the output schema.
pub(super) fn failure(error: &Error) -> CallToolResult {
    let mut body = JsonObject::new();
    body.insert("code".into(), json!(error.kind.code()));
    body.insert("message".into(), json!(error.to_string()));
    body.extend(error.hint.as_ref().map(|hint| ("hint".to_owned(), json!(hint))));
    if let Some(Value::Object(details)) = error.details.as_deref() {
        body.extend(details.clone());
    }
    CallToolResult::error(vec![ContentBlock::text(Value::Object(body).to_string())])
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResponse;

    use super::{answered, completed};

    #[test]
    fn a_completion_says_whether_there_are_more() {
        for (count, more) in [(0, false), (100, false), (101, true), (251, true)] {
            let told = completed((0..count).map(|n| n.to_string()).collect());
            assert_eq!(
                (told.values.len(), told.has_more),
                (count.min(100), Some(more)),
                "{count}"
            );
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_tool_is_answered() {
        let answer = answered(async { unreachable!("a bug of ours") }).await;
        let CallToolResponse::Complete(result) = answer else {
            unreachable!("it is no task");
        };
        assert_eq!(result.is_error, Some(true));
        let text = &result.content[0].as_text().expect("it says why").text;
        assert!(
            text.contains("\"internal\"") && text.contains("a bug of ours"),
            "{text}"
        );
    }
}
