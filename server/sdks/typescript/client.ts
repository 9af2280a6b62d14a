import {
  APIConnectionError,
  APIError,
  APITimeoutError,
  CertificateError,
  RunnelError,
  UnexpectedResponseError,
} from "./errors.ts";
import { fetchTrusting } from "./fetch-trusting.ts";
import { writeJson } from "./json.ts";
import { isAt, localServer } from "./local-server.ts";
import { parsedObject, readText } from "./read-body.ts";
import { mayRetry, retryDelay, sleep } from "./retries.ts";

export interface ClientOptions {
  /**
   * Base URL of the server. Default: `RUNNEL_URL`, else the server that runs on `runnel-data` in the current folder, else
   * `https://127.0.0.1:8443`.
   */
  baseUrl?: string | undefined;
  /** API key. Default: `RUNNEL_API_KEY`, else the test key of `runnel dev` in the current folder. */
  apiKey?: string | undefined;
  /**
   * Certificate of a server with a self-signed one, as PEM. Default: the file named by `RUNNEL_CACERT`, else that of the
   * server in the current folder.
   */
  ca?: string | undefined;
  /** Timeout of one attempt in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries. Default: 2. */
  maxRetries?: number | undefined;
  /** Headers of every request. */
  headers?: Record<string, string> | undefined;
  /** Replaces the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** Options of a single request. */
export interface RequestOptions {
  /** Key under which the server executes the request only once. Every POST has a random one by default. */
  idempotencyKey?: string | undefined;
  /** Timeout of one attempt in milliseconds. For streams and downloads: until the response begins. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries. */
  maxRetries?: number | undefined;
  /** Cancels the request, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Additional headers. */
  headers?: Record<string, string> | undefined;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Query = object | undefined;

interface RequestParts extends RequestOptions {
  query?: Query;
  /** Sent as JSON, except a `Blob` or a `Uint8Array`, which is sent as it is. */
  body?: unknown;
}

/** Sends requests: adds the key, applies the timeout and retries what is safe to retry. */
export class Client {
  readonly baseUrl: string;
  readonly maxRetries: number;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #headers: Record<string, string>;
  readonly #fetch: Promise<Fetch>;

  constructor(options: ClientOptions = {}) {
    const given = { url: options.baseUrl ?? setting("RUNNEL_URL"), key: options.apiKey ?? setting("RUNNEL_API_KEY") };
    const beside = given.url && given.key && (options.ca ?? setting("RUNNEL_CACERT")) ? null : localServer();
    const { baseUrl = given.url ?? beside?.address ?? "https://127.0.0.1:8443" } = options;
    const local = beside && isAt(beside, baseUrl) ? beside : null;
    const apiKey = given.key ?? local?.api_key;
    if (!apiKey)
      throw new RunnelError(
        "An API key is missing: pass `apiKey`, set RUNNEL_API_KEY, or run in the folder of `runnel dev`.",
      );
    this.baseUrl = baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#apiKey = apiKey;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.maxRetries = options.maxRetries ?? 2;
    this.#headers = lowerCased(options.headers);
    this.#fetch = options.fetch
      ? Promise.resolve(options.fetch)
      : fetchTrusting({ ca: options.ca, file: setting("RUNNEL_CACERT") ?? local?.cacert ?? undefined });
    this.#fetch.catch(() => {}); // The first request throws the error.
  }

  /** Returns a client with other options, over the same connections. `headers` are added to those of this client. */
  withOptions(options: Pick<ClientOptions, "timeoutMs" | "maxRetries" | "headers">): this {
    const Class = this.constructor as new (options: ClientOptions) => this;
    return new Class({
      baseUrl: this.baseUrl,
      apiKey: this.#apiKey,
      timeoutMs: options.timeoutMs ?? this.#timeoutMs,
      maxRetries: options.maxRetries ?? this.maxRetries,
      headers: { ...this.#headers, ...lowerCased(options.headers) },
      fetch: async (url, init) => await (await this.#fetch)(url, init),
    });
  }

  /** Returns the body of a response as JSON. Throws an `APIError` if the server refuses. */
  async json<T>(method: string, path: string, parts?: RequestParts): Promise<T> {
    const text = await this.#send(method, path, parts, (response) => readText(response, longestAnswer));
    return parsedObject(text, this.baseUrl + path) as T;
  }

  /** Returns a response with an unread body. Throws an `APIError` if the server refuses. */
  send(method: string, path: string, parts?: RequestParts): Promise<Response> {
    return this.#send(method, path, parts, async (response) => response);
  }

  /** Sends a request with retries. `read` reads the response within the timeout. */
  async #send<T>(
    method: string,
    path: string,
    parts: RequestParts = {},
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    refuseAddress(path);
    const { maxRetries = this.maxRetries, signal } = parts;
    // All attempts share one key, so that the server executes the request only once.
    const idempotencyKey = method === "POST" ? (parts.idempotencyKey ?? crypto.randomUUID()) : undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(method, path, { ...parts, idempotencyKey }, read);
      } catch (error) {
        if (attempt >= maxRetries || !mayRetry(error) || (isConditional(parts) && !(error instanceof APIError)))
          throw error;
        await sleep(retryDelay(attempt, error), signal);
      }
    }
  }

