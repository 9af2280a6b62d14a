// Enums of the API that the domain does not need. Plain values, because browser code imports them too.

import type { RunEventType } from "../run-event.ts";

/** Names of stream events. `token` is never journaled, and a cancelled run is sent as `run.failed`. */
export const frameNames = [
  "run.created",
  "run.queued",
  "run.started",
  "run.requires_action",
  "run.resumed",
  "run.pause_requested",
  "run.paused",
  "run.pause_cancelled",
  "run.steered",
  "run.recovered",
  "run.completed",
  "run.failed",
  "step.started",
  "step.restarted",
  "step.completed",
  "token",
  "tool.requested",
  "tool.decided",
  "tool.authorized",
  "tool.progress",
  "tool.completed",
  "subagent.started",
  "subagent.waiting",
  "subagent.resumed",
  "handoff.completed",
  "guardrail.passed",
  "guardrail.triggered",
  "output.rejected",
  "history.loaded",
  "documents.attached",
  "memory.retrieved",
  "context.compacted",
] as const;
export type FrameName = (typeof frameNames)[number];

/** Purposes of files; `output`: made by a tool. */
export const uploadPurposes = ["retrieval", "code_interpreter", "attachment"] as const;
/** Source of a chunk: the document's text, or OCR of an image. */
export const chunkSources = ["text", "ocr"] as const;
export const filePurposes = [...uploadPurposes, "output"] as const;
export type FilePurpose = (typeof filePurposes)[number];

export const fileStatuses = ["uploaded", "processing", "ready", "failed"] as const;
export type FileStatus = (typeof fileStatuses)[number];

export const entryStatuses = ["processing", "ready", "failed"] as const;
export const searchModes = ["hybrid", "vector", "keyword"] as const;

/** Types of search results in a project. */
export const searchTypes = ["run", "thread", "agent", "tool", "memory", "file", "webhook"] as const;
export type SearchType = (typeof searchTypes)[number];

export const threadStatuses = ["idle", "busy", "waiting"] as const;
export type ThreadStatus = (typeof threadStatuses)[number];

/** Policies for schedule times missed while the server was down, and for those that find the schedule busy. */
export const catchUps = ["skip", "one"] as const;
export const busyPolicies = ["skip", "queue", "start"] as const;

/** Results of schedule times. */
export const outcomes = ["started", "completed", "failed", "cancelled", "skipped", "missed"] as const;
export type Outcome = (typeof outcomes)[number];
export const triggers = ["plan", "catch_up", "request"] as const;

/** How a trigger verifies who sent an event. */
export const triggerVerifications = ["github", "stripe", "slack", "standard_webhooks", "shared_secret"] as const;
export type TriggerVerification = (typeof triggerVerifications)[number];
/** Results of requests at a trigger's address. */
export const triggerOutcomes = ["started", "duplicate", "ignored", "failed", "refused"] as const;
export type TriggerOutcome = (typeof triggerOutcomes)[number];
/** Policies for events that lack a value which the template names. */
export const missingPolicies = ["empty", "reject"] as const;

/** How a registration at an authorization server gets its tokens (RFC 6749). */
export const oauthGrantTypes = ["client_credentials", "authorization_code"] as const;
export type OAuthGrantType = (typeof oauthGrantTypes)[number];
export const storedGrantStatuses = ["active", "failed"] as const;
/** A grant is expired once its access token is, and nothing can refresh it. */
export const oauthGrantStatuses = [...storedGrantStatuses, "expired"] as const;
export type OAuthGrantStatus = (typeof oauthGrantStatuses)[number];

/** Sources of scores: chat users, programs, and people at the dashboard. */
export const scoreSources = ["client", "api_key", "user"] as const;
export const erasureStatuses = ["in_progress", "completed"] as const;

export const suiteRunStatuses = ["in_progress", "passed", "diverged", "failed", "cancelled"] as const;
export type SuiteRunStatus = (typeof suiteRunStatuses)[number];
export const caseStatuses = ["pending", "equal", "diverged", "failed"] as const;
export type CaseStatus = (typeof caseStatuses)[number];

