import { responseIncomplete } from "../../domain/error-messages.ts";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import { maskSecrets } from "../../lib/redact.ts";
import type { RequestOutcome } from "../../lib/request-outcome.ts";
import { retryAfter } from "../../lib/retry.ts";
import type { ModelError } from "./model.ts";

/** Error of a stream that the caller aborted. */
export const abortedError: ModelError = {
  code: "model_error",
  message: "The model call was aborted.",
  retryable: false,
  retry_after_ms: null,
  aborted: true,
  request: "sent",
};

/** Error of a stream that stops without a finish reason, as with a cut connection. */
export const incompleteError: ModelError = {
  code: "model_incomplete",
  message: responseIncomplete,
  retryable: true,
  retry_after_ms: null,
  aborted: false,
  request: "sent",
};

/** Error of an answer with an unknown finish reason: the provider failed, or the answer may be incomplete. */
export const failedEnd = (reason: string, secrets: readonly string[]): ModelError => ({
  ...incompleteError,
  code: "model_error",
  message: redact(`The provider ended its response with "${reason}".`, secrets),
});

/** No server listens at Ollama's address. It may be starting, as after a reboot. */
export class NoOllama extends Error {
  override readonly name = "NoOllama";
  constructor(url: string) {
    super(`There is no Ollama at ${new URL(url).host}. Start it, or set OLLAMA_BASE_URL.`);
  }
}

/** Error of a connection that cannot use this model: its credentials, or the provider's permissions, are wrong. */
export const unavailableError = (message: string): ModelError => ({
  code: "model_not_available",
  message,
  retryable: false,
  retry_after_ms: null,
  aborted: false,
  request: "answered",
});

/** A failure that an adapter has judged itself; only its message may still hold secrets. */
export class JudgedFailure extends Error {
  override readonly name = "JudgedFailure";
  constructor(readonly verdict: ModelError) {
    super(verdict.message);
  }
}

/**
 * Converts a failure after the answer had begun: a network error then means an interrupted answer, not an unreachable
 * server.
 */
export const onceBegun = (failure: unknown): unknown =>
  isNetwork(failure) ? Object.assign(new Error("The connection broke."), { statusCode: 200 }) : failure;

const unreadable = "The provider sent a response that cannot be read.";

/** Converts any failure of a provider's SDK into an error that the loop can handle. */
export function toModelError(failure: unknown, secrets: readonly string[], now = Date.now()): ModelError {
  if (failure instanceof JudgedFailure)
    return { ...failure.verdict, message: redact(failure.verdict.message, secrets) };
  const facts = factsOf(failure);
  const verdict = judge(facts);
  return {
    code: verdict.code,
    message: redact(verdict.message, secrets),
    retryable: verdict.retryable,
    retry_after_ms: verdict.retryable ? retryAfterMs(facts.headers, facts.body, now) : null,
    aborted: false,
    request: requestState(facts),
    ...(verdict.unready && { unready: true }),
    ...(refusesFormat(facts) && { refuses_format: true }),
  };
}

interface Facts {
  /** Name of the SDK's error class. */
  name: string;
  status: number | null;
  /** The provider's message. */
  text: string;
  /** The provider's own error codes and types, in lower case. */
  kind: string;
  body: string;
  headers: Record<string, string>;
  network: boolean;
  /** True if no connection was made. */
  refused: boolean;
}

function requestState({ name, status, network, refused }: Facts): RequestOutcome {
  if (name === "NoOllama" || unsendable.has(name) || (network && refused)) return "not_sent";
  return status === null || status < 300 ? "sent" : "answered";
}

type Verdict = Pick<ModelError, "code" | "message" | "retryable" | "unready">;

