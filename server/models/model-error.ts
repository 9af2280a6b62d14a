import { fieldsOf, parsedJson } from "../lib/json.ts";
import { hide } from "../lib/redact.ts";
import type { RequestState } from "../lib/request-state.ts";
import { retryAfter } from "../lib/retry.ts";
import type { ModelError } from "./port.ts";

/** What the caller's abort ends a stream with. */
export const abortedError: ModelError = {
  code: "model_error",
  message: "The model call was aborted.",
  retryable: false,
  retry_after_ms: null,
  aborted: true,
  request: "sent",
};

/** For a stream that stops without saying that it is finished: a cut connection looks like this. */
export const incompleteError: ModelError = {
  code: "model_incomplete",
  message: "The provider's response ended before it was complete.",
  retryable: true,
  retry_after_ms: null,
  aborted: false,
  request: "sent",
};

/** For an answer that ended with a reason that is no known end of one: the provider failed, or it may lack something. */
export const failedEnd = (reason: string, secrets: readonly string[]): ModelError => ({
  ...incompleteError,
  code: "model_error",
  message: redact(`The provider ended its response with "${reason}".`, secrets),
});

/** Nobody listens where Ollama should. It may be about to start, as after a restart of the machine. */
export class NoOllama extends Error {
  override readonly name = "NoOllama";
  constructor(url: string) {
    super(`There is no Ollama at ${new URL(url).host}. Start it, or set OLLAMA_BASE_URL.`);
  }
}

/** What went wrong once an answer had begun: who cannot be reached then has broken it off, and was not away. */
export const onceBegun = (failure: unknown): unknown =>
  isNetwork(failure) ? Object.assign(new Error("The connection broke."), { statusCode: 200 }) : failure;

const unreadable = "The provider sent a response that cannot be read.";

/** Turns whatever a provider's SDK threw or streamed as an error into an error that the loop can act on. */
export function toModelError(failure: unknown, secrets: readonly string[], now = Date.now()): ModelError {
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
  /** The class of the error, by the SDK's name for it. */
  name: string;
  status: number | null;
  /** What the provider said, for people. */
  text: string;
  /** The provider's own words for the kind of error, in lower case. */
  kind: string;
  body: string;
  headers: Record<string, string>;
  network: boolean;
  /** There was not even a connection. */
  refused: boolean;
}

function requestState({ name, status, network, refused }: Facts): RequestState {
  if (name === "NoOllama" || unsendable.has(name) || (network && refused)) return "not_sent";
  return status === null || status < 300 ? "sent" : "answered";
}

type Verdict = Pick<ModelError, "code" | "message" | "retryable" | "unready">;

function judge(facts: Facts): Verdict {
  const { status } = facts;
  if (facts.name === "NoOllama") return { code: "model_not_available", message: facts.text, retryable: true };
  const said = facts.text === "" ? "" : `: ${facts.text}`;
  if (facts.network) return modelError("The model's server cannot be reached.", true);
  if (status !== null && status < 300) return incompleteError;
  if (status === 401 || status === 403) {
    // The provider's own sentence repeats most of the key.
    const message = `The provider refused the credentials of this connection (HTTP ${status}).`;
    return { code: "model_not_available", message, retryable: false };
  }
  if (status === 404) {
    return {
      code: "model_not_available",
      message: `The provider does not have this model (HTTP 404)${said}`,
      retryable: false,
    };
  }
  if (status === 429) return rateLimited(facts, said);
  if (isContextOverflow(facts)) {
    const message = `The conversation is longer than the model's context${said}`;
    return { code: "context_length_exceeded", message, retryable: false };
  }
  if (status !== null) {
    const verdict = modelError(`The provider returned HTTP ${status}${said}`, isPassing(status));
    return isUnready(status) ? { ...verdict, unready: true } : verdict;
  }
  return withoutStatus(facts, said);
}

function rateLimited(facts: Facts, said: string): Verdict {
  // An empty account does not fill up while we wait.
  const retryable = !facts.kind.includes("insufficient_quota");
  return { code: "model_rate_limited", message: `The provider's rate limit was reached${said}`, retryable };
}

function withoutStatus(facts: Facts, said: string): Verdict {
  if (unsendable.has(facts.name)) return modelError(`The provider does not support this request${said}`, false);
  if (facts.name !== "" || facts.text === "") return modelError(unreadable, true);
  return modelError(`The provider reported an error${said}`, !/invalid|bad_request/.test(facts.kind));
}

function modelError(message: string, retryable: boolean): Verdict {
  return { code: "model_error", message, retryable };
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status >= 500;
}

/** Who says so has no time, or speaks for a server that is not there. */
const isUnready = (status: number): boolean => status === 502 || status === 503 || status === 504;

// 500 and 501 too: not every server finds out what it cannot do before it tries.
const formatRefusals = new Set([400, 422, 500, 501]);
const formatWords =
  /response[_ ]?(format|schema|mime)|json[_ ]?(schema|object|mode)|structured[_ ]?output|text\.format|output_(config|format)|grammar/i;

/** Of a request that had no such form nobody asks. */
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

/** The error object wherever a provider puts it: `{error: {…}}`, `{error: "…"}`, `{response: {error: {…}}}`, `{detail}`. */
function errorIn(value: unknown): Record<string, unknown> {
  const outer = fieldsOf(Array.isArray(value) ? value[0] : value);
  const inner = outer.error ?? fieldsOf(outer.response).error ?? outer;
  if (typeof inner === "string") return { message: inner };
  const found = fieldsOf(inner);
  return { ...found, message: found.message ?? found.detail };
}

/** A body that is neither JSON nor a page: some servers answer with a bare sentence. */
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

// A connection that came about and was closed is none of these: it may be what was asked that its server dies of.
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

/** Whether a server could not be reached. */
export function isNetwork(failure: unknown): boolean {
  let error = failure;
  // Five is deeper than any SDK nests its causes, and a cause that points to itself ends here.
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

/** How long a provider asks to be left alone: `retry-after-ms`, `Retry-After` in seconds or as a date, or in Google's body. */
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

/** Takes keys and credentials out of a provider's sentence, and keeps it a short single line. */
function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "[redacted]");
  clean = hide(clean, secrets); // As it is spelled in JSON or a URL, too.
  clean = clean
    // Providers echo keys half starred: `sk-proj-ab***yz`.
    .replace(/\b(sk|pk|rk|gsk|xai|AIza)[-_]?[\w*•.-]{8,}/g, "[redacted]")
    .replace(/\bBearer\s+\S+/gi, "Bearer [redacted]")
    .replace(/\/\/[^/\s@]+@/g, "//[redacted]@")
    .replace(/([?&](?:key|api_key|token|access_token)=)[^&\s]+/gi, "$1[redacted]")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > limit ? `${clean.slice(0, limit).toWellFormed()}…` : clean;
}