/** Lengths of a point of a time series. */
export const buckets = ["hour", "day"] as const;
export type Bucket = (typeof buckets)[number];

export const changes = ["equal", "changed", "only_a", "only_b"] as const;

export const keyStatuses = ["active", "rotating", "revoked", "expired"] as const;
export type KeyStatus = (typeof keyStatuses)[number];

/** Webhook topics, described for people who subscribe. */
export const webhookTopics = {
  "run.completed": "A run completed.",
  "run.failed": "A run failed, or was cancelled.",
  "run.requires_action": "A run waits for an output, an approval, or a user's consent.",
  "run.paused": "A run is paused.",
  "run.resumed": "A run continues after an answer or a pause.",
  "run.steered": "A message was sent to a run that is under way.",
  "tool.requested": "A model asked for a tool.",
  "handoff.completed": "An agent handed a conversation over to another one.",
  "file.ready": "An upload can be used.",
  "file.failed": "An upload could not be read.",
  "label.rolled_back": "The server rolled a label of an agent back, because its runs failed or were scored too low.",
  "alert.opened": "Something needs attention.",
  "alert.closed": "What needed attention is resolved.",
  "cell.failover": "A node of the cluster went silent, and another one took over.",
} as const;
export type WebhookEvent = keyof typeof webhookTopics;
export const webhookEvents = Object.keys(webhookTopics) as WebhookEvent[];

/** Webhook topics of run events. All other topics are sent by `outbox.announce`. */
export const topicOfRunEvent: { readonly [Type in RunEventType]?: WebhookEvent } = {
  "run.completed": "run.completed",
  "run.failed": "run.failed",
  "run.cancelled": "run.failed",
  "run.requires_action": "run.requires_action",
  "run.paused": "run.paused",
  "run.resumed": "run.resumed",
  "run.steered": "run.steered",
  "tool.requested": "tool.requested",
  "handoff.completed": "handoff.completed",
};

/** Test event, sent on request to one webhook regardless of its topics. */
export const testEvent = "webhook.test";
/** Events that webhooks can receive. */
export type SentEvent = WebhookEvent | typeof testEvent;

export const webhookStatuses = ["active", "failing", "disabled"] as const;
export const disabledReasons = ["requested", "gone", "failing"] as const;
export const deliveryStatuses = ["pending", "retrying", "delivered", "failed"] as const;

export const actorTypes = ["api_key", "user", "cli"] as const;

export const usageGroupings = ["day", "agent", "model"] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

/** Groupings of charts; `webhook` and `schedule` chart deliveries and schedule times. */
export const analyticsGroupings = [
  ...(["model", "agent", "key", "user", "tool", "error", "duration", "first_token", "webhook", "schedule"] as const),
] as const;
export type AnalyticsGrouping = (typeof analyticsGroupings)[number];

/**
 * Reaction to a key sent over plain HTTP. It is not revoked if, for example, it is the last admin key or came from this
 * machine.
 */
export const exposures = ["revoked", "kept", "last_admin_key", "local"] as const;
export type Exposure = (typeof exposures)[number];

/** Reasons of a failed sign-in at an issuer, for the address of the sign-in page. */
export type OidcRefusal =
  | ("cancelled" | "stale" | "unreachable" | "issuer" | "email" | "unverified" | "domain" | "role" | "unknown")
  | ("taken" | "off" | "server");

/** Dashboard roles, from the lowest to the highest. */
export const roles = ["viewer", "member", "owner"] as const;

/**
 * Viewers read. Members do everything within projects. Owners also manage the server: people, projects and their
 * settings, model connections, prices and backups.
 */
export type Role = (typeof roles)[number];

/** `strict`: the system enforces the sandbox. `process`: a separate process only. `off`: no code runs. */
export const sandboxLevels = ["strict", "process", "off"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];
