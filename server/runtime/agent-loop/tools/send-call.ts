import { afterFailure } from "../../../domain/after-failure.ts";
import type { HttpTool } from "../../../domain/agent-snapshot.ts";
import { limits } from "../../../domain/limits.ts";
import { matchingFailures, type ResponseFailure } from "../../../domain/response-failure.ts";
import type { ToolError } from "../../../domain/run-event.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import { EgressError, type EgressResponse } from "../../../lib/egress.ts";
import { parsedJson } from "../../../lib/json.ts";
import { textFault } from "../../../lib/json-limits.ts";
import { hideInAnyCase, maskSecretsAsync } from "../../../lib/redact.ts";
import type { RequestOutcome } from "../../../lib/request-outcome.ts";
import { backoff, longestWait_ms, retryAfter, sleep } from "../../../lib/retry.ts";
import { sign } from "../../../lib/signature.ts";
import type { ToolSecrets } from "../messages.ts";
import { authorize, refusalOf } from "./authorization.ts";
import type { ToolContext } from "./context.ts";
import { type MissingConsent, type ToolResult, toolError } from "./tool-result.ts";

/** A request to a tool's address. */
export interface Outgoing {
  url: string;
  method: string;
  /** Null: a request without a body. */
  body: string | Uint8Array<ArrayBuffer> | null;
  /** Media type of the body; absent: JSON. Of a form with files, the tool's own headers cannot change it. */
  contentType?: string;
  /** Headers from arguments, in lower case. The tool's own headers come before them. */
  headers?: Record<string, string>;
  accept: string;
  maxRedirects: number;
  /** Waits for a memory slot before a long response is read. */
  beforeLong: () => Promise<void>;
}

type Sent = { response: EgressResponse; attempts: number };
type Attempt = { response: EgressResponse } | Refused;
type Refused = {
  error: ToolError;
  request: RequestOutcome;
  again: boolean;
  delay_ms: number | null;
  /** Set if the server refused the token. */
  refusal?: NonNullable<ReturnType<typeof refusalOf>>;
};

/**
 * Sends a call and returns its 2xx response; other results are errors for the model. Every attempt has the same
 * `Idempotency-Key` and a signature (Standard Webhooks) for the receiver to verify.
 */
export async function sendCall(
  call: ToolCall,
  tool: HttpTool,
  outgoing: Outgoing,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Sent | ToolResult | MissingConsent> {
  const own = await context.secrets(tool);
  const unusable = secretsError(own);
  if (unusable) return unusable;
  let authorized = await authorize(context, tool);
  let isSecondToken = false;
  for (let attempts = 1; ; attempts++) {
    if ("authorization" in authorized) return authorized;
    if ("result" in authorized) return { ...authorized.result, attempts: attempts - 1 };
    const { token } = authorized;
    const secrets = token === null ? own : { ...own, headers: { ...own.headers, authorization: `Bearer ${token}` } };
    const ended = await attempt(call, tool, outgoing, secrets, context, signal);
    if ("response" in ended) return { response: ended.response, attempts };
    // The server refused the token, so it did not perform the call: with another token it is sent once more.
    if (ended.refusal && token !== null && !isSecondToken && !signal.aborted) {
      const next = await authorize(context, tool, token, ended.refusal.missing);
      if (!("result" in next)) {
        isSecondToken = true;
        authorized = next;
        continue;
      }
    }
    const { error, request, again, delay_ms } = ended;
    if (!again || attempts > tool.http.retries || signal.aborted) return { output: null, error, request, attempts };
    await sleep(backoff(attempts, delay_ms), signal);
  }
}

/** Returns an error if the secrets cannot be used, or null. */
export function secretsError({ named, fault }: ToolSecrets): ToolResult | null {
  if (fault) return toolError("too_many_secrets", fault, 0);
  const missing = named?.missing ?? [];
  if (missing.length === 0) return null;
  const names = missing.map((name) => `the secret ${name}`).join(" and ");
  return toolError("secret_not_found", `The tool's headers name ${names}, which does not exist.`, 0);
}

async function attempt(
  call: ToolCall,
  tool: HttpTool,
  outgoing: Outgoing,
  secrets: ToolSecrets,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const response = await send(call, tool.http.timeout_ms, outgoing, secrets, context, signal);
    const { status, headers } = response;
    const failures = failuresOf(response, tool.http.failures);
    if (status >= 200 && status < 300 && failures.length === 0) return { response };
    const refused = refusalOf(status, headers.get("www-authenticate"));
    const delay_ms = delayOf(headers, context.now());
    const isUnperformed = status === 429 || (status === 403 && delay_ms !== null) || failures.some((its) => its.repeat);
    const again = isUnperformed || (tool.idempotent && status >= 500);
    const words = [
      await refusal(response, context.hidden()),
      ...new Set(failures.flatMap(({ hint }) => hint ?? [])),
      ...(again && delay_ms !== null ? [`It can be called again in ${Math.ceil(delay_ms / 1000)} seconds.`] : []),
    ];
    return {
      error: { code: "http_error", message: words.join("\n") },
      request: "answered",
      // A service that names a longer time would refuse each earlier attempt, too.
      again: again && (delay_ms ?? 0) <= longestWait_ms,
      ...(refused && { refusal: refused }),
      delay_ms,
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const { code, message, request } = error;
    // A response that redirects to an unreachable server counts as none.
    const again = error.isTransient && (request === "answered" || afterFailure(request, tool) === "repeat");
    return { error: { code, message: hideInAnyCase(message, context.hidden()) }, request, again, delay_ms: null };
  }
}

function send(
  call: ToolCall,
  timeoutMs: number,
  {
    url,
    method,
    body,
    contentType = "application/json",
    headers: given = {},
    accept,
    maxRedirects,
    beforeLong,
  }: Outgoing,
  secrets: ToolSecrets,
  context: ToolContext,
  signal: AbortSignal,
): Promise<EgressResponse> {
  const timestamp = Math.floor(context.now() / 1000);
  const own = lowered(secrets.headers);
  const headers = {
    ...(body !== null && { "content-type": contentType }),
    accept,
    ...given,
    ...own,
    ...(contentType.startsWith("multipart/") && { "content-type": contentType }),
    ...(given.cookie && own.cookie && { cookie: `${own.cookie}; ${given.cookie}` }),
    "idempotency-key": call.id,
    "x-run-id": context.run_id,
    "x-tool-call-id": call.id,
    ...sign({ secrets: [secrets.signing_secret], id: call.id, timestamp, body: body ?? "" }),
  };
  return context.egress.fetch(withQuery(url, secrets.query), {
    method: method as "POST",
    headers,
    ...(body !== null && { body }),
    signal,
    timeoutMs,
    maxBytes: limits.tool_answer_bytes,
    maxRedirects,
    beforeLong,
  });
}

// Lowercase, so that a tool's own `Accept` replaces ours and no header is duplicated.
const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function withQuery(url: string, query: ToolSecrets["query"]): string {
  if (!query) return url;
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    // An argument may not stand beside the tool's own value: servers differ in which of two they take.
    target.searchParams.delete(name);
    target.searchParams.append(name, value);
  }
  return target.href;
}

