import type { Webhook, WebhookDelivery as WholeDelivery } from "../../../../server/wire/webhook.ts";

const reasons = {
  requested: "It was switched off. What happens meanwhile it never hears of.",
  gone: "It answered 410 Gone, which means: never again. Switch it on once its address answers.",
  failing: "For five days nothing but failures came back, so it was switched off.",
};

/** Why a webhook hears nothing, or is about to; null while all is well. */
export function whyDisabled({ status, disabled_reason, failure_count }: Webhook): string | null {
  if (status === "disabled") return reasons[disabled_reason ?? "requested"];
  if (status !== "failing") return null;
  const failures = failure_count === 1 ? "The last attempt" : `The last ${failure_count} attempts`;
  return `${failures} failed. What fails is tried again for three days; after five days of failures it is switched off.`;
}

/** What came of a test event, in a line. */
export function testWords({ status, attempts }: WholeDelivery): string {
  const last = attempts.at(-1);
  if (status === "delivered") return `It answered ${last?.response?.status ?? 200} in ${last?.latency_ms ?? 0} ms.`;
  return last?.error?.message ?? "Nobody knows what came of it.";
}
