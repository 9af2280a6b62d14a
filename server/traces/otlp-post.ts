import { readBody } from "../lib/egress-body.ts";
import { retryAfter } from "../lib/retry.ts";
import type { OtlpEncoding, OtlpProtocol } from "./otlp-encoding.ts";

/** Where the traces of ended runs go. It is the operator's choice, and may be on this machine. */
export interface OtlpTarget {
  /** The whole address, as `https://collector.example.com/v1/traces`. */
  url: string;
  headers: Record<string, string>;
  /** What the operator calls this server: attributes of the resource. */
  resource?: Record<string, string>;
  /** How they are written; protobuf by default. */
  protocol?: OtlpProtocol;
  /** Whether prompts, answers, arguments and results go along. */
  content: boolean;
}

interface Posted {
  failure: Failure | null;
  /** Spans that the collector did not want, of those that it took. */
  rejected: number;
}

interface Failure {
  again: boolean;
  asked_ms: number | null;
  reason: string;
}

// The protocol's list: everything else would be refused again.
const retryable = new Set([429, 502, 503, 504]);
const answerMax_bytes = 64_000;

/** Makes one request; what comes of it is told, and nothing thrown. */
export async function postSpans(
  { url, headers }: OtlpTarget,
  { content_type, rejected }: Pick<OtlpEncoding<never>, "content_type" | "rejected">,
  body: string | Uint8Array<ArrayBuffer>,
  cut: AbortSignal,
  attempt_ms: number,
): Promise<Posted> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": content_type },
      body,
      // A header with a key may not follow wherever an answer points to.
      redirect: "manual",
      signal: AbortSignal.any([cut, AbortSignal.timeout(attempt_ms)]),
    });
    const said = await beginningOf(answer);
    if (answer.ok) return { failure: null, rejected: rejected(said) };
    const asked_ms = retryAfter(answer.headers.get("retry-after"), Date.now());
    const reason = `It returned status ${answer.status}.`;
    return { failure: { again: retryable.has(answer.status), asked_ms, reason }, rejected: 0 };
  } catch (error) {
    return { failure: { again: true, asked_ms: null, reason: reasonOf(error) }, rejected: 0 };
  }
}

/** Its beginning. The answer is its status: what never comes to an end takes nothing back. */
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
