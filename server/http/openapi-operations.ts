import { memoryKinds, toolTypes } from "../core/agent-snapshot.ts";
import { capsuleType } from "../core/capsule-format.ts";
import { idPattern, type Kind } from "../core/ids.ts";
import { origins } from "../core/origin.ts";
import { callNeeds } from "../core/run-event.ts";
import { runStatuses } from "../core/run-state.ts";
import { environments } from "../core/scope.ts";
import { Agent, AgentListItem, AgentVersion } from "../wire/agent.ts";
import { AuditEntry } from "../wire/audit.ts";
import { Event } from "../wire/events.ts";
import { File, FileChunk } from "../wire/file.ts";
import { ApiKey, Me, RotatedApiKey } from "../wire/key.ts";
import { DeletedKey, Memory, MemoryEntry, MemoryKey, MemoryMatch } from "../wire/memory.ts";
import { ModelList } from "../wire/model.ts";
import {
  deliveryStatuses,
  entryStatuses,
  filePurposes,
  fileStatuses,
  outcomes,
  suiteRunStatuses,
  testEvent,
  threadStatuses,
  uploadPurposes,
  usageGroupings,
  webhookEvents,
} from "../wire/names.ts";
import { Approval, Run, RunListItem } from "../wire/run.ts";
import { Schedule, ScheduleRun } from "../wire/schedule.ts";
import { Deleted, listOf } from "../wire/schema.ts";
import { Secret } from "../wire/secret.ts";
import { Suite, SuiteListItem, SuiteRun, SuiteRunListItem } from "../wire/suite.ts";
import { Thread, ThreadMessage } from "../wire/thread.ts";
import { Tool, ToolTest } from "../wire/tool.ts";
import { Diff, OtlpTrace, Trace, TraceSummary } from "../wire/trace.ts";
import { UsageReport } from "../wire/usage.ts";
import { Webhook, WebhookDelivery, WebhookDeliveryListItem, WebhookRedelivery } from "../wire/webhook.ts";
import type { Need } from "./auth.ts";
import type { Schema } from "./openapi-components.ts";

/** What a route's own schemas do not say of it. */
export interface Operation {
  id: string;
  tag: string;
  summary: string;
  needs: Need;
  query?: Record<string, Schema>;
  /** What parameters of the path may be, where the route takes more, to say what is wrong with it. */
  path?: Record<string, Schema>;
  /** Status and body of the answer. */
  answer: [status: number, body: Schema];
  /** When the same body comes with 200, beside the status of the answer. */
  known?: string;
  /** The formats of the answer, where that is not JSON. */
  media?: readonly string[];
  /** The body in parts, where it is taken so too. */
  parts?: Schema;
  /** The media type of another body that it takes, which is no JSON. */
  binary?: string;
  /** When the same address answers with server-sent events. */
  streams?: string;
  /** Codes of its 409. */
  conflicts?: readonly string[];
}

const text = { type: "string" };
const time = { type: "string", format: "date-time" };
/** What is not empty, as cursors and words of a client's own are. */
const filled = (maxLength?: number) => ({ type: "string", minLength: 1, ...(maxLength && { maxLength }) });
const cursor = filled();
const subject = filled(255);
const id = (kind: Kind) => ({ type: "string", pattern: idPattern(kind) });
const day = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\d([Tt].+)?$" };
const limit = { type: "integer", minimum: 1, maximum: 100, default: 20 };

const page: Record<string, Schema> = {
  limit,
  starting_after: cursor,
  ending_before: cursor,
  order: { type: "string", enum: ["desc", "asc"], default: "desc" },
  "created_at[gt]": time,
  "created_at[gte]": time,
  "created_at[lt]": time,
  "created_at[lte]": time,
};
const some = { limit, starting_after: cursor };

/** Resources whose five addresses differ in nothing but their names. */
const agents = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Agents", summary, needs });
const tools = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Tools", summary, needs });
const runs = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Runs", summary, needs });
const secrets = (verb: string, summary: string) => ({ id: verb, tag: "Secrets", summary, needs: "admin" as const });
const traces = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Traces", summary, needs });
const keys = (verb: string, summary: string) => ({ id: verb, tag: "API keys", summary, needs: "admin" as const });
const account = (verb: string, summary: string) => ({
  id: verb,
  tag: "Account",
  summary,
  needs: "read_or_run" as const,
});

