import { CliError } from "./exit-code.ts";
import { readFrames, type StreamFrame } from "./read-frames.ts";

export interface ApiClientOptions {
  address: string;
  apiKey: string;
  /** PEM text of the certificate to trust instead of the usual authorities. */
  ca: string | null;
}

/** The API as the command line uses it. */
export type ApiClient = ReturnType<typeof createApiClient>;

/** The server could not be reached, or the connection broke: worth another try, unlike a refusal. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "ConnectionLost";
  }
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
      if (init.signal?.aborted) throw error;
      throw new ConnectionLost(error);
    });
    // Overloaded and stopping servers say so: the same as one that is not there yet.
    if (response.status === 503) throw new ConnectionLost(new Error(await refusal(response)));
    if (!response.ok) throw new CliError(await refusal(response));
    return response;
  }

  async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await ask(method, path, init);
    return (await response.json()) as T;
  }

  return {
    address,
    get: <T>(path: string) => json<T>("GET", path),
    post: <T>(path: string, body: unknown = {}) => json<T>("POST", path, body),
    /** A stream from after the event with this id; ends with the connection, whoever ends it. */
    async *stream(path: string, lastId: string | null, signal: AbortSignal): AsyncGenerator<StreamFrame, void> {
      const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
      const response = await ask("GET", path, { headers, signal });
      try {
        yield* readFrames(response.body!);
      } catch (error) {
        if (signal.aborted) throw error;
        throw new ConnectionLost(error);
      }
    },
  };
}

async function refusal(response: Response): Promise<string> {
  const body = (await response.json().catch(() => null)) as {
    error?: { message?: string };
    request_id?: string;
  } | null;
  const said = body?.error?.message ?? `The server answered with status ${response.status}.`;
  return body?.request_id ? `${said} (${body.request_id})` : said;
}
