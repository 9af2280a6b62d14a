import { APIError, ConnectionError, RunnelError, TimeoutError } from "./errors.ts";
import { fetchTrusting } from "./fetch-trusting.ts";

export interface ClientOptions {
  /** Where the server is. By default `RUNNEL_URL`, else `https://127.0.0.1:8443`. */
  baseUrl?: string;
  /** By default `RUNNEL_API_KEY`. */
  apiKey?: string;
  /** The certificate of a server that signed its own, as PEM. By default the file that `RUNNEL_CACERT` names. */
  ca?: string;
  /** How long one attempt may take until the response begins, in milliseconds. By default 60,000. */
  timeoutMs?: number;
  /** How often a request is retried that may succeed later. By default 2. */
  maxRetries?: number;
  /** Used instead of the global `fetch`. */
  fetch?: Fetch;
}

/** What one request may ask for itself. */
export interface RequestOptions {
  /** Under which the server does the same thing only once. A POST has one by itself. */
  idempotencyKey?: string;
  timeoutMs?: number;
  maxRetries?: number;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Query = Record<string, unknown> | undefined;

interface RequestParts extends RequestOptions {
  query?: Query;
  /** Sent as JSON, but for a form and bytes. */
  body?: unknown;
}

/** Sends requests: with the key, within a time, and again where that is safe. */
export class Client {
  readonly baseUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: Promise<Fetch>;

  constructor(options: ClientOptions = {}) {
    const { baseUrl = setting("RUNNEL_URL") ?? "https://127.0.0.1:8443", apiKey = setting("RUNNEL_API_KEY") } = options;
    if (!apiKey) throw new RunnelError("An API key is missing: pass `apiKey`, or set RUNNEL_API_KEY.");
    this.baseUrl = baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#apiKey = apiKey;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#maxRetries = options.maxRetries ?? 2;
    this.#fetch = options.fetch
      ? Promise.resolve(options.fetch)
      : fetchTrusting({ ca: options.ca, file: setting("RUNNEL_CACERT") });
    this.#fetch.catch(() => {}); // Thrown by the first request.
  }

  /** The body of a response as JSON. */
  async json<T>(method: string, path: string, parts?: RequestParts): Promise<T> {
    const response = await this.send(method, path, parts);
    return (await bodyOf(() => response.json())) as T;
  }

  /** A response whose body has not been read. Throws an `APIError` for a refusal. */
  async send(method: string, path: string, parts: RequestParts = {}): Promise<Response> {
    const { maxRetries = this.#maxRetries, signal } = parts;
    const key = method === "POST" ? (parts.idempotencyKey ?? crypto.randomUUID()) : undefined;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(method, path, { ...parts, idempotencyKey: key }).catch((error: unknown) => {
        if (!(error instanceof ConnectionError)) throw error;
        return error;
      });
      if (outcome instanceof Response && outcome.ok) return outcome;
      const error = outcome instanceof Response ? await refusalOf(outcome) : outcome;
      if (attempt >= maxRetries || !mayRetry(error)) throw error;
      await sleep(retryDelay(attempt, error), signal);
    }
  }

  async #attempt(
    method: string,
    path: string,
    { query, body, headers, idempotencyKey, timeoutMs, signal }: RequestParts,
  ): Promise<Response> {
    const fetch = await this.#fetch;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs ?? this.#timeoutMs);
    const isRaw = body === undefined || body instanceof FormData || body instanceof Uint8Array || body instanceof Blob;
    try {
      return await fetch(this.baseUrl + path + queryText(query), {
        method,
        headers: {
          authorization: `Bearer ${this.#apiKey}`,
          ...(!isRaw && { "content-type": "application/json" }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
          ...headers,
        },
        body: (isRaw ? body : JSON.stringify(body)) as RequestInit["body"],
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (late.signal.aborted) throw new TimeoutError("The server did not respond in time.", { cause });
      throw new ConnectionError(`${this.baseUrl} was not reached: ${messageOf(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Reading a body may lose the connection too. */
export async function bodyOf<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new ConnectionError(`The connection was lost: ${messageOf(cause)}`, { cause });
  }
}

async function refusalOf(response: Response): Promise<APIError> {
  const text = await response.text().catch(() => "");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined; // A proxy may have said something of its own.
  }
  return APIError.of(response.status, body, response.headers);
}

/** What may succeed later. A request may be sent again whatever became of it: a POST goes under the same key. */
export function mayRetry(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof APIError)) return false;
  return error.status === 429 || error.status >= 500 || error.code === "idempotency_in_progress";
}

/** The server's own wish, else half a second, doubled each time, up to eight seconds; shortened by chance. */
export function retryDelay(attempt: number, error?: unknown): number {
  const wish = error instanceof APIError ? Number(error.headers.get("retry-after") ?? Number.NaN) : Number.NaN;
  if (wish >= 0 && wish <= 60) return wish * 1000;
  return Math.min(8000, 500 * 2 ** attempt) * (1 - Math.random() / 4);
}

/** Ends early, with the signal's reason, when that is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** `{status: "failed", metadata: {a: "b"}}` becomes `?status=failed&metadata[a]=b`. */
function queryText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    if (typeof value !== "object") pairs.append(name, String(value));
    else if (Array.isArray(value)) pairs.append(name, value.join(","));
    else for (const [key, its] of Object.entries(value)) pairs.append(`${name}[${key}]`, String(its));
  }
  return pairs.size > 0 ? `?${pairs}` : "";
}

/** An environment variable; browsers have none. */
function setting(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
