import { readBody } from "../../lib/egress-body.ts";
import { retryAfter } from "../../lib/retry.ts";
import type { OtlpEncoding, OtlpProtocol } from "./otlp-encoding.ts";

/** Collector for traces of ended runs. Set by the operator, so it may be on this machine. */
export interface OtlpTarget {
  /** Full URL, such as `https://collector.example.com/v1/traces`. */
  url: string;
  headers: Record<string, string>;
  /** Resource attributes by which the operator names this server. */
  resource?: Record<string, string>;
  /** Default: protobuf. */
  protocol?: OtlpProtocol;
  /** True to include prompts, responses, arguments and results. */
  content: boolean;
}

interface PostResult {
  failure: Failure | null;
  /** Number of spans that the collector rejected in an accepted request. */
  rejected: number;
}

interface Failure {
  isRetryable: boolean;
  retryAfter_ms: number | null;
  reason: string;
}

// Retryable according to the protocol; other statuses would recur.
const retryable = new Set([429, 502, 503, 504]);
const answerMax_bytes = 64_000;

/** Sends one request. Returns the outcome and never throws. */
export async function postSpans(
  { url, headers }: OtlpTarget,
  { content_type, rejected }: Pick<OtlpEncoding<never>, "content_type" | "rejected">,
  body: string | Uint8Array<ArrayBuffer>,
  cut: AbortSignal,
  attempt_ms: number,
): Promise<PostResult> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": content_type },
      body,
      // The header may contain a key, which must not follow a redirect.
      redirect: "manual",
      signal: AbortSignal.any([cut, AbortSignal.timeout(attempt_ms)]),
    });
    const responseStart = await beginningOf(answer);
    if (answer.ok) return { failure: null, rejected: rejected(responseStart) };
    const asked_ms = retryAfter(answer.headers.get("retry-after"), Date.now());
    const reason = `It returned status ${answer.status}.`;
    return { failure: { isRetryable: retryable.has(answer.status), retryAfter_ms: asked_ms, reason }, rejected: 0 };
  } catch (error) {
    return { failure: { isRetryable: true, retryAfter_ms: null, reason: reasonOf(error) }, rejected: 0 };
  }
}

/** Reads the beginning of a body. Errors are ignored, because the status decides. */
async function beginningOf({ body }: Response): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  try {
    return (await readBody(body, answerMax_bytes)).body;
  } catch {
    return new Uint8Array();
  }
}

function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === "TimeoutError") return "It did not answer in time.";
  return typeof code === "string" ? `It could not be reached (${code}).` : "It could not be reached.";
}