const schedules = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Schedules", summary, needs });
const suites = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Suites", summary, needs });
const threads = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Threads", summary, needs });
const files = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Files", summary, needs });
const uploadInParts = {
  type: "object",
  properties: {
    file: { type: "string", contentMediaType: "application/octet-stream" },
    purpose: { type: "string", enum: uploadPurposes },
    memory_id: id("memory"),
    scope_id: subject,
    chunking: {
      type: "object",
      properties: { max_chunk_size_tokens: { type: "integer" }, chunk_overlap_tokens: { type: "integer" } },
    },
    metadata: { type: "object", additionalProperties: text },
    expires_in_seconds: { type: "integer", minimum: 1 },
  },
  required: ["file", "purpose"],
};

const memories = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Memory", summary, needs });
const ofScope = { scope_id: subject };

const webhooks = (verb: string, summary: string, needs: Need) => ({ id: verb, tag: "Webhooks", summary, needs });

const deleted: Operation["answer"] = [200, Deleted];

/** By method and path, as the routes have them. */
export const operations: Record<string, Operation> = {
  "POST /v1/agents": { ...agents("createAgent", "Create an agent", "admin"), answer: [201, Agent] },
  "GET /v1/agents": {
    ...agents("listAgents", "List agents", "read"),
    query: page,
    answer: [200, listOf(AgentListItem)],
  },
  "GET /v1/agents/:id": { ...agents("getAgent", "Retrieve an agent", "read"), answer: [200, Agent] },
  "PATCH /v1/agents/:id": {
    ...agents("updateAgent", "Change an agent: a new version", "admin"),
    answer: [200, Agent],
    conflicts: ["version_conflict"],
  },
  "DELETE /v1/agents/:id": { ...agents("deleteAgent", "Delete an agent", "admin"), answer: deleted },
  "GET /v1/agents/:id/versions": {
    ...agents("listAgentVersions", "List the versions of an agent, newest first", "read"),
    query: { limit, starting_after: { type: "string", pattern: "^[1-9]\\d{0,14}$" } },
    answer: [200, listOf(AgentVersion)],
  },
  "GET /v1/agents/:id/versions/:version": {
    ...agents("getAgentVersion", "Retrieve an agent as it was at one version", "read"),
    answer: [200, AgentVersion],
  },
  "POST /v1/tools": {
    ...tools("createTool", "Create a tool", "admin"),
    answer: [201, Tool],
    conflicts: ["name_taken"],
  },
  "GET /v1/tools": {
    ...tools("listTools", "List tools", "read"),
    query: { ...page, type: { type: "string", enum: toolTypes } },
    answer: [200, listOf(Tool)],
  },
  "GET /v1/tools/:id": { ...tools("getTool", "Retrieve a tool", "read"), answer: [200, Tool] },
  "PATCH /v1/tools/:id": {
    ...tools("updateTool", "Change a tool", "admin"),
    answer: [200, Tool],
    conflicts: ["name_taken"],
  },
  "DELETE /v1/tools/:id": { ...tools("deleteTool", "Delete a tool", "admin"), answer: deleted },
  "POST /v1/tools/:id/refresh": {
    ...tools("refreshTool", "Ask an MCP server again what it can do", "admin"),
    answer: [200, Tool],
  },
  "POST /v1/tools/:id/test": {
    ...tools("testTool", "Call a tool outside of any run", "admin"),
    answer: [200, ToolTest],
  },
  "GET /v1/secrets": { ...secrets("listSecrets", "List secrets"), query: page, answer: [200, listOf(Secret)] },
  "GET /v1/secrets/:name": {
    ...secrets("getSecret", "Retrieve what is known of a secret, but never its value"),
    answer: [200, Secret],
  },
  "PUT /v1/secrets/:name": {
    ...secrets("setSecret", "Set a secret, or give it another value"),
    path: { name: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" } },
    answer: [200, Secret],
  },
  "DELETE /v1/secrets/:name": { ...secrets("deleteSecret", "Delete a secret"), answer: deleted },
  "POST /v1/files": {
    ...files("createFile", "Upload a file", "run"),
    parts: uploadInParts,
    answer: [201, File],
  },
  "GET /v1/files": {
    ...files("listFiles", "List files", "read_or_run"),
    query: {
      ...page,
      purpose: { type: "string", enum: filePurposes },
      status: { type: "string", enum: fileStatuses },
    },
    answer: [200, listOf(File)],
  },
  "GET /v1/files/:id": {
    ...files("getFile", "Retrieve what is known of a file", "read_or_run"),
    answer: [200, File],
  },
  "GET /v1/files/:id/content": {
    ...files("getFileContent", "Download a file, or the range of it that is asked for", "read_or_run"),
    media: ["application/octet-stream", "*/*"], // As the file is; the first is what generators read.
    answer: [200, {}],
  },
  "GET /v1/files/:id/chunks": {
    ...files("listFileChunks", "List the pieces of a document's text, in their order", "read_or_run"),
    query: some,
    answer: [200, listOf(FileChunk)],
  },
  "POST /v1/files/:id/retry": {
    ...files("retryFile", "Try again what failed of a file", "run"),
    answer: [200, File],
    conflicts: ["file_not_failed"],
  },
  "DELETE /v1/files/:id": { ...files("deleteFile", "Delete a file", "admin"), answer: deleted },
  "POST /v1/runs": {
    ...runs("createRun", "Start a run", "run"),
    query: { wait: { type: "integer", minimum: 0, maximum: 60, default: 0 } },
    answer: [201, Run],
    streams: "With `stream: true`: the run's events from the first to the last.",
    conflicts: ["thread_busy"],
  },
  "GET /v1/runs": {
    ...runs("listRuns", "List runs", "read_or_run"),
    query: {
      ...page,
      status: { type: "string", enum: runStatuses },
      agent_id: id("agent"),
      thread_id: id("thread"),
      user_id: subject,
      parent_run_id: id("run"),
      origin: { type: "string", enum: origins },
      source_run_id: id("run"),
      include: { type: "string", enum: ["messages"] },
    },
    answer: [200, listOf(RunListItem)],
  },
  "GET /v1/runs/:id": { ...runs("getRun", "Retrieve a run", "read_or_run"), answer: [200, Run] },
  "DELETE /v1/runs/:id": {
    ...runs("deleteRun", "Delete a run that is over", "admin"),
    answer: deleted,
    conflicts: ["run_not_terminal", "run_pinned"],
  },
  "POST /v1/runs/:id/cancel": {
    ...runs("cancelRun", "Cancel a run", "run"),
    answer: [200, Run],
    conflicts: ["run_already_terminal"],
  },
  "POST /v1/runs/:id/replay": {
    ...runs("replayRun", "Perform a run that is over again, by its record", "run"),
    answer: [201, Run],
    conflicts: ["run_not_terminal", "record_damaged"],
  },
  "POST /v1/runs/:id/fork": {
    ...runs("forkRun", "Go on from a step of a run, with something changed", "run"),
    query: { wait: { type: "integer", minimum: 0, maximum: 60, default: 0 } },
    answer: [201, Run],
    streams: "With `stream: true`: the run's events from the first to the last.",
    conflicts: ["record_damaged"],
  },
  "POST /v1/runs/:id/submit_tool_outputs": {
    ...runs("submitToolOutputs", "Answer tool calls that a run waits for", "run"),
    answer: [200, Run],
    streams: "With `stream: true`: the run's events after those that were there before.",
    conflicts: ["run_not_awaiting_action", "tool_call_already_resolved"],
  },
  "GET /v1/runs/:id/events": {
    ...runs("listRunEvents", "List a run's events, or follow them", "read_or_run"),
    query: some,
    answer: [200, listOf(Event)],
    streams: "With `Accept: text/event-stream`: the events after `Last-Event-ID` or `starting_after`, to the last.",
  },
  "GET /v1/approvals": {
    ...runs("listApprovals", "List tool calls that wait for an answer", "read_or_run"),
    query: { ...page, needs: { type: "string", enum: callNeeds } },
    answer: [200, listOf(Approval)],
  },
  "POST /v1/threads": { ...threads("createThread", "Create a thread", "run"), answer: [201, Thread] },
  "GET /v1/threads": {
    ...threads("listThreads", "List threads", "read_or_run"),
    query: {
      ...page,
      user_id: subject,
      session_id: subject,
      status: { type: "string", enum: threadStatuses },
    },
    answer: [200, listOf(Thread)],
  },
  "GET /v1/threads/:id": { ...threads("getThread", "Retrieve a thread", "read_or_run"), answer: [200, Thread] },
  "PATCH /v1/threads/:id": {
    ...threads("updateThread", "Change a thread's title or metadata", "run"),
    answer: [200, Thread],
  },
  "DELETE /v1/threads/:id": {
    ...threads("deleteThread", "Delete a thread and what was said in it; its runs stay", "run"),
    answer: deleted,
    conflicts: ["run_not_terminal"],
  },
  "GET /v1/threads/:id/messages": {
    ...threads("listThreadMessages", "List what was said in a thread", "read_or_run"),
    query: { ...some, ending_before: cursor, order: page.order! },
    answer: [200, listOf(ThreadMessage)],
  },
  "POST /v1/threads/:id/messages": {
    ...threads("createThreadMessage", "Put a message into a thread that was said elsewhere", "run"),
    answer: [201, ThreadMessage],
    conflicts: ["thread_busy"],
  },
  "POST /v1/memory": { ...memories("createMemory", "Create a memory store", "admin"), answer: [201, Memory] },
  "GET /v1/memory": {
    ...memories("listMemory", "List memory stores", "read_or_run"),
    query: { ...page, kind: { type: "string", enum: memoryKinds } },
    answer: [200, listOf(Memory)],
  },
  "GET /v1/memory/:id": {
    ...memories("getMemory", "Retrieve a memory store", "read_or_run"),
    answer: [200, Memory],
  },
  "PATCH /v1/memory/:id": {
    ...memories("updateMemory", "Change a memory store, or what it is embedded with", "admin"),
    answer: [200, Memory],
  },
  "DELETE /v1/memory/:id": {
    ...memories("deleteMemory", "Delete a memory store with all that it holds", "admin"),
    answer: deleted,
  },
  "POST /v1/memory/:id/search": {
    ...memories("searchMemory", "Find what a store knows of a question", "read_or_run"),
    answer: [200, listOf(MemoryMatch)],
  },
  "POST /v1/memory/:id/entries": {
    ...memories("createMemoryEntry", "Put a text or a file into a store", "run"),
    answer: [201, MemoryEntry],
    known: "The file is in the store already: its entry.",
  },
  "GET /v1/memory/:id/entries": {
    ...memories("listMemoryEntries", "List what is in a store", "read_or_run"),
    query: {
      ...page,
      file_id: id("file"),
      scope_id: subject,
      status: { type: "string", enum: entryStatuses },
    },
    answer: [200, listOf(MemoryEntry)],
  },
  "GET /v1/memory/:id/entries/:entry_id": {
    ...memories("getMemoryEntry", "Retrieve an entry", "read_or_run"),
    answer: [200, MemoryEntry],
  },
  "DELETE /v1/memory/:id/entries/:entry_id": {
    ...memories("deleteMemoryEntry", "Delete an entry", "run"),
    answer: deleted,
  },
  "GET /v1/memory/:id/keys": {
    ...memories("listMemoryKeys", "List keys by their names", "read_or_run"),
    query: { ...page, ...ofScope, prefix: filled(512) },
    answer: [200, listOf(MemoryKey)],
  },
  "GET /v1/memory/:id/keys/:key": {
    ...memories("getMemoryKey", "Retrieve the value of a key", "read_or_run"),
    query: ofScope,
    answer: [200, MemoryKey],
  },
  "PUT /v1/memory/:id/keys/:key": {
    ...memories("setMemoryKey", "Set the value of a key; with `If-Match` only over that version", "run"),
    query: ofScope,
    answer: [200, MemoryKey],
    conflicts: ["precondition_failed"],
  },
  "DELETE /v1/memory/:id/keys/:key": {
    ...memories("deleteMemoryKey", "Delete a key; with `If-Match` only that version", "run"),
    query: ofScope,
    answer: [200, DeletedKey],
    conflicts: ["precondition_failed"],
  },
  "POST /v1/schedules": {
    ...schedules("createSchedule", "Create a schedule", "admin"),
    answer: [201, Schedule],
  },
  "POST /v1/suites": {
    ...suites("createSuite", "Pin runs as a suite", "admin"),
    answer: [201, Suite],
    conflicts: ["name_taken"],
  },
  "GET /v1/suites": {
    ...suites("listSuites", "List suites", "read_or_run"),
    query: { ...page, name: filled(128) },
    answer: [200, listOf(SuiteListItem)],
  },
  "GET /v1/suites/:id": {
    ...suites("getSuite", "Retrieve a suite with the runs that it pins", "read_or_run"),
    answer: [200, Suite],
  },
  "PATCH /v1/suites/:id": {
    ...suites("updateSuite", "Change a suite, or the runs that it pins", "admin"),
    answer: [200, Suite],
    conflicts: ["name_taken"],
  },
  "DELETE /v1/suites/:id": {
    ...suites("deleteSuite", "Delete a suite and what came of it; its runs stay", "admin"),
    answer: deleted,
  },
  "POST /v1/suites/:id/runs": {
    ...suites("runSuite", "Replay the runs of a suite against their agents as they are now", "run"),
    query: { wait: { type: "integer", minimum: 0, maximum: 60, default: 0 } },
    answer: [201, SuiteRun],
  },
  "GET /v1/suites/:id/runs": {
    ...suites("listSuiteRuns", "List what came of a suite", "read_or_run"),
    query: { ...page, status: { type: "string", enum: suiteRunStatuses } },
    answer: [200, listOf(SuiteRunListItem)],
  },
  "GET /v1/suites/:id/runs/:suite_run_id": {
    ...suites("getSuiteRun", "Retrieve a suite run with its cases", "read_or_run"),
    answer: [200, SuiteRun],
  },
  "POST /v1/suites/:id/runs/:suite_run_id/cancel": {
    ...suites("cancelSuiteRun", "End a suite run where it is", "run"),
    answer: [200, SuiteRun],
  },
  "GET /v1/schedules": {
    ...schedules("listSchedules", "List schedules", "read"),
    query: { ...page, agent_id: id("agent") },
    answer: [200, listOf(Schedule)],
  },
  "GET /v1/schedules/:id": {
    ...schedules("getSchedule", "Retrieve a schedule", "read"),
    answer: [200, Schedule],
  },
  "PATCH /v1/schedules/:id": {
    ...schedules("updateSchedule", "Change a schedule, switch it off or on again", "admin"),
    answer: [200, Schedule],
  },
  "DELETE /v1/schedules/:id": { ...schedules("deleteSchedule", "Delete a schedule", "admin"), answer: deleted },
  "POST /v1/schedules/:id/trigger": {
    ...schedules("triggerSchedule", "Start a run of a schedule now, besides its plan", "run"),
    answer: [201, Run],
  },
  "GET /v1/schedules/:id/runs": {
    ...schedules("listScheduleRuns", "List what came of a schedule's times", "read"),
    query: {
      ...page,
      outcome: { type: "string", enum: outcomes },
    },
    answer: [200, listOf(ScheduleRun)],
  },
  "GET /v1/runs/:id/capsule": {
    ...runs("getRunCapsule", "Download a run with all that it did as one SQLite file", "read_or_run"),
    query: { files: { type: "boolean", default: true } },
    media: [capsuleType],
    answer: [200, {}],
  },
  "GET /v1/traces": {
    ...traces("listTraces", "List traces", "read_or_run"),
    query: page,
    answer: [200, listOf(TraceSummary)],
  },
  "GET /v1/traces/:run_id": {
    ...traces("getTrace", "Retrieve a trace by its own id or its run's", "read_or_run"),
    query: {
      limit: { ...limit, default: 100 },
      starting_after: cursor,
      include: { type: "string", pattern: "^(raw|subagents|prompt)(,(raw|subagents|prompt))*$" },
      format: { type: "string", enum: ["otlp"] },
      content: {
        type: "string",
        enum: ["true", "false"],
        description: "With `format=otlp`: whether what was said goes along. It does unless this is false.",
      },
    },
    answer: [200, { anyOf: [Trace, OtlpTrace] }],
  },
  "GET /v1/runs/:id/diff/:other_id": {
    ...traces("diffRuns", "Compare two runs step by step", "read_or_run"),
    query: { limit: { ...limit, default: 100 }, starting_after: cursor },
    answer: [200, Diff],
  },
  "POST /v1/traces": {
    ...traces("importTrace", "Import an exported trace, or a capsule", "run"),
    binary: capsuleType,
    answer: [201, Trace],
  },
  "DELETE /v1/traces/:run_id": {
    ...traces("deleteTrace", "Delete what the journal tells of a run", "admin"),
    answer: deleted,
    conflicts: ["run_not_terminal", "run_pinned"],
  },
  "POST /v1/webhooks": {
    ...webhooks("createWebhook", "Create a webhook", "admin"),
    answer: [201, Webhook],
  },
  "GET /v1/webhooks": {
    ...webhooks("listWebhooks", "List webhooks", "read"),
    query: page,
    answer: [200, listOf(Webhook)],
  },
  "GET /v1/webhooks/:id": { ...webhooks("getWebhook", "Retrieve a webhook", "read"), answer: [200, Webhook] },
  "PATCH /v1/webhooks/:id": {
    ...webhooks("updateWebhook", "Change a webhook, or switch it on or off", "admin"),
    answer: [200, Webhook],
  },
  "DELETE /v1/webhooks/:id": { ...webhooks("deleteWebhook", "Delete a webhook", "admin"), answer: deleted },
  "POST /v1/webhooks/:id/test": {
    ...webhooks("testWebhook", "Send a webhook an event made for this", "admin"),
    answer: [200, WebhookDelivery],
  },
  "POST /v1/webhooks/:id/rotate_secret": {
    ...webhooks("rotateWebhookSecret", "Give a webhook another secret; until the overlap ends both sign", "admin"),
    answer: [200, Webhook],
  },
  "POST /v1/webhooks/:id/redeliver": {
    ...webhooks("redeliverEvents", "Send again what failed since a time", "admin"),
    answer: [200, WebhookRedelivery],
  },
  "GET /v1/webhooks/:id/deliveries": {
    ...webhooks("listDeliveries", "List what a webhook heard, or did not", "read"),
    query: {
      ...page,
      status: { type: "string", enum: deliveryStatuses },
      type: { type: "string", enum: [...webhookEvents, testEvent] },
      run_id: id("run"),
    },
    answer: [200, listOf(WebhookDeliveryListItem)],
  },
  "GET /v1/webhooks/:id/deliveries/:delivery_id": {
    ...webhooks("getDelivery", "Retrieve a delivery with every attempt", "read"),
    answer: [200, WebhookDelivery],
  },
  "POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver": {
    ...webhooks("redeliverEvent", "Send an event again", "admin"),
    answer: [200, WebhookDelivery],
  },
  "POST /v1/api_keys": { ...keys("createApiKey", "Create an API key"), answer: [201, ApiKey] },
  "GET /v1/api_keys": { ...keys("listApiKeys", "List API keys"), query: page, answer: [200, listOf(ApiKey)] },
  "GET /v1/api_keys/:id": { ...keys("getApiKey", "Retrieve an API key"), answer: [200, ApiKey] },
  "PATCH /v1/api_keys/:id": {
    ...keys("updateApiKey", "Rename an API key, or say when it ends"),
    answer: [200, ApiKey],
    conflicts: ["key_not_active", "last_admin_key"],
  },
  "POST /v1/api_keys/:id/rotate": {
    ...keys("rotateApiKey", "Make an API key's successor; until the overlap ends both are good"),
    answer: [201, RotatedApiKey],
    conflicts: ["key_not_active"],
  },
  "DELETE /v1/api_keys/:id": {
    ...keys("revokeApiKey", "Revoke an API key"),
    answer: deleted,
    conflicts: ["last_admin_key"],
  },
  "GET /v1/audit_log": {
    id: "listAuditLog",
    tag: "Audit log",
    summary: "List who changed what",
    needs: "admin",
    query: {
      ...page,
      action: { type: "string", pattern: "^[a-z_]{1,64}\\.[a-z_]{1,64}$" },
      ...{ actor_id: subject, target_id: subject, request_id: subject },
    },
    answer: [200, listOf(AuditEntry)],
  },
  "GET /v1/usage": {
    id: "getUsage",
    tag: "Account",
    summary: "What runs used, by day, agent or model",
    needs: "read",
    query: {
      from: { ...day, description: "The first day (UTC), or a time in it." },
      to: { ...day, description: "The last day." },
      group_by: { type: "string", enum: usageGroupings, default: "day" },
    },
    answer: [200, UsageReport],
  },
  "GET /v1/models": { ...account("listModels", "List what agents may use"), answer: [200, ModelList] },
  "GET /v1/me": { ...account("getMe", "Who this key is, and what is left of its limits"), answer: [200, Me] },
  "GET /v1/openapi.json": {
    ...account("getOpenApi", "This document"),
    answer: [200, { type: "object", description: `One document for ${environments.join(" and ")}.` }],
  },
};
