import {
  codeLanguages,
  contextStrategies,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  memoryKinds,
  memoryScopes,
  toolTypes,
} from "../core/agent-snapshot.ts";
import { errorCodes, runErrorCodes } from "../core/errors.ts";
import { origins } from "../core/origin.ts";
import { divergenceKinds, replayAgents, replayModes, stepTypes } from "../core/run-event.ts";
import { inputRoles } from "../core/run-input.ts";
import { runStatuses } from "../core/run-state.ts";
import { stripTypes } from "../core/run-summary.ts";
import { environments, permissions } from "../core/scope.ts";

export type Schema = Record<string, unknown>;

/** What answers look like, by name; they stay open, since fields may be added at any time. */
export const answerSchemas = (): Record<string, Schema> => ({
  Agent: resource("agent", { ...agent, tools: list(ref("ToolReference")), updated_at: time }),
  AgentListItem: resource("agent", { ...agent, tools: integer, updated_at: time }),
  AgentVersion: resource("agent_version", { ...agent, tools: list(ref("ToolReference")) }),
  MemoryPolicy: object({
    stores: list(
      object({
        ...{ memory_id: text, access: words(["read", "read_write"]), auto_retrieve: boolean },
        ...{ top_k: integer, score_threshold: number },
      }),
    ),
    history: object({ mode: words(["none", "thread"]), max_messages: integer }),
    context: object({
      ...{ strategy: words(contextStrategies), reserve_output_tokens: integer, tool_output_max_bytes: integer },
    }),
  }),
  ToolReference: object({ id: text, name: text, type: text }),
  Guardrail: object({
    type: words(guardrailTypes),
    on: list(words(guardrailPoints)),
    action: words(guardrailActions),
    config: anyObject,
  }),
  Tool: resource("tool", { ...tool, updated_at: time }, { ...ownOfTools, signing_secret: text }),
  ToolTest: object(
    { output: anything, error: orNull(object({ code: text, message: text })), attempts: integer, latency_ms: integer },
    { files: list(toolFile), ...named },
  ),
  Secret: resource("secret", { name: text, updated_at: time }),
  File: resource("file", file),
  FileChunk: object({ chunk_index: integer, text, tokens: integer, page: orNull(integer), heading: orNull(text) }),
  Run: resource("run", { ...run, ...talk }),
  RunListItem: resource("run", { ...run, last_calls: list(words(stripTypes)) }, talk),
  Message: object(
    { id: text, role: words(["system", "user", "assistant", "tool"]), content: text, created_at: time },
    { tool_calls: list(object({ id: text, name: text, arguments: anyObject })), tool_call_id: text },
  ),
  InputMessage: object({ role: words(inputRoles), content: text }),
  Input: { anyOf: [text, list(ref("InputMessage"))] },
  Thread: resource("thread", { ...thread, updated_at: time }),
  ThreadMessage: object(
    {
      id: text,
      run_id: orNull(text),
      role: words(["system", "user", "assistant", "tool"]),
      content: text,
      created_at: time,
    },
    { tool_calls: list(object({ id: text, name: text, arguments: anyObject })), tool_call_id: text },
  ),
  ToolCall: object(toolCall),
  RequiredAction: object({
    type: { const: "submit_tool_outputs" },
    submit_tool_outputs: object({ tool_calls: list(object(pendingCall, { run_id: text })) }),
  }),
  Usage: object({ ...counts, total_tokens: orNull(integer), model_calls: integer, tool_calls: integer, ...cost }),
  RunError: object(
    { type: { const: "run_error" }, code: words(runErrorCodes), ...runError },
    { divergence: ref("Divergence") },
  ),
  Divergence: object(divergence, { expected: anything, actual: anything }),
  Replay: object({
    mode: words(replayModes),
    agent: words(replayAgents),
    agent_version: integer,
    divergences: list(ref("Divergence")),
    first_divergence: orNull(ref("Divergence")),
    ...{ matched_steps: integer, model_calls: integer, tool_calls: integer },
  }),
  Approval: resource("approval", { run_id: text, ...pendingCall }),
  Event: object({ seq: integer, event: text, at: time, data: anyObject }),
  Memory: resource("memory", { ...memory, updated_at: time }),
  MemoryEntry: resource("memory_entry", { ...memoryEntry, updated_at: time }, {}, { anyOf: [text, number, boolean] }),
  // OTLP/JSON, with `format=otlp`: as OpenTelemetry has it.
  OtlpTrace: {
    type: "object",
    properties: { resourceSpans: { type: "array", items: {} } },
    required: ["resourceSpans"],
  },
  MemoryMatch: object(memoryMatch),
  MemoryKey: object(memoryKey, named),
  DeletedKey: object({ ...memoryKeyPlace, deleted: { const: true } }, named),
  Schedule: resource("schedule", { ...schedule, updated_at: time }),
  ScheduleRun: resource("schedule_run", scheduleRun),
  Suite: resource("suite", {
    ...suite,
    cases: list({ component: "PinnedRun", ...object(pinnedRun) }),
    updated_at: time,
  }),
  SuiteListItem: resource("suite", { ...suite, updated_at: time, last_suite_run: orNull(ref("SuiteRunListItem")) }),
  SuiteRun: resource("suite_run", { ...suiteRun, cases: list(ref("SuiteCase")) }),
  SuiteRunListItem: resource("suite_run", suiteRun),
  SuiteCase: object({
    ...{ run_id: text, agent_id: text, agent_version: orNull(integer) },
    status: words(["pending", "equal", "diverged", "failed"]),
    ...{ divergences_count: integer, divergences: list(ref("Divergence")) },
    first_divergence: orNull(ref("Divergence")),
    ...{ matched_steps: integer, live: orNull(object(liveCase)), error: orNull(object(plainError)) },
  }),
  TraceSummary: resource("trace", { ...trace, steps_count: integer }),
  Trace: resource(
    "trace",
    { ...trace, ...traceDetails, steps: list(ref("TraceStep")), steps_has_more: boolean },
    { agent: orNull(anyObject), raw: list(anyObject) },
  ),
  TraceStep: object(step, { raw: list(anyObject), files: list(madeFile), run_id: text, prompt: orNull(anyObject) }),
  Diff: object(diff, named),
  DiffStep: object(diffStep),
  ApiKey: resource("api_key", apiKey, { secret: text }),
  RotatedApiKey: resource("api_key", { ...apiKey, secret: text, previous: object(previousKey) }),
  Webhook: resource("webhook", webhook, { secret: text }),
  WebhookDeliveryListItem: resource("webhook_delivery", delivery),
  WebhookDelivery: resource("webhook_delivery", { ...delivery, body: orNull(text), attempts: list(attempt) }),
  WebhookRedelivery: object({ id: text, object: { const: "webhook_redelivery" }, deliveries: integer }, named),
  AuditEntry: object({
    id: text,
    object: { const: "audit_entry" },
    action: text,
    actor: object({ type: words(["api_key", "user", "cli"]), id: text, ip: orNull(text) }),
    target: orNull(object({ type: text, id: text })),
    details: anyObject,
    request_id: orNull(text),
    metadata: anyObject,
    created_at: time,
    project_id: orNull(text),
    environment: orNull(words(environments)),
  }),
  Model: object({
    id: text,
    object: { const: "model" },
    provider: text,
    available: boolean,
    context_window: orNull(integer),
    prices: object(
      {
        input: number,
        cached_input: number,
        output: number,
        as_of: orNull(text),
        source: words(["built_in", "operator"]),
      },
      { priced_up_to: integer, max_output_tokens: integer },
    ),
  }),
  ModelList: object({ object: { const: "list" }, data: list(ref("Model")), has_more: boolean }, named),
  UsageReport: object(
    {
      object: { const: "list" },
      data: list(object({ object: { const: "usage" }, ...used }, { day: text, agent_id: text, model: text })),
      has_more: boolean,
      totals: object(used),
      ...{ from: text, to: text, group_by: words(["day", "agent", "model"]) },
      ...{ project_id: text, environment: words(environments) },
    },
    named,
  ),
  Me: object(me, named),
  Deleted: object({ id: text, object: text, deleted: { const: true } }, named),
  Error: object({ error: object(error, { errors: list(object(fault)), details: anyObject }), request_id: text }),
});

