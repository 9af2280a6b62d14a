import { customType, integer, primaryKey, real, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { memoryKinds, memoryScopes, toolTypes } from "../core/agent-snapshot.ts";
import type { ProjectSettings } from "../core/project-settings.ts";
import type { Needs, ToolRequest } from "../core/run-event.ts";
import { runStatuses } from "../core/run-state.ts";
import { environments, type Permission } from "../core/scope.ts";
import type { Chunking } from "../documents/chunking.ts";
import {
  actorTypes,
  busyPolicies,
  caseStatuses,
  catchUps,
  deliveryStatuses,
  disabledReasons,
  entryStatuses,
  filePurposes,
  fileStatuses,
  outcomes,
  suiteRunStatuses,
  type testEvent,
  triggers,
  type WebhookEvent,
} from "../wire/names.ts";

// What rows are: their types are inferred from here (`$inferSelect`) and written nowhere else. The SQL in migrations/ is
// the truth; schema.test.ts compares the two.
//
// Which statements are drizzle's: those by id, an insert, a change, a list (rows.ts, page.ts). A statement stays SQL, with
// its columns named, where it runs for each request or event, is written for one index, counts, joins, or touches many
// rows at once; createReader then gives its rows.

/** JSON in a TEXT column. */
const json = <T>(name: string) =>
  customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => JSON.parse(value) as T,
  })(name);

const bytes = customType<{ data: Uint8Array }>({ dataType: () => "blob" });

const scope = {
  project_id: text("project_id").notNull(),
  environment: text("environment", { enum: environments }).notNull(),
};

const roles = ["owner", "member", "viewer"] as const;

/** Why something failed. */
interface Failed {
  code: string;
  message: string;
}

/** Why a run of a schedule failed, or could not be created. */
interface FailedRun extends Failed {
  at_ms: number;
  run_id: string | null;
}

export const projects = sqliteTable("projects", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  settings: json<ProjectSettings>("settings").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  archived_at_ms: integer("archived_at_ms"),
  deleted_at_ms: integer("deleted_at_ms"),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text("id").primaryKey(),
  ...scope,
  hash: bytes("hash").notNull(),
  name: text("name").notNull(),
  prefix: text("prefix").notNull(),
  last4: text("last4").notNull(),
  scopes: json<readonly Permission[]>("scopes").notNull(),
  agent_ids: json<readonly string[]>("agent_ids"),
  allowed_cidrs: json<readonly string[]>("allowed_cidrs"),
  metadata: json<Record<string, string>>("metadata").notNull(),
  created_by: text("created_by").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  expires_at_ms: integer("expires_at_ms"),
  revoked_at_ms: integer("revoked_at_ms"),
  exposed_at_ms: integer("exposed_at_ms"),
  last_used_at_ms: integer("last_used_at_ms"),
  last_used_ip: text("last_used_ip"),
  rotated_to: text("rotated_to"),
  rotated_from: text("rotated_from"),
});

export const tools = sqliteTable(
  "tools",
  {
    ...scope,
    id: text("id").notNull(),
    name: text("name").notNull(),
    type: text("type", { enum: toolTypes }).notNull(),
    definition: json<object>("definition").notNull(),
    sealed: text("sealed").notNull(),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const agents = sqliteTable(
  "agents",
  {
    ...scope,
    id: text("id").notNull(),
    name: text("name").notNull(),
    model: text("model").notNull(),
    version: integer("version").notNull(),
    definition: json<object>("definition").notNull(),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const agentVersions = sqliteTable(
  "agent_versions",
  {
    ...scope,
    agent_id: text("agent_id").notNull(),
    version: integer("version").notNull(),
    definition: json<object>("definition").notNull(),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.agent_id, table.version] })],
);

export const agentTools = sqliteTable(
  "agent_tools",
  {
    ...scope,
    agent_id: text("agent_id").notNull(),
    tool_id: text("tool_id").notNull(),
    position: integer("position").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.agent_id, table.tool_id] })],
);