  async #attempt<T>(
    method: string,
    path: string,
    { query, body, headers, idempotencyKey, timeoutMs = this.#timeoutMs, signal }: RequestParts,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const fetch = await this.#fetch;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs + waitOf(query) * 1000);
    const isRaw = body === undefined || body instanceof Blob || body instanceof Uint8Array;
    try {
      const response = await fetch(this.baseUrl + path + queryText(query), {
        method,
        headers: {
          authorization: `Bearer ${this.#apiKey}`,
          ...(!isRaw && { "content-type": "application/json" }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
          ...this.#headers,
          ...lowerCased(headers),
        },
        body: isRaw ? ((body as RequestInit["body"]) ?? null) : writeJson(body),
        redirect: "manual", // A redirect must not carry the key and the body to another server.
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
      const target = redirectOf(response);
      if (target !== null)
        throw new UnexpectedResponseError(`${this.baseUrl} redirects to ${target}: pass the server's own \`baseUrl\`.`);
      if (!response.ok && response.status !== 304) throw await refusalOf(response);
      return await read(response);
    } catch (cause) {
      if (cause instanceof APIError || cause instanceof UnexpectedResponseError) throw cause;
      if (signal?.aborted) throw signal.reason;
      if (late.signal.aborted) throw new APITimeoutError("The server did not respond in time.", { cause });
      throw lostBy(cause, this.baseUrl);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Throws for a path that `fetch` would rewrite: `/keys/..` becomes `/`. */
function refuseAddress(path: string): void {
  const parts = path.slice(1).split(/[?#]/, 1)[0]!.split("/");
  if (parts.some((part) => /^(\.|%2e){0,2}$/i.test(part)))
    throw new RunnelError(`A part of ${path} is empty, "." or "..", which no id or name can be.`);
}

/** Maximum size of a JSON response. Files and capsules may be larger, but are not read here. */
const longestAnswer = 128 * 2 ** 20;
const longestRefusal = 2 ** 20;

/** Target of a redirect, or null if the response is none. Browsers do not reveal the target. */
function redirectOf({ status, type, headers }: Response): string | null {
  const leads = type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
  return leads ? (headers.get("location") ?? "another address") : null;
}

async function refusalOf(response: Response): Promise<APIError> {
  let body: unknown;
  try {
    body = JSON.parse(await readText(response, longestRefusal));
  } catch (error) {
    // A proxy may have sent a body of its own.
    if (!(error instanceof SyntaxError || error instanceof UnexpectedResponseError)) throw error;
  }
  return APIError.of(response.status, body, response.headers);
}

/** Converts a failed request into an error. In Node the reason is the error's cause, in Bun the error itself. */
function lostBy(error: unknown, baseUrl: string): APIConnectionError {
  const reasons = [error, (error as { cause?: unknown } | null)?.cause].filter((one) => one instanceof Error);
  const codes = reasons.map((one) => String((one as { code?: unknown }).code ?? ""));
  const fault = [...codes, ...reasons.map(({ message }) => message)].find((text) =>
    /CERT|UNABLE_TO_VERIFY/i.test(text),
  );
  if (fault)
    return new CertificateError(
      `The certificate of ${baseUrl} is not trusted (${fault}): pass \`ca\`, or set RUNNEL_CACERT to the certificate's file.`,
      { cause: error },
    );
  const reason = reasons.at(-1)?.message || codes.find(Boolean) || String(error);
  return new APIConnectionError(`The connection to ${baseUrl} failed: ${reason}`, { cause: error });
}

/** True if a retry would be refused after a success, because the first attempt changes the condition it depends on. */
const isConditional = ({ headers = {}, body }: RequestParts): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === "if-match") ||
  (typeof body === "object" && body !== null && "expected_version" in body);

/** Adds an operation's headers to the options; undefined ones are omitted. */
export function withHeaders(
  options: RequestOptions | undefined,
  own: Record<string, string | number | undefined>,
): RequestOptions {
  const given = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return { ...options, headers: { ...options?.headers, ...Object.fromEntries(given) } };
}

/** Headers with their names in small letters, so that one given replaces another. */
const lowerCased = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Seconds that the server was asked to hold back the response. */
const waitOf = (query: Query): number => Number((query as { wait?: unknown } | undefined)?.wait ?? 0) || 0;

/** Serializes a query: `{status: "failed", metadata: {a: "b"}}` becomes `?status=failed&metadata[a]=b`. */
export function queryText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    if (typeof value !== "object") pairs.append(name, String(value));
    else if (Array.isArray(value)) pairs.append(name, value.join(","));
    else for (const [key, its] of Object.entries(value)) pairs.append(`${name}[${key}]`, String(its));
  }
  return pairs.size > 0 ? `?${pairs}` : "";
}

/** Reads an environment variable; browsers have none. */
function setting(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
