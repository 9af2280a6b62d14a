import { responseIncomplete } from "../../domain/error-messages.ts";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import { maskSecrets } from "../../lib/redact.ts";
import type { RequestOutcome } from "../../lib/request-outcome.ts";
import { retryAfter } from "../../lib/retry.ts";
import {
  delayInWords,
  exceedsRate,
  saysFiltered,
  saysNoCredit,
  saysOverflow,
  saysTokenExpired,
  saysUnsupported,
} from "./fault-words.ts";
import type { ModelError } from "./model.ts";
import { firstText, providerFault } from "./provider-fault.ts";

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

/** Error of an answer in which a tool call changed its name: neither tool may be run. */
export const renamedCall = (from: string, to: string, secrets: readonly string[]): ModelError => ({
  ...incompleteError,
  code: "model_error",
  message: redact(`The provider changed the name of a tool call from "${from}" to "${to}".`, secrets),
});

/** An answer that cannot be used, with the reason for people. */
export class UnusableAnswer extends Error {
  override readonly name = "UnusableAnswer";
  readonly isPassing: boolean;
  constructor(message: string, { isPassing = false } = {}) {
    super(message);
    this.isPassing = isPassing;
  }
}

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
  const verdict = failure instanceof UnusableAnswer ? modelError(failure.message, failure.isPassing) : judge(facts);
  return {
    code: verdict.code,
    message: redact(verdict.message, secrets),
    retryable: verdict.retryable,
    retry_after_ms: verdict.retryable ? retryAfterMs(facts, now) : null,
    aborted: false,
    request: requestState(facts),
    ...(verdict.unready && { unready: true }),
    ...(verdict.filtered && { filtered: true }),
    ...(verdict.refuses_credentials && { refuses_credentials: true }),
    ...(refusesFormat(facts) && { refuses_format: true }),
    ...(verdict.unread_answer !== undefined && { unread_answer: redact(verdict.unread_answer, secrets) }),
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
  /** Answer of the model that the server could not read. */
  failed_generation: string;
  headers: Record<string, string>;
  network: boolean;
  /** True if no connection was made. */
  refused: boolean;
}

function requestState({ name, status, network, refused }: Facts): RequestOutcome {
  if (name === "NoOllama" || unsendable.has(name) || (network && refused)) return "not_sent";
  return status === null || status < 300 ? "sent" : "answered";
}

type Verdict = Pick<
  ModelError,
  "code" | "message" | "retryable" | "unready" | "filtered" | "refuses_credentials" | "unread_answer"
>;

function judge(facts: Facts): Verdict {
  const { status } = facts;
  if (facts.name === "NoOllama") return { code: "model_not_available", message: facts.text, retryable: true };
  const detail = facts.text === "" ? "" : `: ${facts.text}`;
  if (facts.network) return modelError("The model's server cannot be reached.", true);
  if (status !== null && status < 300) return incompleteError;
  if (isFiltered(facts))
    return { ...modelError(`The provider's content filter refused the request${detail}`, false), filtered: true };
  if (isOutOfCredit(facts)) return outOfCredit(detail);
  if (status === 401 || status === 403) {
    const said = withoutKeys(detail);
    const message = `The provider refused the credentials of this connection (HTTP ${status})${said}`;
    const refuses_credentials = status === 401 || saysTokenExpired(`${facts.kind} ${facts.text}`);
    return {
      code: "model_not_available",
      message,
      retryable: false,
      ...(refuses_credentials && { refuses_credentials }),
    };
  }
  if (status === 402)
    return {
      code: "model_not_available",
      message: `The provider asks for a payment (HTTP 402)${detail}`,
      retryable: false,
    };
  if (status === 404) {
    return {
      code: "model_not_available",
      message: `The provider does not have this model (HTTP 404)${detail}`,
      retryable: false,
    };
  }
  if (isContextOverflow(facts)) {
    const message = `The conversation is longer than the model's context${detail}`;
    return { code: "context_length_exceeded", message, retryable: false };
  }
  if (status === 429) return rateLimited(detail);
  if (isUnread(facts)) {
    const verdict = modelError(`The server could not read the model's answer${detail}`, true);
    return { ...verdict, unread_answer: facts.failed_generation };
  }
  if (status !== null) {
    const passes = isPassing(status) && !(status === 500 && saysUnsupported(facts.text));
    const verdict = modelError(`The provider returned HTTP ${status}${detail}`, passes);
    return isUnready(status) ? { ...verdict, unready: true } : verdict;
  }
  return withoutStatus(facts, detail);
}

