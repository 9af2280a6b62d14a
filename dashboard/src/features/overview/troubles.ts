import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";

/** The fields of a schedule that the overview reads. */
export type WatchedSchedule = Pick<Schedule, "id" | "name" | "last_error" | "disabled_reason">;

/** The fields of a webhook that the overview reads. */
export type WatchedWebhook = Pick<Webhook, "id" | "url" | "status" | "disabled_reason" | "failure_count">;

/** A schedule or webhook that fails or was disabled because it failed. */
export interface Issue {
  kind: "schedule" | "webhook";
  id: string;
  title: string;
  detail: string;
  /** The failed run; null if there is none. */
  runId: string | null;
}

/** Returns the schedules and webhooks that fail or were disabled for failing, but not those disabled by hand. */
export function findIssues(schedules: readonly WatchedSchedule[], webhooks: readonly WatchedWebhook[]): Issue[] {
  return [...schedules.flatMap(scheduleTroubles), ...webhooks.flatMap(webhookTroubles)];
}

function scheduleTroubles({ id, name, last_error, disabled_reason }: WatchedSchedule): Issue[] {
  const about = { kind: "schedule", id, runId: last_error?.run_id ?? null } as const;
  if (disabled_reason) return [{ ...about, title: `Schedule ${name} was disabled`, detail: disabled_reason }];
  if (last_error) return [{ ...about, title: `Schedule ${name} failed`, detail: last_error.message }];
  return [];
}

function webhookTroubles({ id, url, status, disabled_reason, failure_count }: WatchedWebhook): Issue[] {
  const kind = "webhook";
  const host = new URL(url).host;
  const times = failure_count === 1 ? "The last attempt failed." : `The last ${failure_count} attempts failed.`;
  if (status === "failing") return [{ kind, id, title: `Webhook ${host} fails`, detail: times, runId: null }];
  if (status === "disabled" && disabled_reason !== "requested") {
    const detail = disabled_reason === "gone" ? "The endpoint returned 410 Gone." : "Five days of failures.";
    return [{ kind, id, title: `Webhook ${host} was disabled`, detail, runId: null }];
  }
  return [];
}
