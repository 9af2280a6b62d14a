import { customType, integer, real, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { type LabelShare, labelReasons, type RollbackRule } from "../../domain/agent-label.ts";
import { memoryKindNames, memoryScopes, toolTypes } from "../../domain/agent-snapshot.ts";
import type { Tried } from "../../domain/api-types/console.ts";
import {
  actorTypes,
  buckets,
  busyPolicies,
  caseStatuses,
  catchUps,
  disabledReasons,
  entryStatuses,
  exposures,
  filePurposes,
  fileStatuses,
  oauthGrantTypes,
  outcomes,
  roles,
  scoreSources,
  storedGrantStatuses,
  suiteRunStatuses,
  type testEvent,
  triggerOutcomes,
  triggers,
  triggerVerifications,
  type WebhookEvent,
} from "../../domain/api-types/enums.ts";
import type { ChatSettings } from "../../domain/chat-page.ts";
import type { Chunking } from "../../domain/chunking.ts";
import type { ConnectionAuth } from "../../domain/connection-auth.ts";
import type { DocumentReport } from "../../domain/document-report.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/listed-model.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import { providers } from "../../domain/providers.ts";
import type { AnswerableNeeds, Needs, ToolRequest } from "../../domain/run-event.ts";
import { runStatuses } from "../../domain/run-state.ts";
import { environments, type Permission } from "../../domain/scope.ts";
import type { SkillHead } from "../../domain/skills.ts";
import type { VariableValues } from "../../domain/variable.ts";
import type { Workspace } from "../../domain/workspace-schema.ts";
import { parseExact } from "../../lib/exact-numbers.ts";

// The types of rows are inferred from here (`$inferSelect`) and written nowhere else. The SQL in migrations/ is
// authoritative, also for keys and indexes; schema.test.ts compares the two. A column has the name of its field.
//
// Drizzle builds the statements by id, inserts, updates and lists (scoped-table.ts, page.ts). SQL with named columns is
// written by hand where a statement runs per request or event, needs a specific index, counts, joins, or touches many
// rows at once; createReader then maps its rows.

/** JSON in a TEXT column. */
const json = <T>() =>
  customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => parseExact<T>(value),
  })();

const bytes = customType<{ data: Uint8Array }>({ dataType: () => "blob" });

const scope = {
  project_id: text().notNull(),
  environment: text({ enum: environments }).notNull(),
};

/** Columns of a table whose rows belong to a project and an environment. */
const own = { ...scope, id: text().notNull() };

const times = { created_at_ms: integer().notNull(), updated_at_ms: integer().notNull() };

/** Reason why a run of a schedule failed or could not be created. */
interface FailedRun extends CodedError {
  at_ms: number;
  run_id: string | null;
}

export const projects = sqliteTable("projects", {
  id: text().primaryKey(),
  name: text().notNull(),
  settings: json<ProjectSettings>().notNull(),
  created_at_ms: integer().notNull(),
  archived_at_ms: integer(),
  deleted_at_ms: integer(),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text().primaryKey(),
  ...scope,
  hash: bytes().notNull(),
  name: text().notNull(),
  prefix: text().notNull(),
  last4: text().notNull(),
  scopes: json<readonly Permission[]>().notNull(),
  agent_ids: json<readonly string[]>(),
  allowed_cidrs: json<readonly string[]>(),
  metadata: json<Record<string, string>>().notNull(),
  created_by: text().notNull(),
  created_at_ms: integer().notNull(),
  expires_at_ms: integer(),
  revoked_at_ms: integer(),
  exposed_at_ms: integer(),
  exposure: text({ enum: exposures }),
  last_used_at_ms: integer(),
  last_used_ip: text(),
  rotated_to: text(),
  rotated_from: text(),
});