/** A page of these. */
export const listOf = (name: string): Schema => ({
  component: `${name.replace(/ListItem$/, "")}List`,
  ...object(
    {
      object: { const: "list" },
      data: list(ref(name)),
      has_more: boolean,
      first_id: orNull(text),
      last_id: orNull(text),
    },
    named,
  ),
});

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const text = { type: "string" };
const integer = { type: "integer" };
const number = { type: "number" };
const boolean = { type: "boolean" };
const anything = {};
const anyObject = { type: "object" };
const time = { type: "string", format: "date-time" };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
const list = (items: Schema): Schema => ({ type: "array", items });
const words = (values: readonly string[]): Schema => ({ type: "string", enum: values });
const object = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
});

// Beside the rest in every answer; the items of a list have none of their own.
const named = { request_id: text };

const resource = (
  kind: string,
  fields: Record<string, Schema>,
  optional: Record<string, Schema> = {},
  ofMetadata: Schema = text,
): Schema =>
  object(
    {
      id: text,
      object: { const: kind },
      ...fields,
      metadata: { type: "object", additionalProperties: ofMetadata },
      created_at: time,
      project_id: text,
      environment: words(environments),
    },
    // Of items of lists.
    { ...optional, truncated: list(text), ...named },
  );

const budget = orNull(
  object({}, { max_cost_usd: number, max_total_tokens: integer, max_tool_calls: integer, max_wall_ms: integer }),
);