export const runs = sqliteTable("runs", {
  id: text("id").primaryKey(),
  ...scope,
  agent_id: text("agent_id").notNull(),
  status: text("status", { enum: runStatuses }).notNull(),
  seq: integer("seq").notNull(),
  attempt: integer("attempt").notNull(),
  thread_id: text("thread_id"),
  session_id: text("session_id"),
  user_id: text("user_id"),
  metadata: json<Record<string, string>>("metadata").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  ended_at_ms: integer("ended_at_ms"),
  worked_ms: integer("worked_ms").notNull(),
  status_since_ms: integer("status_since_ms").notNull(),
  timeout_ms: integer("timeout_ms").notNull(),
  action_timeout_ms: integer("action_timeout_ms").notNull(),
  expires_at_ms: integer("expires_at_ms"),
  summary: text("summary"),
  model: text("model"),
  parent_run_id: text("parent_run_id"),
  parent_call_id: text("parent_call_id"),
  depth: integer("depth").notNull(),
  origin: text("origin").notNull(),
  source_run_id: text("source_run_id"),
  root_run_id: text("root_run_id"),
  runs_below: integer("runs_below").notNull(),
});

export const runEvents = sqliteTable(
  "run_events",
  {
    run_id: text("run_id").notNull(),
    seq: integer("seq").notNull(),
    at_ms: integer("at_ms").notNull(),
    type: text("type").notNull(),
    data: text("data").notNull(),
    blobs: text("blobs"),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.seq] })],
);

export const blobs = sqliteTable(
  "blobs",
  { ...scope, hash: text("hash").notNull(), content: text("content").notNull() },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.hash] })],
);

export const runBlobs = sqliteTable(
  "run_blobs",
  { run_id: text("run_id").notNull(), hash: text("hash").notNull() },
  (table) => [primaryKey({ columns: [table.run_id, table.hash] })],
);

export const pendingCalls = sqliteTable(
  "pending_calls",
  {
    run_id: text("run_id").notNull(),
    id: text("id").notNull(),
    ...scope,
    needs: text("needs").$type<Needs>().notNull(),
    call: text("call").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.id] })],
);

/** Calls of runs that wait for somebody. */
export const approvals = sqliteView("approvals", {
  id: text("id").notNull(),
  run_id: text("run_id").notNull(),
  ...scope,
  needs: text("needs").$type<Needs>().notNull(),
  call: json<ToolRequest>("call").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  expires_at_ms: integer("expires_at_ms"),
  metadata: json<Record<string, string>>("metadata").notNull(),
}).existing();

export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    ...scope,
    key: text("key").notNull(),
    hash: text("hash").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    run_id: text("run_id"),
    seq: integer("seq"),
    expires_at_ms: integer("expires_at_ms"),
    status: integer("status"),
    location: text("location"),
    sealed: text("sealed"),
    agent_ids: text("agent_ids"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.key] })],
);

export const modelConnections = sqliteTable("model_connections", {
  name: text("name").primaryKey(),
  provider: text("provider", {
    enum: ["openai", "anthropic", "google", "ollama", "openai_compatible", "test"],
  }).notNull(),
  base_url: text("base_url"),
  sealed_key: text("sealed_key"),
  created_at_ms: integer("created_at_ms").notNull(),
  max_concurrent: integer("max_concurrent"),
});

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  email: text("email").notNull(),
  password_hash: text("password_hash").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  role: text("role", { enum: roles }).notNull(),
});

export const sessions = sqliteTable("sessions", {
  hash: bytes("hash").primaryKey(),
  id: text("id").notNull(),
  user_id: text("user_id").notNull(),
  user_agent: text("user_agent"),
  ip: text("ip"),
  created_at_ms: integer("created_at_ms").notNull(),
  last_seen_at_ms: integer("last_seen_at_ms").notNull(),
});

export const invitations = sqliteTable("invitations", {
  id: text("id").primaryKey(),
  hash: bytes("hash").notNull(),
  email: text("email").notNull(),
  role: text("role", { enum: roles }).notNull(),
  invited_by: text("invited_by").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
  expires_at_ms: integer("expires_at_ms").notNull(),
});

