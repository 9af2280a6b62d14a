import { siblingId } from "../../domain/ids.ts";
import type { Environment } from "../../domain/scope.ts";
import type { Egress } from "../../lib/egress.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Seal } from "../../lib/seal.ts";
import { httpsOnly } from "./address.ts";
import { httpAttempt, type Outcome } from "./http-attempt.ts";
import type { Payloads } from "./payload.ts";
import type { DeliveryRow, WebhookRow } from "./row.ts";
import { openWebhookSecrets, signingSecrets } from "./secrets.ts";

export interface Sending {
  payloads: Payloads;
  seal: Seal;
  egress: (environment: Environment) => Egress;
  log: Log;
  now: () => number;
  /** Milliseconds for one attempt in total. */
  attempt_ms: number;
}

/** Sends a delivery and returns the outcome; null if shutdown aborted it. */
export async function deliver(
  { payloads, seal, egress, log, now, attempt_ms }: Sending,
  webhook: WebhookRow,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<{ body: string; outcome: Outcome } | null> {
  const { url, environment } = webhook;
  const at_ms = now();
  let body: string;
  try {
    body = await payloads.bodyOf(delivery, webhook.run_id !== null);
  } catch (error) {
    // An event that cannot be serialized must not block those behind it.
    log.error("an event could not be written", { delivery_id: delivery.id, error });
    return { body: "", outcome: { ...payloadFailure, at_ms, request: { url, headers: {} } } };
  }
  failpoint?.("before_delivery");
  const outcome = await httpAttempt({
    egress: egress(environment),
    url,
    httpsOnly: httpsOnly(url, environment),
    headers: openWebhookSecrets(seal, webhook, webhook.sealed).headers ?? {},
    secrets: signingSecrets(seal, webhook, at_ms),
    id: siblingId(delivery.id, "event"),
    body,
    at_ms,
    signal,
    limit_ms: attempt_ms,
  });
  failpoint?.("after_delivery");
  return outcome && { body, outcome };
}

const payloadFailure = {
  latency_ms: 0,
  response: null,
  error: { code: "internal_error", message: "The event could not be written. The server's log has the cause." },
  asked_ms: null,
};
