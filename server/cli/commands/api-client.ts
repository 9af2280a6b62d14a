import { parseExact } from "../../lib/exact-numbers.ts";
import { requireValue } from "../../lib/require-value.ts";
import { backoff, retryAfter } from "../../lib/retry.ts";
import { CliError } from "./exit-code.ts";
import { readFrames, type StreamFrame } from "./read-frames.ts";

interface ApiClientOptions {
  address: string;
  apiKey: string;
  /** PEM text of the certificate to trust instead of the usual authorities. */
  ca: string | null;
  /** Waits where a rate limit refuses a request, and sends it again. */
  isPatient?: boolean;
  /** Called before such a wait. */
  told?: (wait_ms: number) => void;
}

// Timeout for JSON responses, which are never slow: a server silent for this long is considered down.
const patience_ms = 60_000;

/** Refusals by a rate limit after which a patient client gives up. */
const limitedMax = 10;

/** API client of the command line. */
export type ApiClient = ReturnType<typeof createApiClient>;

/** Thrown if the server could not be reached or the connection broke: unlike a refusal, worth a retry. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

export function createApiClient({ address, apiKey, ca, isPatient = false, told = () => {} }: ApiClientOptions) {
  async function ask(method: string, path: string, init: RequestInit = {}, tries = 0): Promise<Response> {
    const headers = { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) };
    const url = `${address}/v1${path}`;
    const response = await fetch(url, {
      ...init,
      signal: init.signal ?? AbortSignal.timeout(patience_ms),
      method,
      headers,
      redirect: "error",
      ...(ca && { tls: { ca } }),
    }).catch((error) => {
      if (init.signal?.aborted && !isLate(error)) throw error;
      const hint = /CERT|VERIFY/.test(error.code) ? ". Give --url with the name of its certificate, and --cacert" : "";
      throw new ConnectionLost(`The server at ${address} cannot be reached: ${reasonOf(error)}${hint}`, {
        cause: error,
      });
    });
    if (response.status === 429 && isPatient && tries < limitedMax) {
      await response.body?.cancel();
      const wait_ms = backoff(tries + 1, retryAfter(response.headers.get("retry-after"), Date.now()));
      told(wait_ms);
      await Bun.sleep(wait_ms);
      return ask(method, path, init, tries + 1);
    }
    // An overloaded or stopping server counts as unreachable. A rate-limited read may be retried.
    if (response.status === 503 || (response.status === 429 && method === "GET"))
      throw new ConnectionLost(await refusal(response));
    if (!response.ok) throw new CliError(await refusal(response));
    return response;
  }

  async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await ask(method, path, init);
    return parseExact<T>(await response.text());
  }

  return {
    address,
    get: <T>(path: string) => json<T>("GET", path),
    /** Yields all items of a list, page by page. */
    async *all<T>(path: string): AsyncGenerator<T, void> {
      for (let after = ""; ; ) {
        const page = await json<{ data: T[]; has_more: boolean; last_id: string }>("GET", `${path}?limit=100${after}`);
        yield* page.data;
        if (!page.has_more) return;
        after = `&starting_after=${page.last_id}`;
      }
    },
    post: <T>(path: string, body: unknown = {}) => json<T>("POST", path, body),
    put: <T>(path: string, body: unknown) => json<T>("PUT", path, body),
    patch: <T>(path: string, body: unknown) => json<T>("PATCH", path, body),
    /** Sends bytes as they are. */
    async upload<T>(path: string, body: Uint8Array<ArrayBuffer>): Promise<T> {
      const headers = { "content-type": "application/octet-stream" };
      const response = await ask("POST", path, { headers, body });
      return parseExact<T>(await response.text());
    },
    async download(path: string): Promise<Uint8Array<ArrayBuffer>> {
      const response = await ask("GET", path);
      return new Uint8Array(await response.arrayBuffer());
    },
    /** Streams events after `lastId` until the connection ends. Throws `ConnectionLost` if it breaks. */
    async *stream(path: string, lastId: string | null, signal: AbortSignal): AsyncGenerator<StreamFrame, void> {
      const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
      const response = await ask("GET", path, { headers, signal });
      try {
        if (response.status === 204) return; // There are no further events.
        for await (const frame of readFrames(requireValue(response.body, "The body"))) {
          if (frame.event === "error") throw new CliError(endOf(frame));
          yield frame;
        }
      } catch (error) {
        if (signal.aborted || error instanceof CliError) throw error;
        throw new ConnectionLost(reasonOf(error), { cause: error });
      }
    },
  };
}

const isLate = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const endOf = ({ data }: StreamFrame): string =>
  (data.error as { message?: string } | undefined)?.message ?? "The server ended the stream.";

async function refusal(response: Response): Promise<string> {
  const body = (await response.json().catch(() => null)) as {
    error?: { message?: string };
    request_id?: string;
  } | null;
  const errorText = body?.error?.message ?? `The server returned status ${response.status}.`;
  return body?.request_id ? `${errorText} (${body.request_id})` : errorText;
}