const agent = {
  name: text,
  description: orNull(text),
  instructions: text,
  model: text,
  model_settings: anyObject,
  tools_count: integer,
  output_schema: orNull(anyObject),
  max_turns: integer,
  guardrails: list(ref("Guardrail")),
  budget,
  memory: orNull(ref("MemoryPolicy")),
  version: integer,
};

const tool = {
  name: text,
  type: words(toolTypes),
  description: text,
  parameters: orNull(anyObject),
  approval: { anyOf: [words(["never", "always"]), object({}, { when: anyObject })] },
  on_unknown: words(["ask", "retry", "report"]),
  max_output_bytes: integer,
  enabled: boolean,
};

// Of tools of some types only.
const ownOfTools = {
  url: text,
  method: text,
  headers: { type: "object", additionalProperties: text },
  timeout_ms: integer,
  retries: integer,
  response: words(["json", "text"]),
  idempotent: boolean,
  language: words(codeLanguages),
  source: orNull(text),
  memory_mb: integer,
  files: list(text),
  server_url: text,
  allowed_tools: orNull(list(text)),
  tools: list(object({ name: text, description: text, parameters: anyObject })),
  skipped: list(object({ name: text, reason: text })),
  listed_at: orNull(time),
  last_error: orNull(object({ code: text, message: text, at: time })),
  agent_id: text,
};

const toolFile = object({ id: text, filename: text, mime_type: text, bytes: integer, sha256: text });

const file = {
  filename: text,
  mime_type: text,
  bytes: integer,
  sha256: text,
  purpose: words(["retrieval", "code_interpreter", "attachment", "output"]),
  status: words(["uploaded", "processing", "ready", "failed"]),
  error: orNull(object({ code: text, message: text })),
  chunks: integer,
  pages: orNull(integer),
  memory_ids: list(text),
  processed: integer,
  total: orNull(integer),
  run_id: orNull(text),
  tool_call_id: orNull(text),
  expires_at: orNull(time),
};

