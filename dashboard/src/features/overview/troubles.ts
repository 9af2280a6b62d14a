import type { Schedule } from "../../../../server/wire/schedule.ts";
import type { Webhook } from "../../../../server/wire/webhook.ts";

/** A schedule, as far as the overview asks. */
export type WatchedSchedule = Pick<Schedule, "id" | "name" | "last_error" | "disabled_reason">;

/** A webhook, as far as the overview asks. */
export type WatchedWebhook = Pick<Webhook, "id" | "url" | "status" | "disabled_reason" | "failure_count">;

/** What works without anybody looking, and does not work now. */
export interface Trouble {
  kind: "schedule" | "webhook";
  id: string;
  title: string;
  detail: string;
  /** The run that tells why. */
  runId: string | null;
}

/** The schedules and webhooks that fail or were switched off for it; what somebody switched off by hand is no trouble. */
export function troublesOf(schedules: readonly WatchedSchedule[], webhooks: readonly WatchedWebhook[]): Trouble[] {
  return [...schedules.flatMap(ofSchedule), ...webhooks.flatMap(ofWebhook)];
}

function ofSchedule({ id, name, last_error, disabled_reason }: WatchedSchedule): Trouble[] {
  const about = { kind: "schedule", id, runId: last_error?.run_id ?? null } as const;
  if (disabled_reason) return [{ ...about, title: `Schedule ${name} was disabled`, detail: disabled_reason }];
  if (last_error) return [{ ...about, title: `Schedule ${name} failed`, detail: last_error.message }];
  return [];
}

function ofWebhook({ id, url, status, disabled_reason, failure_count }: WatchedWebhook): Trouble[] {
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