const rateLimited = (detail: string): Verdict => ({
  code: "model_rate_limited",
  message: `The provider's rate limit was reached${detail}`,
  retryable: true,
});

/** Waiting does not fill an exhausted account. */
const outOfCredit = (detail: string): Verdict => ({
  code: "model_rate_limited",
  message: `The account of this connection has no credit left${detail}`,
  retryable: false,
});

const creditStatuses: ReadonlySet<number | null> = new Set([null, 400, 402, 403, 429]);

const isOutOfCredit = ({ status, kind, text }: Facts): boolean =>
  status === 402 || (creditStatuses.has(status) && saysNoCredit(`${kind} ${text}`));

/** True if the model's answer was no valid call or JSON. */
const isUnread = ({ kind, failed_generation }: Facts): boolean =>
  failed_generation !== "" || /\b(tool_use|json_validate|output_parse)_failed\b/.test(kind);

const filterStatuses: ReadonlySet<number | null> = new Set([null, 400, 403, 422]);

const isFiltered = ({ status, kind, text }: Facts): boolean =>
  filterStatuses.has(status) && saysFiltered(`${kind} ${text}`);

/** Removes words that may be a key, or what a provider shows of it. */
const withoutKeys = (detail: string): string => detail.replace(/\S*(?:[*•]{3,}|[\w-]{20,})\S*/g, "[redacted]");

function withoutStatus(facts: Facts, detail: string): Verdict {
  if (unsendable.has(facts.name)) return modelError(`The provider does not support this request${detail}`, false);
  if (facts.name !== "" || facts.text === "") return modelError(unreadable, true);
  return modelError(
    `The provider reported an error${detail}`,
    !/invalid|bad_?request|unsupported|unprocessable/.test(facts.kind),
  );
}

function modelError(message: string, retryable: boolean): Verdict {
  return { code: "model_error", message, retryable };
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 424 || status === 425 || status >= 498;
}

const unready: ReadonlySet<number> = new Set([502, 503, 504, 521, 522, 523, 524, 529, 530]);

/** True if the server is overloaded, or a gateway reports that it is down. */
const isUnready = (status: number): boolean => unready.has(status);

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

// A limit of tokens per minute is not the model's context, unless the request alone exceeds it. Some servers and
// proxies answer a long prompt with a bare 413.
const isContextOverflow = ({ status, kind, text }: Facts): boolean =>
  status === 413 || exceedsRate(text) || (status !== 429 && saysOverflow(`${kind} ${text}`));

function factsOf(failure: unknown): Facts {
  const top = fieldsOf(failure);
  const body = typeof top.responseBody === "string" ? top.responseBody : "";
  const inBody = providerFault(parsedJson(body));
  const inData = providerFault(top.data);
  const own = failure instanceof Error ? null : providerFault(failure);
  const kinds = [top.code, top.type, top.status, ...(own?.kinds ?? []), ...inData.kinds, ...inBody.kinds];
  return {
    name: failure instanceof Error ? failure.name : "",
    status: statusIn([top.statusCode, ...kinds]),
    text: firstText(
      inBody.message,
      inData.message,
      plainBody(body),
      own?.message,
      failure === body ? "" : top.message,
      failure,
    ),
    kind: kinds
      .filter((kind) => typeof kind === "string")
      .join(" ")
      .toLowerCase(),
    body,
    failed_generation: firstText(own?.failed_generation, inData.failed_generation, inBody.failed_generation),
    headers: stringsOf(top.responseHeaders),
    network: isNetwork(failure),
    refused: codesOf(failure).some((code) => refusals.test(code)),
  };
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

function stringsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Returns the delay that a provider asks for: `retry-after-ms`, `Retry-After` in seconds or as a date, Google's body,
 * or words.
 */
function retryAfterMs({ headers, body, text }: Facts, now: number): number | null {
  const inHeaders = milliseconds(headers["retry-after-ms"]) ?? retryAfter(headers["retry-after"], now);
  return inHeaders ?? delayInBody(body) ?? delayInWords(text);
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