const thread = {
  title: orNull(text),
  user_id: orNull(text),
  session_id: orNull(text),
  status: words(["idle", "busy", "waiting"]),
  message_count: integer,
  last_run_id: orNull(text),
};

const scheduleFailure = object({ code: text, message: text, at: time, run_id: orNull(text) });

const memory = {
  name: text,
  kind: words(memoryKinds),
  scope: words(memoryScopes),
  embedding: orNull(object({ model: text, dimensions: integer })),
  ttl_seconds: orNull(integer),
  entries: orNull(integer),
  keys: orNull(integer),
  indexing: orNull(
    object({
      ...{ processed: integer, total: integer, model: text, dimensions: integer },
      error: orNull(object({ code: text, message: text })),
    }),
  ),
};

const memoryEntry = {
  memory_id: text,
  status: words(["processing", "ready", "failed"]),
  error: orNull(object({ code: text, message: text })),
  text: orNull(text),
  file_id: orNull(text),
  filename: orNull(text),
  scope_id: orNull(text),
  chunks: integer,
  processed: integer,
  total: orNull(integer),
  expires_at: orNull(time),
  metadata: anyObject,
};

const memoryMatch = {
  id: text,
  object: { const: "memory_match" },
  text,
  score: number,
  score_parts: object({ vector: orNull(number), keyword: orNull(number) }),
  file_id: orNull(text),
  filename: orNull(text),
  chunk_index: integer,
  page: orNull(integer),
  heading: orNull(text),
  metadata: anyObject,
};

const memoryKeyPlace = { object: { const: "memory_key" }, key: text, memory_id: text, scope_id: orNull(text) };
const memoryKey = {
  ...memoryKeyPlace,
  value: anything,
  version: integer,
  expires_at: orNull(time),
  created_at: time,
  updated_at: time,
};

const schedule = {
  name: text,
  agent_id: text,
  input: ref("Input"),
  cron: text,
  timezone: text,
  enabled: boolean,
  catch_up: words(["skip", "one"]),
  if_busy: words(["skip", "queue", "start"]),
  next_run_ats: list(time),
  last_run_id: orNull(text),
  last_error: orNull(scheduleFailure),
  failure_count: integer,
  disabled_reason: orNull(text),
  overrides: orNull(anyObject),
  budget: orNull(anyObject),
  user_id: orNull(text),
  session_id: orNull(text),
};

const plainError = { code: text, message: text };

const suite = { name: text, description: orNull(text), cases_count: integer };

const pinnedRun = { run_id: text, position: integer, agent_id: text, status: text, output: orNull(text) };

const suiteRun = {
  suite_id: text,
  status: words(["in_progress", "passed", "diverged", "failed", "cancelled"]),
  counts: object({ total: integer, pending: integer, equal: integer, diverged: integer, failed: integer }),
  live: orNull(object({}, { max_cost_usd: number, max_total_tokens: integer, max_runs: integer })),
  ended_at: orNull(time),
};

const liveCase = {
  run_id: orNull(text),
  status: words([...runStatuses, "skipped"]),
  output_equal: orNull(boolean),
  output: orNull(text),
  diff: orNull(object({ equal: integer, changed: integer, only_a: integer, only_b: integer })),
  cost_usd: orNull(number),
  total_tokens: orNull(integer),
  error: orNull(object(plainError)),
};

const scheduleRun = {
  schedule_id: text,
  trigger: words(["plan", "catch_up", "request"]),
  due_at: time,
  outcome: words(["started", "completed", "failed", "cancelled", "skipped", "missed"]),
  run_id: orNull(text),
  error: orNull(scheduleFailure),
};

