import type { Egress } from "../../lib/egress.ts";
import { EgressError } from "../../lib/egress.ts";
import { maskTruncated, redact } from "../../lib/redact.ts";
import { retryAfter } from "../../lib/retry.ts";
import { sign } from "../../lib/signature.ts";

/** Outcome of one attempt to send an event. */
export interface Outcome {
  at_ms: number;
  latency_ms: number;
  request: { url: string; headers: Record<string, string> };
  /** Null if there was no response. */
  response: { status: number; headers: Record<string, string>; body: string; truncated: boolean } | null;
  /** Null on success. */
  error: { code: string; message: string } | null;
  /** Milliseconds from a Retry-After header, or null. */
  asked_ms: number | null;
}

interface AttemptOrder {
  egress: Egress;
  url: string;
  httpsOnly: boolean;
  /** Signing secrets; empty: the receiver authenticates by `headers` instead. */
  secrets: readonly string[];
  /** Additional headers; their values are never shown. */
  headers: Record<string, string>;
  /** Id of the event. */
  id: string;
  body: string;
  at_ms: number;
  signal: AbortSignal;
  /** Limit of the whole attempt, from DNS lookup to the last byte of the response. */
  limit_ms: number;
}

const mostBody_bytes = 65_536;
const mostHeaders_chars = 8192;

/** Sends an event once. Null if `signal` aborted it, so that the outcome is unknown. */
export async function httpAttempt(order: AttemptOrder): Promise<Outcome | null> {
  const { egress, url, id, body, at_ms, signal, httpsOnly, limit_ms } = order;
  const secrets = [...order.secrets, ...Object.values(order.headers)];
  const standardHeaders = {
    "content-type": "application/json",
    "user-agent": "runnel-webhooks",
    ...(order.secrets.length > 0
      ? sign({ secrets: order.secrets, id, timestamp: Math.floor(at_ms / 1000), body })
      : { "webhook-id": id }),
  };
  const headers = { ...standardHeaders, ...order.headers };
  const hidden = Object.fromEntries(Object.keys(order.headers).map((name) => [name, "[hidden]"]));
  const startTime = performance.now();
  const outcomeOf = (result: Pick<Outcome, "response" | "error" | "asked_ms">): Outcome => ({
    at_ms,
    latency_ms: Math.round(performance.now() - startTime),
    request: { url, headers: { ...standardHeaders, ...hidden } },
    ...result,
  });
  try {
    const request = { method: "POST", headers, body, timeoutMs: limit_ms, signal, httpsOnly } as const;
    const answer = await egress.stream(url, { ...request, maxBytes: Number.POSITIVE_INFINITY });
    const asked_ms = retryAfter(answer.headers.get("retry-after"), at_ms);
    const { status } = answer;
    const start = await readStart(answer.body);
    const response = {
      status,
      headers: shownHeaders(answer.headers, secrets),
      body: redact(maskTruncated(start.text, secrets)),
      truncated: start.truncated,
    };
    return outcomeOf({ response, error: errorOf(status), asked_ms });
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof EgressError)) throw error;
    return outcomeOf({ response: null, error: { code: error.code, message: error.message }, asked_ms: null });
  }
}

/** Reads the beginning of the body, for the log. Errors are ignored, because the status decides. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<{ text: string; truncated: boolean }> {
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let remaining = mostBody_bytes;
  try {
    while (remaining > 0) {
      const { value, done } = await reader.read();
      if (done) return { text: textOf(parts), truncated: false };
      // Copy, because a view would keep the whole buffer alive.
      parts.push(value.slice(0, remaining));
      remaining -= value.length;
    }
  } catch {
    // Keep what arrived before the error.
  } finally {
    await reader.cancel().catch(() => {});
  }
  return { text: textOf(parts), truncated: true };
}

const textOf = (parts: readonly Uint8Array[]): string => new TextDecoder().decode(Buffer.concat(parts));

function shownHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  const redactedHeaders: Record<string, string> = Object.create(null);
  let left = mostHeaders_chars;
  for (const [name, value] of headers) {
    left -= name.length + value.length;
    if (left < 0) break;
    redactedHeaders[name] = name === "set-cookie" ? "[hidden]" : redact(value, secrets);
  }
  return redactedHeaders;
}

function errorOf(status: number): Outcome["error"] {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return {
      code: "redirected",
      message: `Endpoint returned ${status}. Redirects are not followed: use the final URL.`,
    };
  return { code: "unexpected_status", message: `Endpoint returned ${status}; expected 2xx.` };
}
