import type { Webhook, WebhookDelivery as WholeDelivery } from "../../../../server/domain/api-types/webhook.ts";
import { formatDuration } from "../../lib/format.ts";

const reasons = {
  requested: "Disabled. Events that happen meanwhile are not sent.",
  gone: "The endpoint returned 410 Gone, so it was disabled. Enable it when the endpoint works again.",
  failing: "Disabled after five days of failures.",
};

/** Describes why a webhook is disabled or about to be; null if it works. */
export function disabledReason({ status, disabled_reason, failure_count }: Webhook): string | null {
  if (status === "disabled") return reasons[disabled_reason ?? "requested"];
  if (status !== "failing") return null;
  const failures = failure_count === 1 ? "The last attempt" : `The last ${failure_count} attempts`;
  return `${failures} failed. Failed events are retried for three days. After five days of failures the webhook is disabled.`;
}

/** Describes the result of a test event in one line. */
export function testWords({ status, attempts }: WholeDelivery): string {
  const last = attempts.at(-1);
  if (status === "delivered")
    return `The endpoint returned ${last?.response?.status ?? 200} in ${formatDuration(last?.latency_ms)}.`;
  return last?.error?.message ?? "The outcome is unknown.";
}