export const facts = sqliteTable("facts", { name: text("name").primaryKey(), value: text("value").notNull() });

export const setupTokens = sqliteTable("setup_tokens", {
  hash: bytes("hash").primaryKey(),
  expires_at_ms: integer("expires_at_ms").notNull(),
});

export const auditLog = sqliteTable("audit_log", {
  id: text("id").primaryKey(),
  project_id: text("project_id"),
  environment: text("environment", { enum: environments }),
  action: text("action").notNull(),
  actor_type: text("actor_type", { enum: actorTypes }).notNull(),
  actor_id: text("actor_id").notNull(),
  ip: text("ip"),
  request_id: text("request_id"),
  target_type: text("target_type"),
  target_id: text("target_id"),
  details: json<Record<string, unknown>>("details").notNull(),
  created_at_ms: integer("created_at_ms").notNull(),
});

export const secrets = sqliteTable(
  "secrets",
  {
    ...scope,
    id: text("id").notNull(),
    name: text("name").notNull(),
    sealed: text("sealed").notNull(),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const fileBlobs = sqliteTable(
  "file_blobs",
  {
    ...scope,
    id: text("id").notNull(),
    sha256: text("sha256"),
    bytes: integer("bytes").notNull(),
    chunk_bytes: integer("chunk_bytes").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const fileChunks = sqliteTable(
  "file_chunks",
  {
    ...scope,
    blob_id: text("blob_id").notNull(),
    position: integer("position").notNull(),
    content: bytes("content").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.blob_id, table.position] })],
);

export const files = sqliteTable(
  "files",
  {
    ...scope,
    id: text("id").notNull(),
    sha256: text("sha256").notNull(),
    bytes: integer("bytes").notNull(),
    filename: text("filename").notNull(),
    mime_type: text("mime_type").notNull(),
    purpose: text("purpose", { enum: filePurposes }).notNull(),
    status: text("status", { enum: fileStatuses }).notNull(),
    error: json<Failed>("error"),
    chunking: json<Chunking>("chunking"),
    chunks: integer("chunks").notNull().default(0),
    pages: integer("pages"),
    attempts: integer("attempts").notNull().default(0),
    run_id: text("run_id"),
    tool_call_id: text("tool_call_id"),
    agent_id: text("agent_id"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    expires_at_ms: integer("expires_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const modelPrices = sqliteTable("model_prices", {
  model: text("model").primaryKey(),
  input: real("input").notNull(),
  cached_input: real("cached_input").notNull(),
  output: real("output").notNull(),
  context_window: integer("context_window"),
  set_at_ms: integer("set_at_ms").notNull(),
});

export const earlyOutputs = sqliteTable(
  "early_outputs",
  {
    run_id: text("run_id").notNull(),
    call_id: text("call_id").notNull(),
    answer: json<unknown>("answer").notNull(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.call_id] })],
);

export const usageDays = sqliteTable(
  "usage_days",
  {
    ...scope,
    day: text("day").notNull(),
    agent_id: text("agent_id").notNull(),
    model: text("model").notNull(),
    runs_started: integer("runs_started").notNull(),
    runs_completed: integer("runs_completed").notNull(),
    runs_failed: integer("runs_failed").notNull(),
    runs_cancelled: integer("runs_cancelled").notNull(),
    model_calls: integer("model_calls").notNull(),
    tool_calls: integer("tool_calls").notNull(),
    input_tokens: integer("input_tokens").notNull(),
    output_tokens: integer("output_tokens").notNull(),
    cached_input_tokens: integer("cached_input_tokens").notNull(),
    reasoning_tokens: integer("reasoning_tokens").notNull(),
    cost_nano_usd: integer("cost_nano_usd").notNull(),
    unknown_tokens: integer("unknown_tokens").notNull(),
    unknown_cost: integer("unknown_cost").notNull(),
    estimated: integer("estimated").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.day, table.agent_id, table.model] })],
);