function judge(facts: Facts): Verdict {
  const { status } = facts;
  if (facts.name === "NoOllama") return { code: "model_not_available", message: facts.text, retryable: true };
  const detail = facts.text === "" ? "" : `: ${facts.text}`;
  if (facts.network) return modelError("The model's server cannot be reached.", true);
  if (status !== null && status < 300) return incompleteError;
  if (status === 401 || status === 403) {
    // The provider's own message contains most of the key.
    const message = `The provider refused the credentials of this connection (HTTP ${status}).`;
    return { code: "model_not_available", message, retryable: false };
  }
  if (status === 404) {
    return {
      code: "model_not_available",
      message: `The provider does not have this model (HTTP 404)${detail}`,
      retryable: false,
    };
  }
  if (status === 429) return rateLimited(facts, detail);
  if (isContextOverflow(facts)) {
    const message = `The conversation is longer than the model's context${detail}`;
    return { code: "context_length_exceeded", message, retryable: false };
  }
  if (status !== null) {
    const verdict = modelError(`The provider returned HTTP ${status}${detail}`, isPassing(status));
    return isUnready(status) ? { ...verdict, unready: true } : verdict;
  }
  return withoutStatus(facts, detail);
}

function rateLimited(facts: Facts, detail: string): Verdict {
  // Waiting does not refill an exhausted account.
  const retryable = !facts.kind.includes("insufficient_quota");
  return { code: "model_rate_limited", message: `The provider's rate limit was reached${detail}`, retryable };
}

function withoutStatus(facts: Facts, detail: string): Verdict {
  if (unsendable.has(facts.name)) return modelError(`The provider does not support this request${detail}`, false);
  if (facts.name !== "" || facts.text === "") return modelError(unreadable, true);
  return modelError(`The provider reported an error${detail}`, !/invalid|bad_request/.test(facts.kind));
}

function modelError(message: string, retryable: boolean): Verdict {
  return { code: "model_error", message, retryable };
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 424 || status === 425 || status >= 500;
}

/** True if the server is overloaded, or a gateway reports that it is down. */
const isUnready = (status: number): boolean => status === 502 || status === 503 || status === 504;

// 500 and 501 too: some servers notice unsupported formats only while they run.
const formatRefusals = new Set([400, 422, 500, 501]);
const formatWords =
  /response[_ ]?(format|schema|mime)|json[_ ]?(schema|object|mode)|structured[_ ]?output|text\.format|output_(config|format)|grammar/i;

/** True if the server refused the response format; only used for requests that had one. */
const refusesFormat = (facts: Facts): boolean =>
  facts.status !== null &&
  formatRefusals.has(facts.status) &&
  !isContextOverflow(facts) &&
  formatWords.test(facts.body === "" ? facts.text : facts.body);

/** Errors that an SDK throws before it sends anything. */
const unsendable = new Set([
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
  "AI_LoadAPIKeyError",
  "AI_NoSuchModelError",
]);

const overflows = [
  /context_length_exceeded|maximum context length|exceeds? the context window/i, // OpenAI, vLLM
  /prompt is too long|exceeds? (the )?context limit/i, // Anthropic
  /exceeds the maximum number of tokens/i, // Google
  /exceed_context_size|exceeds the available context size/i, // llama.cpp
  /exceeds the (maximum )?context length/i, // Ollama
  /reduce the length of (the|your) (messages|prompt|input)/i, // Groq and others
];

function isContextOverflow(facts: Facts): boolean {
  return overflows.some((pattern) => pattern.test(facts.text) || pattern.test(facts.kind));
}

function factsOf(failure: unknown): Facts {
  const top = fieldsOf(failure);
  const body = typeof top.responseBody === "string" ? top.responseBody : "";
  const inBody = errorIn(parsedJson(body));
  const inData = errorIn(top.data);
  const kinds = [top, inData, inBody].flatMap((from) => [from.code, from.type, from.status]);
  return {
    name: failure instanceof Error ? failure.name : "",
    status: statusIn([top.statusCode, ...kinds]),
    text: firstText(inBody.message, inData.message, plainBody(body), failure === body ? "" : top.message, failure),
    kind: kinds
      .filter((kind) => typeof kind === "string")
      .join(" ")
      .toLowerCase(),
    body,
    headers: stringsOf(top.responseHeaders),
    network: isNetwork(failure),
    refused: codesOf(failure).some((code) => refusals.test(code)),
  };
}

