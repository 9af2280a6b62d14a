import { parseExact } from "../lib/exact-numbers.ts";
import { CliError } from "./exit-code.ts";
import { readFrames, type StreamFrame } from "./read-frames.ts";

interface ApiClientOptions {
  address: string;
  apiKey: string;
  /** PEM text of the certificate to trust instead of the usual authorities. */
  ca: string | null;
}

// For an answer, which is never long in coming: a server that says nothing for so long is as good as gone.
const patience_ms = 60_000;

/** The API as the command line uses it. */
export type ApiClient = ReturnType<typeof createApiClient>;

/** The server could not be reached, or the connection broke: worth another try, unlike a refusal. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

export function createApiClient({ address, apiKey, ca }: ApiClientOptions) {
  async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) };
    const url = `${address}/v1${path}`;
    const response = await fetch(url, {
      ...init,
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
    // Overloaded and stopping servers say so: the same as one that is not there yet. A read may be made again later.
    if (response.status === 503 || (response.status === 429 && method === "GET"))
      throw new ConnectionLost(await refusal(response));
    if (!response.ok) throw new CliError(await refusal(response));
    return response;
  }

  async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await ask(method, path, { ...init, signal: AbortSignal.timeout(patience_ms) });
    return parseExact<T>(await response.text());
  }

  return {
    address,
    get: <T>(path: string) => json<T>("GET", path),
    /** All of a list, page by page. */
    async *all<T>(path: string): AsyncGenerator<T, void> {
      for (let after = ""; ; ) {
        const page = await json<{ data: T[]; has_more: boolean; last_id: string }>("GET", `${path}?limit=100${after}`);
        yield* page.data;
        if (!page.has_more) return;
        after = `&starting_after=${page.last_id}`;
      }
    },
    post: <T>(path: string, body: unknown = {}) => json<T>("POST", path, body),
    /** A stream from after the event with this id; ends with the connection, whoever ends it. */
    async *stream(path: string, lastId: string | null, signal: AbortSignal): AsyncGenerator<StreamFrame, void> {
      const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
      const response = await ask("GET", path, { headers, signal });
      try {
        if (response.status === 204) return; // Nothing comes after what was read.
        for await (const frame of readFrames(response.body!)) {
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
  const said = body?.error?.message ?? `The server returned status ${response.status}.`;
  return body?.request_id ? `${said} (${body.request_id})` : said;
}