export const tools = sqliteTable("tools", {
  ...own,
  name: text().notNull(),
  type: text({ enum: toolTypes }).notNull(),
  definition: json<object>().notNull(),
  sealed: text().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const agents = sqliteTable("agents", {
  ...own,
  name: text().notNull(),
  model: text().notNull(),
  version: integer().notNull(),
  definition: json<object>().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const agentVersions = sqliteTable("agent_versions", {
  ...scope,
  agent_id: text().notNull(),
  version: integer().notNull(),
  definition: json<object>().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  created_at_ms: integer().notNull(),
});

export const agentLabels = sqliteTable("agent_labels", {
  ...own,
  agent_id: text().notNull(),
  name: text().notNull(),
  shares: json<LabelShare[]>().notNull(),
  rollback_on: json<RollbackRule>(),
  revision: integer().notNull(),
  moved_revision: integer().notNull(),
  moved_at_ms: integer().notNull(),
  ...times,
});

export const agentLabelRevisions = sqliteTable("agent_label_revisions", {
  ...scope,
  label_id: text().notNull(),
  revision: integer().notNull(),
  shares: json<LabelShare[]>().notNull(),
  reason: text({ enum: labelReasons }).notNull(),
  restores: integer(),
  actor_type: text({ enum: actorTypes }).notNull(),
  actor_id: text().notNull(),
  created_at_ms: integer().notNull(),
});

/** Runs that named a label. */
export const labelRuns = sqliteTable("label_runs", {
  ...scope,
  run_id: text().notNull(),
  label_id: text().notNull(),
  revision: integer().notNull(),
  version: integer().notNull(),
  status: text(),
  worked_ms: integer(),
  input_tokens: integer(),
  output_tokens: integer(),
  cost_nano_usd: integer(),
});

export const agentTools = sqliteTable("agent_tools", {
  ...scope,
  agent_id: text().notNull(),
  tool_id: text().notNull(),
  position: integer().notNull(),
});

export const runs = sqliteTable("runs", {
  id: text().primaryKey(),
  ...scope,
  agent_id: text().notNull(),
  status: text({ enum: runStatuses }).notNull(),
  seq: integer().notNull(),
  attempt: integer().notNull(),
  thread_id: text(),
  session_id: text(),
  user_id: text(),
  metadata: json<Record<string, string>>().notNull(),
  created_at_ms: integer().notNull(),
  ended_at_ms: integer(),
  worked_ms: integer().notNull(),
  status_since_ms: integer().notNull(),
  timeout_ms: integer().notNull(),
  action_timeout_ms: integer().notNull(),
  expires_at_ms: integer(),
  summary: text(),
  model: text(),
  parent_run_id: text(),
  parent_call_id: text(),
  depth: integer().notNull(),
  origin: text().notNull(),
  source_run_id: text(),
  root_run_id: text(),
  runs_below: integer().notNull(),
  projected: integer().notNull().default(0),
  cost_nano_usd: integer(),
});

export const runEvents = sqliteTable("run_events", {
  run_id: text().notNull(),
  seq: integer().notNull(),
  at_ms: integer().notNull(),
  type: text().notNull(),
  data: text().notNull(),
  blobs: text(),
});

export const blobs = sqliteTable("blobs", { ...scope, hash: text().notNull(), content: text().notNull() });

export const runBlobs = sqliteTable("run_blobs", { run_id: text().notNull(), hash: text().notNull() });

/** Runs whose record is incomplete: it is being imported or deleted in pieces. */
export const partialRecords = sqliteTable("partial_records", { run_id: text().primaryKey() });

export const pendingCalls = sqliteTable("pending_calls", {
  run_id: text().notNull(),
  id: text().notNull(),
  ...scope,
  needs: text().$type<Needs>().notNull(),
  call: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const clientCalls = sqliteTable("client_calls", {
  ...scope,
  id: text().notNull(),
  run_id: text().notNull(),
});

/** Runs and threads that show an inline image. */
export const imageUses = sqliteTable("image_uses", {
  ...scope,
  file_id: text().notNull(),
  owner_id: text().notNull(),
});

/** Calls of runs that wait for a person. */
export const approvals = sqliteView("approvals", {
  id: text().notNull(),
  run_id: text().notNull(),
  ...scope,
  needs: text().$type<AnswerableNeeds>().notNull(),
  call: json<ToolRequest>().notNull(),
  created_at_ms: integer().notNull(),
  expires_at_ms: integer(),
  metadata: json<Record<string, string>>().notNull(),
}).existing();

export const idempotencyKeys = sqliteTable("idempotency_keys", {
  ...scope,
  key: text().notNull(),
  hash: text().notNull(),
  created_at_ms: integer().notNull(),
  run_id: text(),
  seq: integer(),
  expires_at_ms: integer(),
  status: integer(),
  location: text(),
  sealed: text(),
  agent_ids: text(),
});

export const modelConnections = sqliteTable("model_connections", {
  name: text().primaryKey(),
  provider: text({ enum: providers }).notNull(),
  base_url: text(),
  sealed_key: text(),
  created_at_ms: integer().notNull(),
  max_concurrent: integer(),
  idle_timeout_ms: integer(),
  fallbacks: json<string[]>(),
  version: integer().notNull().default(1),
  updated_at_ms: integer(),
  region: text(),
  project: text(),
  location: text(),
  sealed_secrets: text(),
  auth: json<ConnectionAuth>(),
});

export const modelConnectionGrants = sqliteTable("model_connection_grants", {
  connection: text().primaryKey(),
  status: text({ enum: storedGrantStatuses }).notNull(),
  sealed: text().notNull(),
  scopes: json<readonly string[]>().notNull(),
  is_refreshable: integer({ mode: "boolean" }).notNull(),
  expires_at_ms: integer(),
  refreshed_at_ms: integer(),
  claimed_until_ms: integer().notNull(),
  error: json<CodedError>(),
  created_at_ms: integer().notNull(),
});

export const modelConnectionConsents = sqliteTable("model_connection_consents", {
  state_hash: bytes().primaryKey(),
  connection: text().notNull(),
  sealed: text().notNull(),
  is_done: integer({ mode: "boolean" }).notNull(),
  error: json<CodedError>(),
  expires_at_ms: integer().notNull(),
  browser_hash: bytes(),
});

export const modelConnectionRevocations = sqliteTable("model_connection_revocations", {
  id: text().primaryKey(),
  sealed: text().notNull(),
  attempts: integer().notNull(),
  due_at_ms: integer().notNull(),
});

export const modelLists = sqliteTable("model_lists", {
  prefix: text().primaryKey(),
  identity: text().notNull(),
  read_at_ms: integer().notNull(),
});

export const listedModels = sqliteTable("listed_models", {
  prefix: text().notNull(),
  model: text().notNull(),
  details: json<ListedModel>().notNull(),
});

export const modelConnectionTests = sqliteTable("model_connection_tests", {
  prefix: text().primaryKey(),
  identity: text().notNull(),
  result: json<Tried>().notNull(),
  tested_at_ms: integer().notNull(),
});

export const learntRefusals = sqliteTable("learnt_refusals", {
  prefix: text().notNull(),
  model: text().notNull(),
  identity: text().notNull(),
  refusals: json<string[]>().notNull(),
  learnt_at_ms: integer().notNull(),
});

export const users = sqliteTable("users", {
  id: text().primaryKey(),
  email: text().notNull(),
  password_hash: text().notNull(),
  created_at_ms: integer().notNull(),
  role: text({ enum: roles }).notNull(),
});

export const identities = sqliteTable("identities", {
  issuer: text().notNull(),
  subject: text().notNull(),
  user_id: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const totp = sqliteTable("totp", {
  user_id: text().primaryKey(),
  sealed: text().notNull(),
  last_step: integer().notNull(),
  confirmed_at_ms: integer(),
});

export const recoveryCodes = sqliteTable("recovery_codes", { user_id: text().notNull(), hash: bytes().notNull() });

export const passkeys = sqliteTable("passkeys", {
  id: text().primaryKey(),
  user_id: text().notNull(),
  credential_id: text().notNull(),
  public_key: bytes().notNull(),
  counter: integer().notNull(),
  rp_id: text().notNull(),
  name: text().notNull(),
  created_at_ms: integer().notNull(),
  last_used_at_ms: integer(),
});

export const passwordResets = sqliteTable("password_resets", {
  hash: bytes().primaryKey(),
  user_id: text().notNull(),
  expires_at_ms: integer().notNull(),
});

export const alerts = sqliteTable("alerts", {
  id: text().primaryKey(),
  rule: text().notNull(),
  project_id: text(),
  environment: text({ enum: environments }),
  subject: text(),
  detail: text().notNull(),
  opened_at_ms: integer().notNull(),
  closed_at_ms: integer(),
});

export const sessions = sqliteTable("sessions", {
  hash: bytes().primaryKey(),
  id: text().notNull(),
  user_id: text().notNull(),
  user_agent: text(),
  ip: text(),
  created_at_ms: integer().notNull(),
  last_seen_at_ms: integer().notNull(),
});

export const invitations = sqliteTable("invitations", {
  id: text().primaryKey(),
  hash: bytes().notNull(),
  email: text().notNull(),
  role: text({ enum: roles }).notNull(),
  invited_by: text().notNull(),
  created_at_ms: integer().notNull(),
  expires_at_ms: integer().notNull(),
});

export const facts = sqliteTable("facts", { name: text().primaryKey(), value: text().notNull() });

export const setupTokens = sqliteTable("setup_tokens", {
  hash: bytes().primaryKey(),
  expires_at_ms: integer().notNull(),
});

export const auditLog = sqliteTable("audit_log", {
  id: text().primaryKey(),
  project_id: text(),
  environment: text({ enum: environments }),
  action: text().notNull(),
  actor_type: text({ enum: actorTypes }).notNull(),
  actor_id: text().notNull(),
  ip: text(),
  request_id: text(),
  target_type: text(),
  target_id: text(),
  details: json<Record<string, unknown>>().notNull(),
  created_at_ms: integer().notNull(),
});

export const secrets = sqliteTable("secrets", {
  ...own,
  name: text().notNull(),
  sealed: text().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const snippets = sqliteTable("snippets", {
  ...own,
  name: text().notNull(),
  description: text(),
  version: integer().notNull(),
  text: text().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const snippetVersions = sqliteTable("snippet_versions", {
  ...scope,
  snippet_id: text().notNull(),
  version: integer().notNull(),
  text: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const fileBlobs = sqliteTable("file_blobs", {
  ...own,
  sha256: text(),
  bytes: integer().notNull(),
  chunk_bytes: integer().notNull(),
  created_at_ms: integer().notNull(),
});

export const fileChunks = sqliteTable("file_chunks", {
  ...scope,
  blob_id: text().notNull(),
  position: integer().notNull(),
  content: bytes().notNull(),
});

export const skills = sqliteTable("skills", {
  ...own,
  name: text().notNull(),
  version: integer().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const skillVersions = sqliteTable("skill_versions", {
  ...scope,
  skill_id: text().notNull(),
  version: integer().notNull(),
  head: json<SkillHead>().notNull(),
  sha256: text().notNull(),
  bytes: integer().notNull(),
  files: integer().notNull(),
  created_at_ms: integer().notNull(),
});

export const skillFiles = sqliteTable("skill_files", {
  ...scope,
  skill_id: text().notNull(),
  version: integer().notNull(),
  path: text().notNull(),
  sha256: text().notNull(),
  bytes: integer().notNull(),
});

export const files = sqliteTable("files", {
  ...own,
  sha256: text().notNull(),
  bytes: integer().notNull(),
  filename: text().notNull(),
  mime_type: text().notNull(),
  purpose: text({ enum: filePurposes }).notNull(),
  status: text({ enum: fileStatuses }).notNull(),
  error: json<CodedError>(),
  chunking: json<Chunking>(),
  chunks: integer().notNull().default(0),
  pages: integer(),
  attempts: integer().notNull().default(0),
  encoding: text(),
  include_hidden: integer({ mode: "boolean" }).notNull().default(false),
  pages_done: integer(),
  report: json<DocumentReport>(),
  run_id: text(),
  tool_call_id: text(),
  agent_id: text(),
  metadata: json<Record<string, string>>().notNull(),
  created_at_ms: integer().notNull(),
  expires_at_ms: integer(),
  owner: text(),
});

export const modelPrices = sqliteTable("model_prices", {
  model: text().primaryKey(),
  input: real().notNull(),
  cached_input: real().notNull(),
  output: real().notNull(),
  context_window: integer(),
  cache_write_5m: real(),
  cache_write_1h: real(),
  set_at_ms: integer().notNull(),
});

export const modelPriceTable = sqliteTable("model_price_table", {
  id: integer().primaryKey(),
  version: text().notNull(),
  as_of: text().notNull(),
  origin: text().notNull(),
  models: integer().notNull(),
  lines: text().notNull(),
  loaded_at_ms: integer().notNull(),
});

export const earlyOutputs = sqliteTable("early_outputs", {
  run_id: text().notNull(),
  call_id: text().notNull(),
  answer: json<unknown>().notNull(),
});

export const usageDays = sqliteTable("usage_days", {
  ...scope,
  day: text().notNull(),
  agent_id: text().notNull(),
  model: text().notNull(),
  runs_started: integer().notNull(),
  runs_completed: integer().notNull(),
  runs_failed: integer().notNull(),
  runs_cancelled: integer().notNull(),
  model_calls: integer().notNull(),
  tool_calls: integer().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cached_input_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  cache_write_5m_tokens: integer().notNull(),
  cache_write_1h_tokens: integer().notNull(),
  cost_nano_usd: integer().notNull(),
  unknown_tokens: integer().notNull(),
  unknown_cost: integer().notNull(),
  estimated: integer().notNull(),
});

export const usageDurations = sqliteTable("usage_durations", {
  ...scope,
  day: text().notNull(),
  agent_id: text().notNull(),
  model: text().notNull(),
  runs_by_ms: json<Record<string, number>>().notNull(),
});

export const schedules = sqliteTable("schedules", {
  ...own,
  name: text().notNull(),
  agent_id: text().notNull(),
  definition: json<object>().notNull(),
  cron: text().notNull(),
  timezone: text().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  catch_up: text({ enum: catchUps }).notNull(),
  if_busy: text({ enum: busyPolicies }).notNull(),
  next_at_ms: integer(),
  next_run_ats: json<number[]>().notNull(),
  queued_at_ms: integer(),
  failure_count: integer().notNull().default(0),
  disabled_reason: text(),
  last_error: json<FailedRun>(),
  last_run_id: text(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const scheduleRuns = sqliteTable("schedule_runs", {
  ...own,
  schedule_id: text().notNull(),
  trigger: text({ enum: triggers }).notNull(),
  due_at_ms: integer().notNull(),
  outcome: text({ enum: outcomes }).notNull(),
  run_id: text(),
  error: json<FailedRun>(),
  created_at_ms: integer().notNull(),
});

/** Addresses of events from outside. The constant `triggers` names why a schedule's run was started. */
export const eventTriggers = sqliteTable("triggers", {
  ...own,
  name: text().notNull(),
  agent_id: text().notNull(),
  verification: text({ enum: triggerVerifications }).notNull(),
  secret_header: text(),
  sealed: text().notNull(),
  has_secret: integer({ mode: "boolean" }).notNull(),
  previous_until_ms: integer(),
  definition: json<object>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  rate_limit_per_minute: integer().notNull(),
  last_run_id: text(),
  last_event_at_ms: integer(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const triggerEvents = sqliteTable("trigger_events", {
  ...scope,
  trigger_id: text().notNull(),
  key: text().notNull(),
  run_id: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const triggerDeliveries = sqliteTable("trigger_deliveries", {
  ...own,
  trigger_id: text().notNull(),
  outcome: text({ enum: triggerOutcomes }).notNull(),
  status: integer().notNull(),
  run_id: text(),
  reason: text(),
  created_at_ms: integer().notNull(),
});

export const oauthClients = sqliteTable("oauth_clients", {
  ...own,
  name: text().notNull(),
  grant: text({ enum: oauthGrantTypes }).notNull(),
  per_user: integer({ mode: "boolean" }).notNull(),
  mcp_server_url: text(),
  definition: json<object>().notNull(),
  sealed: text().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const oauthGrants = sqliteTable("oauth_grants", {
  ...own,
  oauth_client_id: text().notNull(),
  user_id: text(),
  status: text({ enum: storedGrantStatuses }).notNull(),
  sealed: text().notNull(),
  scopes: json<readonly string[]>().notNull(),
  wanted_scopes: json<readonly string[]>().notNull(),
  is_refreshable: integer({ mode: "boolean" }).notNull(),
  expires_at_ms: integer(),
  refreshed_at_ms: integer(),
  error: json<CodedError>(),
  created_at_ms: integer().notNull(),
});

export const oauthAuthorizations = sqliteTable("oauth_authorizations", {
  ...scope,
  state_hash: bytes().notNull(),
  oauth_client_id: text().notNull(),
  user_id: text(),
  run_id: text(),
  return_url: text(),
  sealed: text().notNull(),
  expires_at_ms: integer().notNull(),
  browser_hash: bytes(),
  is_taken: integer({ mode: "boolean" }).notNull().default(false),
});

export const oauthRevocations = sqliteTable("oauth_revocations", {
  ...own,
  sealed: text().notNull(),
  attempts: integer().notNull(),
  due_at_ms: integer().notNull(),
  created_at_ms: integer().notNull(),
});

export const webhooks = sqliteTable("webhooks", {
  ...own,
  url: text().notNull(),
  events: json<string[]>().notNull(),
  description: text(),
  enabled: integer({ mode: "boolean" }).notNull(),
  disabled_reason: text({ enum: disabledReasons }),
  sealed: text().notNull(),
  secret_prefix: text().notNull(),
  previous_until_ms: integer(),
  failing_since_ms: integer(),
  failure_count: integer().notNull().default(0),
  last_delivery_at_ms: integer(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
  deleted_at_ms: integer(),
  run_id: text(),
  name: text(),
});

export const webhookDeliveries = sqliteTable("webhook_deliveries", {
  ...own,
  webhook_id: text().notNull(),
  type: text().$type<WebhookEvent | typeof testEvent>().notNull(),
  run_id: text(),
  seq: integer(),
  run_expires_at_ms: integer(),
  body: text(),
  status: text({ enum: ["pending", "delivered", "failed"] }).notNull(),
  failures: integer().notNull().default(0),
  attempts: integer().notNull().default(0),
  next_at_ms: integer(),
  created_at_ms: integer().notNull(),
});

export const webhookAttempts = sqliteTable("webhook_attempts", {
  ...scope,
  delivery_id: text().notNull(),
  number: integer().notNull(),
  at_ms: integer().notNull(),
  latency_ms: integer().notNull(),
  request: json<unknown>().notNull(),
  response: json<unknown>(),
  error: json<unknown>(),
});

export const documentChunks = sqliteTable("document_chunks", {
  ...scope,
  file_id: text().notNull(),
  chunk_index: integer().notNull(),
  text: text().notNull(),
  tokens: integer().notNull(),
  page: integer(),
  heading: text(),
  boxes: text(),
  source: text({ enum: ["ocr"] }),
});

export const memoryStores = sqliteTable("memory_stores", {
  ...own,
  number: integer().notNull(),
  name: text().notNull(),
  kind: text({ enum: memoryKindNames }).notNull(),
  scope: text({ enum: memoryScopes }).notNull(),
  model: text(),
  dimensions: integer(),
  generation: integer(),
  next_model: text(),
  next_dimensions: integer(),
  last_generation: integer(),
  ttl_seconds: integer(),
  metadata: json<Record<string, string>>().notNull(),
  items: integer().notNull().default(0),
  last_version: integer().notNull().default(0),
  ...times,
  deleted_at_ms: integer(),
});

export const memoryStoreNumbers = sqliteTable("memory_store_numbers", { number: integer().notNull() });

export const memoryEntries = sqliteTable("memory_entries", {
  ...own,
  memory_id: text().notNull(),
  scope_id: text().notNull(),
  file_id: text(),
  text: text(),
  chunking: text().notNull(),
  metadata: text().notNull(),
  status: text({ enum: entryStatuses }).notNull(),
  error: text(),
  processed: integer().notNull().default(0),
  total: integer(),
  tool_call_id: text(),
  ...times,
  expires_at_ms: integer(),
  deleted_at_ms: integer(),
});

export const memoryChunks = sqliteTable("memory_chunks", {
  number: integer().primaryKey({ autoIncrement: true }),
  ...scope,
  entry_id: text().notNull(),
  store: integer().notNull(),
  chunk_index: integer().notNull(),
  text: text().notNull(),
  tokens: integer().notNull(),
  page: integer(),
  heading: text(),
  generation: integer().notNull().default(0),
});

export const memoryKeys = sqliteTable("memory_keys", {
  ...scope,
  memory_id: text().notNull(),
  scope_id: text().notNull(),
  key: text().notNull(),
  value: text().notNull(),
  version: integer().notNull(),
  tool_call_id: text(),
  ...times,
  expires_at_ms: integer(),
});

export const erasures = sqliteTable("erasures", {
  ...scope,
  id: text().notNull(),
  user_id: text(),
  deleted: json<Record<string, number>>().notNull(),
  created_at_ms: integer().notNull(),
  completed_at_ms: integer(),
});

export const factWork = sqliteTable("fact_work", { ...scope, run_id: text().notNull(), memory_id: text().notNull() });

export const factRuns = sqliteTable("fact_runs", {
  ...scope,
  run_id: text().notNull(),
  source_run_id: text().notNull(),
  memory_id: text().notNull(),
  user_id: text().notNull(),
  known: json<{ id: string; text: string }[]>().notNull(),
  is_open: integer(),
});

export const runFiles = sqliteTable("run_files", {
  ...scope,
  file_id: text().notNull(),
  run_id: text().notNull(),
});

/** Contents that runs and threads need for what their programs share. */
export const workspaceContents = sqliteTable("workspace_contents", {
  ...scope,
  owner_id: text().notNull(),
  sha256: text().notNull(),
});

export const threadWorkspaces = sqliteTable("thread_workspaces", {
  ...scope,
  thread_id: text().notNull(),
  workspace: json<Workspace>().notNull(),
  updated_at_ms: integer().notNull(),
});

export const threads = sqliteTable("threads", {
  ...own,
  title: text(),
  user_id: text(),
  session_id: text(),
  message_count: integer().notNull().default(0),
  last_run_id: text(),
  last_agent_id: text(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
  variables: json<VariableValues>(),
});

export const threadMessages = sqliteTable("thread_messages", {
  ...scope,
  thread_id: text().notNull(),
  position: integer().notNull(),
  id: text().notNull(),
  run_id: text(),
  message: text().notNull(),
  prompt: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const threadPlaces = sqliteTable("thread_places", {
  ...scope,
  thread_id: text().notNull(),
  id: text().notNull(),
  position: integer().notNull(),
});

export const threadChats = sqliteTable("thread_chats", {
  ...scope,
  agent_id: text().notNull(),
  user_id: text().notNull(),
  chat: text().notNull(),
  thread_id: text().notNull(),
});

export const suites = sqliteTable("suites", {
  ...own,
  name: text().notNull(),
  description: text(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const suiteCases = sqliteTable("suite_cases", {
  ...scope,
  suite_id: text().notNull(),
  run_id: text().notNull(),
  position: integer().notNull(),
  agent_id: text().notNull(),
  status: text({ enum: runStatuses }).notNull(),
  output: text(),
});

export const suiteRuns = sqliteTable("suite_runs", {
  ...own,
  suite_id: text().notNull(),
  status: text({ enum: suiteRunStatuses }).notNull(),
  live: json<object>(),
  metadata: json<Record<string, string>>().notNull(),
  created_at_ms: integer().notNull(),
  ended_at_ms: integer(),
});

export const suiteRunCases = sqliteTable("suite_run_cases", {
  ...scope,
  suite_run_id: text().notNull(),
  position: integer().notNull(),
  run_id: text().notNull(),
  agent_id: text().notNull(),
  status: text({ enum: caseStatuses }).notNull(),
  result: text(),
});

export const chatPages = sqliteTable("chat_pages", {
  ...scope,
  agent_id: text().notNull(),
  id: text().notNull(),
  settings: json<ChatSettings>().notNull(),
  sealed: text().notNull(),
  ...times,
});

export const scores = sqliteTable("scores", {
  ...own,
  run_id: text().notNull(),
  agent_id: text().notNull(),
  thread_id: text(),
  name: text().notNull(),
  source: text({ enum: scoreSources }).notNull(),
  author_id: text().notNull(),
  value: real().notNull(),
  comment: text(),
  ...times,
});

export const mcpSessions = sqliteTable("mcp_sessions", {
  ...own,
  asker: text().notNull(),
  address: text().notNull(),
  version: text().notNull(),
  elicits: integer({ mode: "boolean" }).notNull(),
  expires_at_ms: integer().notNull(),
});

export const searchDocuments = sqliteTable("search_documents", {
  number: integer().primaryKey(),
  ...scope,
  type: text().notNull(),
  id: text().notNull(),
  created_at_ms: integer().notNull(),
});

export const searchChanges = sqliteTable("search_changes", {
  ...scope,
  type: text().notNull(),
  id: text().notNull(),
});

export const analytics = sqliteTable("analytics", {
  ...scope,
  dimension: text().notNull(),
  unit: text({ enum: buckets }).notNull(),
  at_ms: integer().notNull(),
  agent_id: text().notNull(),
  name: text().notNull(),
  count: integer().notNull(),
  completed: integer().notNull(),
  failed: integer().notNull(),
  cancelled: integer().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cost_nano_usd: integer().notNull(),
  took_ms: integer().notNull(),
});

export const projectMoves = sqliteTable("project_moves", {
  id: text().primaryKey(),
  project: text().notNull(),
  name: text().notNull(),
  cell: text().notNull(),
  state: text({ enum: ["out", "gone", "in"] }).notNull(),
  at_ms: integer().notNull(),
});

export const projectParcels = sqliteTable("project_parcels", {
  move: text().notNull(),
  position: integer().notNull(),
  content: bytes().notNull(),
});