const run = {
  agent_id: text,
  agent_version: integer,
  model: text,
  status: words(runStatuses),
  input: ref("Input"),
  output: orNull(text),
  output_json: anything,
  required_action: orNull(ref("RequiredAction")),
  usage: ref("Usage"),
  error: orNull(ref("RunError")),
  thread_id: orNull(text),
  session_id: orNull(text),
  user_id: orNull(text),
  file_ids: list(text),
  budget,
  trace_id: orNull(text),
  parent_run_id: orNull(text),
  forked_from: orNull(object({ run_id: text, step_index: integer })),
  replay_of: orNull(text),
  origin: words(origins),
  replay: orNull(ref("Replay")),
  queue_position: orNull(integer),
  attempt: integer,
  started_at: orNull(time),
  ended_at: orNull(time),
  expires_at: orNull(time),
};

// In a list only where it is asked for.
const talk = { messages: list(ref("Message")), tool_calls: list(ref("ToolCall")) };

const divergence = {
  step_index: integer,
  kind: words(divergenceKinds),
  expected_hash: text,
  actual_hash: text,
  message: text,
};

const madeFile = object({ id: text, filename: text, mime_type: text, bytes: integer, sha256: text });

const toolCall = {
  id: text,
  tool_id: orNull(text),
  tool: text,
  type: text,
  arguments: anyObject,
  status: text,
  output: anything,
  error: orNull(object({ code: text, message: text })),
  attempts: integer,
  latency_ms: orNull(integer),
  files: list(madeFile),
  subagent_run_id: orNull(text),
  created_at: time,
  completed_at: orNull(time),
};

const pendingCall = {
  id: text,
  tool_id: orNull(text),
  tool: text,
  arguments: anyObject,
  needs: words(["output", "approval", "reconcile"]),
  expires_at: time,
};

const counts = {
  input_tokens: orNull(integer),
  output_tokens: orNull(integer),
  cached_input_tokens: orNull(integer),
  reasoning_tokens: orNull(integer),
};
const cost = { cost_usd: orNull(number), estimated: boolean };

const used = {
  runs: object({ started: integer, completed: integer, failed: integer, cancelled: integer }),
  worked_ms: object({ p50: orNull(integer), p95: orNull(integer) }),
  ...{ model_calls: integer, tool_calls: integer },
  ...{ input_tokens: integer, output_tokens: integer, total_tokens: integer },
  ...{ cached_input_tokens: integer, reasoning_tokens: integer, cost_usd: number },
  ...{ unknown_cost_calls: integer, unknown_token_calls: integer, estimated_calls: integer },
};

const runError = { message: text, step_index: orNull(integer), retryable: boolean };

const trace = {
  run_id: text,
  agent_id: text,
  agent_version: integer,
  status: words(runStatuses),
  started_at: time,
  ended_at: orNull(time),
  duration_ms: integer,
  usage: ref("Usage"),
  origin: words(origins),
  forked_from: orNull(object({ run_id: text, step_index: integer })),
  replay_of: orNull(text),
  imported: boolean,
};

const traceDetails = {
  recoveries: list(object({ attempt: integer, at: time, step_index: orNull(integer) })),
  history_messages: integer,
  documents: list(
    object({
      ...{ file_id: text, filename: text, mime_type: text, sha256: text, image: boolean },
      ...{ note: orNull(text), length: orNull(integer) },
    }),
  ),
};

const ofBoth = (schema: Schema): Schema => object({ a: schema, b: schema });
const changes = ["equal", "changed", "only_a", "only_b"];
const diffStep = {
  index: integer,
  a_step_index: orNull(integer),
  b_step_index: orNull(integer),
  type: words(stepTypes),
  name: text,
  change: words(changes),
  differences: list(object({ path: text, a: anything, b: anything })),
  latency_ms: ofBoth(orNull(integer)),
  cost_usd: ofBoth(orNull(number)),
};
const diff = {
  object: { const: "diff" },
  a: text,
  b: text,
  changes: object(Object.fromEntries(changes.map((change) => [change, integer]))),
  steps: list(ref("DiffStep")),
  steps_has_more: boolean,
  usage: ofBoth(ref("Usage")),
  duration_ms: ofBoth(integer),
  delta: object({ cost_usd: orNull(number), total_tokens: orNull(integer), duration_ms: integer }),
};