/** Returns the tool's rules that a response matches. Longer responses are compared by their status only. */
function failuresOf(
  { status, body, truncated }: EgressResponse,
  rules: readonly ResponseFailure[] | undefined,
): ResponseFailure[] {
  if (!rules) return [];
  const isCompared = rules.some(({ field }) => field !== undefined) && !truncated && body.length <= refusalMax_bytes;
  const value = isCompared && !textFault(body) ? parsedJson(new TextDecoder().decode(body)) : undefined;
  return matchingFailures(rules, status, value);
}

/** Returns in how many ms the service takes calls again, by `Retry-After` or the headers of an exhausted rate limit. */
function delayOf(headers: Headers, now: number): number | null {
  const delay = retryAfter(headers.get("retry-after"), now);
  if (delay !== null || headers.get("x-ratelimit-remaining") !== "0") return delay;
  const reset = Number(headers.get("x-ratelimit-reset")?.trim() || Number.NaN);
  const until_ms = fromReset(reset, now);
  return until_ms >= 0 && until_ms <= day_ms ? until_ms : null;
}

/** Services name the seconds until then, or the time since 1970 in seconds or ms. */
function fromReset(reset: number, now: number): number {
  if (reset <= secondsOfAYear) return reset * 1000;
  return Math.max(0, (reset > year2000_ms ? reset : reset * 1000) - now);
}
const secondsOfAYear = 365 * 24 * 3600;
// As seconds, this is the year 31969.
const year2000_ms = Date.UTC(2000);
// Rate limits are shorter: a longer time is of an unknown unit.
const day_ms = 24 * 3600 * 1000;

// Bytes of a refusal that are searched for secrets; the rest is not shown.
const refusalMax_bytes = 65_536;

/** Returns the error message for the model: the status and the beginning of the response. */
async function refusal({ status, body, truncated }: EgressResponse, hidden: readonly string[]): Promise<string> {
  // Secrets are hidden before truncation, because a truncated secret would not be found.
  const start = body.subarray(0, refusalMax_bytes);
  const shown = await maskSecretsAsync(
    new TextDecoder().decode(start),
    hidden,
    truncated || start.length < body.length,
  );
  const text = shown.slice(0, 1000).toWellFormed().trim();
  return hideInAnyCase(`The tool returned status ${status}${text ? `: ${text}` : "."}`, hidden);
}