/** Returns the error object of any provider: `{error: {…}}`, `{error: "…"}`, `{response: {error: {…}}}`, `{detail}`. */
function errorIn(value: unknown): Record<string, unknown> {
  const outer = fieldsOf(Array.isArray(value) ? value[0] : value);
  const inner = outer.error ?? fieldsOf(outer.response).error ?? outer;
  if (typeof inner === "string") return { message: inner };
  const found = fieldsOf(inner);
  return { ...found, message: found.message ?? found.detail };
}

/** Returns a body that is neither JSON nor HTML: some servers respond with a bare sentence. */
function plainBody(body: string): string {
  return /^\s*[<{[]/.test(body) ? "" : body.trim();
}

function statusIn(candidates: unknown[]): number | null {
  for (const candidate of candidates) {
    const status = typeof candidate === "string" && /^\d{3}$/.test(candidate) ? Number(candidate) : candidate;
    if (typeof status === "number" && status >= 100 && status < 600) return status;
  }
  const kind = candidates.filter((candidate) => typeof candidate === "string").join(" ");
  if (/rate_limit|insufficient_quota|RESOURCE_EXHAUSTED/.test(kind)) return 429;
  return /overloaded/.test(kind) ? 503 : null;
}

const networkCodes =
  /^(Connection|FailedToOpen|Unable|ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|CERT|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

// A connection that was made and then closed is not included: the request itself may crash the server.
const refusals = /^(ConnectionRefused|ECONNREFUSED|FailedToOpen|Unable|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/;

function codesOf(failure: unknown): string[] {
  const codes: string[] = [];
  let error = failure;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    const { code } = error as Error & { code?: unknown };
    if (typeof code === "string") codes.push(code);
    error = error.cause;
  }
  return codes;
}

/** True if a server could not be reached. */
export function isNetwork(failure: unknown): boolean {
  let error = failure;
  // No SDK nests causes deeper than five; the limit also ends a cycle of causes.
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown };
    if (typeof statusCode === "number") return false;
    if (typeof code === "string" && networkCodes.test(code)) return true;
    if (error.message.startsWith("Cannot connect to API")) return true;
    error = error.cause;
  }
  return false;
}

function firstText(...candidates: unknown[]): string {
  const text = candidates.find((candidate) => typeof candidate === "string" && candidate.trim() !== "");
  return typeof text === "string" ? text.trim() : "";
}

function stringsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Returns the delay that a provider asks for: `retry-after-ms`, `Retry-After` in seconds or as a date, or Google's
 * body.
 */
function retryAfterMs(headers: Record<string, string>, body: string, now: number): number | null {
  return milliseconds(headers["retry-after-ms"]) ?? retryAfter(headers["retry-after"], now) ?? delayInBody(body);
}

function milliseconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Math.ceil(Number(value)) : null;
}

function delayInBody(body: string): number | null {
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? null : Math.ceil(Number(delay) * 1000);
}

const limit = 500;

/** Removes keys and credentials from a provider's message and shortens it to one line. */
function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "[redacted]");
  clean = maskSecrets(clean, secrets); // Also as spelled in JSON or a URL.
  clean = clean
    // Providers echo partly masked keys: `sk-proj-ab***yz`.
    .replace(/\b(sk|pk|rk|gsk|xai|AIza)[-_]?[\w*•.-]{8,}/g, "[redacted]")
    .replace(/\bBearer\s+\S+/gi, "Bearer [redacted]")
    .replace(/\/\/[^/\s@]+@/g, "//[redacted]@")
    .replace(/([?&](?:key|api_key|token|access_token)=)[^&\s]+/gi, "$1[redacted]")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > limit ? `${clean.slice(0, limit).toWellFormed()}…` : clean;
}
