import type { WebhookDelivery as WholeDelivery } from "../../../../server/wire/webhook.ts";

/** What came of a test event, in a line. */
export function testWords({ status, attempts }: WholeDelivery): string {
  const last = attempts.at(-1);
  if (status === "delivered") return `It answered ${last?.response?.status ?? 200} in ${last?.latency_ms ?? 0} ms.`;
  return last?.error?.message ?? "Nobody knows what came of it.";
}
