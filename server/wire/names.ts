// Lists of words on the wire that the core has no use for. Plain values: who runs in a browser imports them too.

import type { RunEventType } from "../core/run-event.ts";

/** The events of a run's stream: `token` stands in no journal, and clients of the specification know no cancelled run. */
export const frameNames = [
  "run.created",
  "run.queued",
  "run.started",
  "run.requires_action",
  "run.resumed",
  "run.recovered",
  "run.completed",
  "run.failed",
  "step.started",
  "step.restarted",
  "step.completed",
  "token",
  "tool.requested",
  "tool.decided",
  "tool.completed",
  "subagent.started",
  "subagent.waiting",
  "subagent.resumed",
  "guardrail.passed",
  "guardrail.triggered",
  "output.rejected",
  "history.loaded",
  "documents.attached",
  "memory.retrieved",
  "context.compacted",
] as const;
export type FrameName = (typeof frameNames)[number];

/** What a file is for; `output`: a tool made it. */
export const uploadPurposes = ["retrieval", "code_interpreter", "attachment"] as const;
/** Whether a chunk stood as text in its document, or was read letter by letter from an image. */
export const chunkSources = ["text", "ocr"] as const;
export const filePurposes = [...uploadPurposes, "output"] as const;
export type FilePurpose = (typeof filePurposes)[number];

export const fileStatuses = ["uploaded", "processing", "ready", "failed"] as const;
export type FileStatus = (typeof fileStatuses)[number];

export const entryStatuses = ["processing", "ready", "failed"] as const;
export const searchModes = ["hybrid", "vector", "keyword"] as const;

/** What a search of a project finds. */
export const searchTypes = ["run", "thread", "agent", "tool", "memory", "file", "webhook"] as const;
export type SearchType = (typeof searchTypes)[number];

export const threadStatuses = ["idle", "busy", "waiting"] as const;
export type ThreadStatus = (typeof threadStatuses)[number];

/** What becomes of a schedule's times that passed while the server was down, and of one that finds it at work. */
export const catchUps = ["skip", "one"] as const;
export const busyPolicies = ["skip", "queue", "start"] as const;

/** The result of a schedule's time. */
export const outcomes = ["started", "completed", "failed", "cancelled", "skipped", "missed"] as const;
export type Outcome = (typeof outcomes)[number];
export const triggers = ["plan", "catch_up", "request"] as const;

/** Who gives scores: people who chat, programs, and people at the dashboard. */
export const scoreSources = ["client", "api_key", "user"] as const;
export const erasureStatuses = ["in_progress", "completed"] as const;

export const suiteRunStatuses = ["in_progress", "passed", "diverged", "failed", "cancelled"] as const;
export type SuiteRunStatus = (typeof suiteRunStatuses)[number];
export const caseStatuses = ["pending", "equal", "diverged", "failed"] as const;
export type CaseStatus = (typeof caseStatuses)[number];

export const changes = ["equal", "changed", "only_a", "only_b"] as const;

export const keyStatuses = ["active", "rotating", "revoked", "expired"] as const;
export type KeyStatus = (typeof keyStatuses)[number];

/** What webhooks hear of, in words for people who choose. */
export const webhookTopics = {
  "run.completed": "A run completed.",
  "run.failed": "A run failed, or was cancelled.",
  "run.requires_action": "A run waits for an output or an approval.",
  "tool.requested": "A model asked for a tool.",
  "file.ready": "An upload can be used.",
  "file.failed": "An upload could not be read.",
  "alert.opened": "Something needs attention.",
  "alert.closed": "What needed attention is resolved.",
  "cell.failover": "A node of the cluster went silent, and another one took over.",
} as const;
export type WebhookEvent = keyof typeof webhookTopics;
export const webhookEvents = Object.keys(webhookTopics) as WebhookEvent[];

/** The events of a run that webhooks hear of, each as one topic. What else there is, somebody announces (`outbox.announce`). */
export const toldAs: { readonly [Type in RunEventType]?: WebhookEvent } = {
  "run.completed": "run.completed",
  "run.failed": "run.failed",
  "run.cancelled": "run.failed",
  "run.requires_action": "run.requires_action",
  "tool.requested": "tool.requested",
};

/** The event that is made by hand: for one webhook alone, whatever it wants to hear of. */
export const testEvent = "webhook.test";
/** All that a webhook is sent. */
export type SentEvent = WebhookEvent | typeof testEvent;

export const webhookStatuses = ["active", "failing", "disabled"] as const;
export const disabledReasons = ["requested", "gone", "failing"] as const;
export const deliveryStatuses = ["pending", "retrying", "delivered", "failed"] as const;

export const actorTypes = ["api_key", "user", "cli"] as const;

export const usageGroupings = ["day", "agent", "model"] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

/** What the series of a chart are about; `webhook` and `schedule`: their deliveries, and their times. */
export const analyticsGroupings = [
  ...(["model", "agent", "key", "user", "tool", "error", "duration", "first_token", "webhook", "schedule"] as const),
] as const;
export type AnalyticsGrouping = (typeof analyticsGroupings)[number];

/** What followed when a key came in clear text: it was kept as the last admin key, for example, or came from this machine. */
export const exposures = ["revoked", "kept", "last_admin_key", "local"] as const;
export type Exposure = (typeof exposures)[number];

/** Why a sign-in at an issuer failed, in the address of the sign-in page. */
export type OidcRefusal =
  | ("cancelled" | "stale" | "unreachable" | "issuer" | "email" | "unverified" | "domain" | "role" | "unknown")
  | ("taken" | "off" | "server");

/** What people may do at the dashboard, from the least to the most. */
export const roles = ["viewer", "member", "owner"] as const;

/**
 * A viewer reads. A member does everything within projects. An owner also has what concerns the whole server: people,
 * projects and their settings, model connections, prices and backups.
 */
export type Role = (typeof roles)[number];

/** `strict`: the system enforces the jail. `process`: a process of its own and nothing more. `off`: no code runs. */
export const sandboxLevels = ["strict", "process", "off"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];