const reason = object({ code: text, message: text });
const step = {
  id: text,
  object: { const: "trace_step" },
  step_index: integer,
  turn_index: integer,
  parent_id: orNull(text),
  type: words(stepTypes),
  name: text,
  status: text,
  attempt: integer,
  started_at: time,
  ended_at: orNull(time),
  latency_ms: orNull(integer),
  time_to_first_token_ms: orNull(integer),
  input: anything,
  output: anything,
  reasoning: orNull(text),
  error: orNull(reason),
  usage: orNull(object({ ...counts, ...cost })),
  finish_reason: orNull(text),
  model: orNull(text),
  tool_call_id: orNull(text),
  input_hash: orNull(text),
  replayed: boolean,
  subagent: orNull(object({ run_id: text, agent_id: text })),
  approval: orNull(
    object({
      decision: words(["approve", "reject"]),
      reason: orNull(text),
      edited: boolean,
      at: time,
      by: orNull(object({ type: text, id: orNull(text) })),
    }),
  ),
  retries: list(
    object({
      attempt: integer,
      at: time,
      reason: orNull(reason),
      delay_ms: integer,
      usage: orNull(object({ ...counts, ...cost })),
    }),
  ),
};

const apiKey = {
  name: text,
  prefix: text,
  last4: text,
  scopes: list(words(permissions)),
  status: words(["active", "rotating", "revoked", "expired"]),
  agent_ids: orNull(list(text)),
  allowed_cidrs: orNull(list(text)),
  created_by: text,
  last_used_at: orNull(time),
  last_used_ip: orNull(text),
  expires_at: orNull(time),
  revoked_at: orNull(time),
  exposed_at: orNull(time),
  rotated_to: orNull(text),
  rotated_from: orNull(text),
};

const webhook = {
  url: text,
  events: list(text),
  description: orNull(text),
  enabled: boolean,
  status: words(["active", "failing", "disabled"]),
  disabled_reason: orNull(words(["requested", "gone", "failing"])),
  secret_prefix: text,
  previous_secret_expires_at: orNull(time),
  last_delivery_at: orNull(time),
  failure_count: integer,
  updated_at: time,
};

const delivery = {
  webhook_id: text,
  event_id: text,
  type: text,
  run_id: orNull(text),
  seq: orNull(integer),
  status: words(["pending", "delivered", "failed"]),
  attempts_count: integer,
  next_attempt_at: orNull(time),
};

const attempt = object({
  number: integer,
  at: time,
  latency_ms: integer,
  request: object({ url: text, headers: anyObject }),
  response: orNull(object({ status: integer, headers: anyObject, body: text, truncated: boolean })),
  error: orNull(reason),
});

const previousKey = { id: text, status: apiKey.status, expires_at: time };

const me = {
  object: { const: "me" },
  id: text,
  scopes: list(words(permissions)),
  project_id: text,
  project: text,
  environment: words(environments),
  agent_ids: orNull(list(text)),
  key: orNull(
    object({
      name: text,
      status: apiKey.status,
      expires_at: orNull(time),
      rotated_to: orNull(text),
      exposed_at: orNull(time),
    }),
  ),
  limits: { type: "object", additionalProperties: integer },
  rate_limits: {
    type: "object",
    additionalProperties: orNull(object({ limit: integer, remaining: integer, reset: integer })),
  },
  runs_in_progress: orNull(object({ limit: integer, remaining: integer })),
  children_per_run: orNull(integer),
};

const fault = { param: orNull(text), code: text, message: text };
const error = { type: text, code: words(errorCodes), message: text, param: orNull(text), doc_url: text };
