import { afterFailure } from "../../../domain/after-failure.ts";
import type { HttpTool } from "../../../domain/agent-snapshot.ts";
import { limits } from "../../../domain/limits.ts";
import type { ToolError } from "../../../domain/run-event.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import { EgressError, type EgressResponse } from "../../../lib/egress.ts";
import { hideInAnyCase, maskSecretsAsync } from "../../../lib/redact.ts";
import type { RequestOutcome } from "../../../lib/request-outcome.ts";
import { backoff, retryAfter, sleep } from "../../../lib/retry.ts";
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
    if (response.status >= 200 && response.status < 300) return { response };
    const refused = refusalOf(response.status, response.headers.get("www-authenticate"));
    const again = tool.idempotent ? response.status === 429 || response.status >= 500 : response.status === 429;
    return {
      error: { code: "http_error", message: await refusal(response, context.hidden()) },
      request: "answered",
      again,
      ...(refused && { refusal: refused }),
      delay_ms: retryAfter(response.headers.get("retry-after"), context.now()),
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
