import { readBody } from "../lib/egress-body.ts";
import { retryAfter } from "../lib/retry.ts";

/** Where the traces of ended runs go. It is the operator's choice, and may be on this machine. */
export interface OtlpTarget {
  /** The whole address, as `https://collector.example.com/v1/traces`. */
  url: string;
  headers: Record<string, string>;
  /** What the operator calls this server: attributes of the resource. */
  resource?: Record<string, string>;
  /** Whether prompts, answers, arguments and results go along. */
  content: boolean;
}

export interface Posted {
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
  body: string,
  cut: AbortSignal,
  attempt_ms: number,
): Promise<Posted> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      // A header with a key may not follow wherever an answer points to.
      redirect: "manual",
      signal: AbortSignal.any([cut, AbortSignal.timeout(attempt_ms)]),
    });
    const text = await textOf(answer);
    if (answer.ok) return { failure: null, rejected: rejectedSpans(text) };
    const asked_ms = retryAfter(answer.headers.get("retry-after"), Date.now());
    const reason = `It answered with status ${answer.status}.`;
    return { failure: { again: retryable.has(answer.status), asked_ms, reason }, rejected: 0 };
  } catch (error) {
    return { failure: { again: true, asked_ms: null, reason: reasonOf(error) }, rejected: 0 };
  }
}

/** Its beginning. The answer is its status: what never comes to an end takes nothing back. */
async function textOf({ body }: Response): Promise<string> {
  if (!body) return "";
  try {
    return new TextDecoder().decode((await readBody(body, answerMax_bytes)).body);
  } catch {
    return "";
  }
}

function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === "TimeoutError") return "It did not answer in time.";
  return typeof code === "string" ? `It was not reached (${code}).` : "It was not reached.";
}

function rejectedSpans(text: string): number {
  try {
    const rejected = Number(JSON.parse(text).partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) ? rejected : 0;
  } catch {
    return 0; // Collectors may answer with nothing.
  }
}
