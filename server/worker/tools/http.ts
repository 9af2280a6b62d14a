import type { HttpCall, ToolSnapshot } from "../../core/agent-snapshot.ts";
import type { ToolCall } from "../../core/run-state.ts";
import { type Egress, EgressError, type EgressResponse } from "../../lib/egress.ts";
import { jsonFault } from "../../lib/json-limits.ts";
import { hide, hideCut, hideInAnyCase, hideInJson } from "../../lib/redact.ts";
import { backoff, retryAfter, sleep } from "../../lib/retry.ts";
import { sign } from "../../lib/signature.ts";
import type { ToolSecrets } from "../messages.ts";
import type { ToolOutcome } from "../run-tools.ts";

interface Context {
  run_id: string;
  secrets: ToolSecrets;
  /** What must not come back in an output: journal and model would have it for ever. */
  hidden: readonly string[];
  egress: Egress;
  now(): number;
}

type Attempt = {
  outcome: Omit<ToolOutcome, "attempts"> & Pick<ToolOutcome, "error">;
  again: boolean;
  delay_ms: number | null;
};

const redirectsMax = 3;

/**
 * Sends a call to the tool's URL: POST with the arguments as the body, GET and HEAD with them as query parameters.
 * Every attempt carries the same `Idempotency-Key` and is signed (Standard Webhooks) for the receiver to verify.
 */
export async function runHttpTool(
  call: ToolCall,
  tool: ToolSnapshot,
  context: Context,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const http = tool.http!;
  const missing = context.secrets.named?.missing ?? [];
  if (missing.length > 0) return { output: null, error: noSecret(missing), attempts: 0 };
  for (let attempts = 1; ; attempts++) {
    const { outcome, again, delay_ms } = await attempt(call, tool, http, context, signal);
    if (!again || attempts > http.retries || signal.aborted) return { ...outcome, attempts } as ToolOutcome;
    await sleep(backoff(attempts, delay_ms), signal);
  }
}

const noSecret = (names: readonly string[]) => ({
  code: "secret_not_found",
  message: `The tool's headers name ${names.map((name) => `the secret ${name}`).join(" and ")}, which does not exist.`,
});

async function attempt(
  call: ToolCall,
  tool: ToolSnapshot,
  http: HttpCall,
  context: Context,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const response = await send(call, tool, http, context, signal);
    if (response.status >= 200 && response.status < 300)
      return { outcome: readResult(response, http, tool, context.hidden), again: false, delay_ms: null };
    const again = tool.idempotent ? response.status === 429 || response.status >= 500 : response.status === 429;
    return {
      outcome: failed("http_error", answerText(response, context.hidden), context.hidden),
      again,
      delay_ms: retryAfter(response.headers.get("retry-after"), context.now()),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // What never left may always be sent again; what may have arrived, only if the tool says that this is safe.
    const again =
      error.code === "connect_failed" || error.code === "dns_failed" || (tool.idempotent && mayPass.has(error.code));
    return { outcome: failed(error.code, error.message, context.hidden), again, delay_ms: null };
  }
}

const mayPass = new Set<string>(["timeout", "connection_lost", "dns_timeout"]);

function send(
  call: ToolCall,
  tool: ToolSnapshot,
  http: HttpCall,
  context: Context,
  signal: AbortSignal,
): Promise<EgressResponse> {
  const bodyless = http.method === "GET" || http.method === "HEAD";
  const body = bodyless ? "" : JSON.stringify(call.arguments);
  const timestamp = Math.floor(context.now() / 1000);
  const headers = {
    ...(!bodyless && { "content-type": "application/json" }),
    accept: http.response === "json" ? "application/json" : "*/*",
    ...lowered(context.secrets.headers),
    "idempotency-key": call.id,
    "x-run-id": context.run_id,
    "x-tool-call-id": call.id,
    ...sign({ secrets: [context.secrets.signing_secret], id: call.id, timestamp, body }),
  };
  return context.egress.fetch(bodyless ? withQuery(http.url, call.arguments) : http.url, {
    method: http.method as "POST",
    headers,
    ...(!bodyless && { body }),
    signal,
    timeoutMs: http.timeout_ms,
    maxBytes: tool.max_output_bytes,
    // A redirected POST would go on as a GET without its arguments, and its answer would pass for the call's.
    maxRedirects: bodyless ? redirectsMax : 0,
  });
}

// In one spelling, so that a tool's own `Accept` takes the place of ours and none of ours can be doubled.
const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function withQuery(url: string, args: Record<string, unknown>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(args))
    target.searchParams.append(name, typeof value === "string" ? value : JSON.stringify(value));
  return target.href;
}

function readResult(
  { body, truncated }: EgressResponse,
  { response }: HttpCall,
  { max_output_bytes }: ToolSnapshot,
  hidden: readonly string[],
): Attempt["outcome"] {
  const text = new TextDecoder().decode(body);
  if (truncated && response === "json")
    return failed("output_too_large", `The tool answered with more than ${max_output_bytes} bytes.`, hidden);
  if (truncated) return { output: `${hideCut(text, hidden)}\n[cut after ${max_output_bytes} bytes]`, error: null };
  if (response === "text" || text === "")
    return { output: text === "" && response === "json" ? null : hide(text, hidden), error: null };
  try {
    const output: unknown = JSON.parse(text);
    const fault = jsonFault(output);
    return fault ? failed("invalid_response", fault, hidden) : { output: hideInJson(output, hidden), error: null };
  } catch {
    const said = beginning(hide(text, hidden), 200);
    return failed("invalid_response", `The tool did not answer with JSON: ${said}`, hidden);
  }
}

/** Whoever worded a message: it may repeat a key of the answer, or the host of a redirect. */
const failed = (code: string, message: string, hidden: readonly string[]): Attempt["outcome"] => ({
  output: null,
  error: { code, message: hideInAnyCase(message, hidden) },
});

/** What the model reads of a refusal: the status and the beginning of what the tool said. */
function answerText({ status, body, truncated }: EgressResponse, hidden: readonly string[]): string {
  // Before it is shortened: a secret that is cut in two is not found any more.
  const shown = (truncated ? hideCut : hide)(new TextDecoder().decode(body), hidden);
  const text = beginning(shown, 1000).trim();
  return `The tool answered with status ${status}${text ? `: ${text}` : "."}`;
}

const beginning = (text: string, length: number): string => text.slice(0, length).toWellFormed();