export const usageDurations = sqliteTable(
  "usage_durations",
  {
    ...scope,
    day: text("day").notNull(),
    agent_id: text("agent_id").notNull(),
    model: text("model").notNull(),
    runs_by_ms: json<Record<string, number>>("runs_by_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.day, table.agent_id, table.model] })],
);

export const schedules = sqliteTable(
  "schedules",
  {
    ...scope,
    id: text("id").notNull(),
    name: text("name").notNull(),
    agent_id: text("agent_id").notNull(),
    definition: json<object>("definition").notNull(),
    cron: text("cron").notNull(),
    timezone: text("timezone").notNull(),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    catch_up: text("catch_up", { enum: catchUps }).notNull(),
    if_busy: text("if_busy", { enum: busyPolicies }).notNull(),
    next_at_ms: integer("next_at_ms"),
    next_run_ats: json<number[]>("next_run_ats").notNull(),
    queued_at_ms: integer("queued_at_ms"),
    failure_count: integer("failure_count").notNull().default(0),
    disabled_reason: text("disabled_reason"),
    last_error: json<FailedRun>("last_error"),
    last_run_id: text("last_run_id"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const scheduleRuns = sqliteTable(
  "schedule_runs",
  {
    ...scope,
    id: text("id").notNull(),
    schedule_id: text("schedule_id").notNull(),
    trigger: text("trigger", { enum: triggers }).notNull(),
    due_at_ms: integer("due_at_ms").notNull(),
    outcome: text("outcome", { enum: outcomes }).notNull(),
    run_id: text("run_id"),
    error: json<FailedRun>("error"),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const webhooks = sqliteTable(
  "webhooks",
  {
    ...scope,
    id: text("id").notNull(),
    url: text("url").notNull(),
    events: json<string[]>("events").notNull(),
    description: text("description"),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    disabled_reason: text("disabled_reason", { enum: disabledReasons }),
    sealed: text("sealed").notNull(),
    secret_prefix: text("secret_prefix").notNull(),
    previous_until_ms: integer("previous_until_ms"),
    failing_since_ms: integer("failing_since_ms"),
    failure_count: integer("failure_count").notNull().default(0),
    last_delivery_at_ms: integer("last_delivery_at_ms"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
    deleted_at_ms: integer("deleted_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    ...scope,
    id: text("id").notNull(),
    webhook_id: text("webhook_id").notNull(),
    type: text("type").$type<WebhookEvent | typeof testEvent>().notNull(),
    run_id: text("run_id"),
    seq: integer("seq"),
    run_expires_at_ms: integer("run_expires_at_ms"),
    body: text("body"),
    status: text("status", { enum: deliveryStatuses }).notNull(),
    failures: integer("failures").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    next_at_ms: integer("next_at_ms"),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const webhookAttempts = sqliteTable(
  "webhook_attempts",
  {
    ...scope,
    delivery_id: text("delivery_id").notNull(),
    number: integer("number").notNull(),
    at_ms: integer("at_ms").notNull(),
    latency_ms: integer("latency_ms").notNull(),
    request: json<unknown>("request").notNull(),
    response: json<unknown>("response"),
    error: json<unknown>("error"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.delivery_id, table.number] })],
);

export const documentChunks = sqliteTable(
  "document_chunks",
  {
    ...scope,
    file_id: text("file_id").notNull(),
    chunk_index: integer("chunk_index").notNull(),
    text: text("text").notNull(),
    tokens: integer("tokens").notNull(),
    page: integer("page"),
    heading: text("heading"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.file_id, table.chunk_index] })],
);

export const memoryStores = sqliteTable(
  "memory_stores",
  {
    ...scope,
    id: text("id").notNull(),
    number: integer("number").notNull(),
    name: text("name").notNull(),
    kind: text("kind", { enum: memoryKinds }).notNull(),
    scope: text("scope", { enum: memoryScopes }).notNull(),
    model: text("model"),
    dimensions: integer("dimensions"),
    generation: integer("generation"),
    next_model: text("next_model"),
    next_dimensions: integer("next_dimensions"),
    last_generation: integer("last_generation"),
    ttl_seconds: integer("ttl_seconds"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    items: integer("items").notNull().default(0),
    last_version: integer("last_version").notNull().default(0),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
    deleted_at_ms: integer("deleted_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const memoryStoreNumbers = sqliteTable("memory_store_numbers", { number: integer("number").notNull() });

export const memoryEntries = sqliteTable(
  "memory_entries",
  {
    ...scope,
    id: text("id").notNull(),
    memory_id: text("memory_id").notNull(),
    scope_id: text("scope_id").notNull(),
    file_id: text("file_id"),
    text: text("text"),
    chunking: text("chunking").notNull(),
    metadata: text("metadata").notNull(),
    status: text("status", { enum: entryStatuses }).notNull(),
    error: text("error"),
    processed: integer("processed").notNull().default(0),
    total: integer("total"),
    tool_call_id: text("tool_call_id"),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
    expires_at_ms: integer("expires_at_ms"),
    deleted_at_ms: integer("deleted_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const memoryChunks = sqliteTable("memory_chunks", {
  number: integer("number").primaryKey({ autoIncrement: true }),
  ...scope,
  entry_id: text("entry_id").notNull(),
  store: integer("store").notNull(),
  chunk_index: integer("chunk_index").notNull(),
  text: text("text").notNull(),
  tokens: integer("tokens").notNull(),
  page: integer("page"),
  heading: text("heading"),
  generation: integer("generation").notNull().default(0),
});

export const memoryKeys = sqliteTable(
  "memory_keys",
  {
    ...scope,
    memory_id: text("memory_id").notNull(),
    scope_id: text("scope_id").notNull(),
    key: text("key").notNull(),
    value: text("value").notNull(),
    version: integer("version").notNull(),
    tool_call_id: text("tool_call_id"),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
    expires_at_ms: integer("expires_at_ms"),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.environment, table.memory_id, table.scope_id, table.key] }),
  ],
);

export const threads = sqliteTable(
  "threads",
  {
    ...scope,
    id: text("id").notNull(),
    title: text("title"),
    user_id: text("user_id"),
    session_id: text("session_id"),
    message_count: integer("message_count").notNull().default(0),
    last_run_id: text("last_run_id"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const threadMessages = sqliteTable(
  "thread_messages",
  {
    ...scope,
    thread_id: text("thread_id").notNull(),
    position: integer("position").notNull(),
    id: text("id").notNull(),
    run_id: text("run_id"),
    message: text("message").notNull(),
    prompt: text("prompt").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.thread_id, table.position] })],
);

export const threadPlaces = sqliteTable(
  "thread_places",
  {
    ...scope,
    thread_id: text("thread_id").notNull(),
    id: text("id").notNull(),
    position: integer("position").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const suites = sqliteTable(
  "suites",
  {
    ...scope,
    id: text("id").notNull(),
    name: text("name").notNull(),
    description: text("description"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    updated_at_ms: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const suiteCases = sqliteTable(
  "suite_cases",
  {
    ...scope,
    suite_id: text("suite_id").notNull(),
    run_id: text("run_id").notNull(),
    position: integer("position").notNull(),
    agent_id: text("agent_id").notNull(),
    status: text("status", { enum: runStatuses }).notNull(),
    output: text("output"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.suite_id, table.run_id] })],
);

export const suiteRuns = sqliteTable(
  "suite_runs",
  {
    ...scope,
    id: text("id").notNull(),
    suite_id: text("suite_id").notNull(),
    status: text("status", { enum: suiteRunStatuses }).notNull(),
    live: json<object>("live"),
    metadata: json<Record<string, string>>("metadata").notNull(),
    created_at_ms: integer("created_at_ms").notNull(),
    ended_at_ms: integer("ended_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.id] })],
);

export const suiteRunCases = sqliteTable(
  "suite_run_cases",
  {
    ...scope,
    suite_run_id: text("suite_run_id").notNull(),
    position: integer("position").notNull(),
    run_id: text("run_id").notNull(),
    agent_id: text("agent_id").notNull(),
    status: text("status", { enum: caseStatuses }).notNull(),
    result: text("result"),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.environment, table.suite_run_id, table.position] })],
);
