import { fieldsOf, parsedJson } from "../json.ts";
import { retryAfter } from "../retry.ts";
import type { AccountKey } from "./account-key.ts";

// Our own, because acme-client has one HTTP client for the whole process, gives up after five bad nonces, sleeps for as
// long as a rate limit lasts, and loses the reason of a failed connection.

/** Refusal by the authority, or a response of it that cannot be understood. */
export class AcmeError extends Error {
  constructor(
    message: string,
    /** The last word of the problem's type: `rateLimited`, `malformed`, `unauthorized`… */
    readonly kind: string,
    /** Delay in milliseconds that the authority asked for; null if none. */
    readonly retryAfter_ms: number | null = null,
  ) {
    super(message);
    this.name = "AcmeError";
  }
}

interface AcmeClientOptions {
  /** Address of the authority's directory. */
  directory: string;
  key: AccountKey;
  email: string | null;
  /** PEM of the authority that signed the directory's own certificate, for a private certificate authority. */
  ca: string | null;
  signal: AbortSignal;
  now: () => number;
}

/** Response of the authority. */
export interface AcmeAnswer {
  /** URL of the created resource. */
  location: string;
  text: string;
  retryAfter_ms: number | null;
}

/** Requests of one account, each signed and with its own nonce (RFC 8555, section 6). */
export interface AcmeClient {
  /** Creates an order. */
  order(payload: object): Promise<AcmeAnswer>;
  /** Posts a payload, or reads the resource if the payload is null. */
  post(url: string, payload: object | null): Promise<AcmeAnswer>;
}

interface Directory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  meta?: { termsOfService?: string };
}

const patience_ms = 30_000;
const nonceTries = 10;

/** Reads the directory and opens the key's account, or creates it, which accepts the authority's terms. */
export async function openAcmeClient(options: AcmeClientOptions): Promise<AcmeClient> {
  const { key, email } = options;
  const sendRequest = createAsk(options);
  const directory = readDirectory(await (await sendRequest(options.directory)).text(), options.directory);
  const nonces: string[] = [];
  const nonce = async (): Promise<string> => {
    const kept = nonces.pop();
    return (
      kept ??
      readNonce(await sendRequest(directory.newNonce, { method: "HEAD" })) ??
      fail("The authority gave no nonce.")
    );
  };

  async function send(url: string, identity: object, payload: object | null): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const body = await key.seal({ nonce: await nonce(), url, ...identity }, payload);
      const response = await sendRequest(url, {
        method: "POST",
        body,
        headers: { "content-type": "application/jose+json" },
      });
      const next = readNonce(response);
      if (next) nonces.push(next);
      const text = await response.text();
      const retryAfter_ms = retryAfter(response.headers.get("retry-after"), options.now());
      if (response.ok) return { location: response.headers.get("location") ?? "", text, retryAfter_ms };
      const problem = readProblem(text, response.status, retryAfter_ms);
      // Nonces expire, and an authority may drop any of them: a bad nonce is retried and is no refusal.
      if (problem.kind !== "badNonce" || tries === nonceTries) throw problem;
    }
  }

  const contact = email === null ? {} : { contact: [`mailto:${email}`] };
  const account = await send(directory.newAccount, { jwk: key.jwk }, { termsOfServiceAgreed: true, ...contact });
  const kid = account.location || fail("The authority gave the account no address.");
  return {
    order: (payload) => send(directory.newOrder, { kid }, payload),
    post: (url, payload) => send(url, { kid }, payload),
  };
}

/** Fetches only from the authority: over TLS, without redirects, with a timeout. */
function createAsk({ ca, signal }: AcmeClientOptions) {
  return (url: string, init: RequestInit = {}): Promise<Response> => {
    if (!url.startsWith("https://"))
      throw new AcmeError(`The authority named an address without https: ${url}`, "address");
    const limit = AbortSignal.any([signal, AbortSignal.timeout(patience_ms)]);
    return fetch(url, {
      ...init,
      signal: limit,
      redirect: "error",
      keepalive: false,
      ...(ca !== null && { tls: { ca } }),
    });
  };
}

const readNonce = (response: Response): string | null => response.headers.get("replay-nonce");

function readDirectory(text: string, url: string): Directory {
  const directory = readObject(text) as Partial<Directory>;
  const { newNonce, newAccount, newOrder } = directory;
  if (!newNonce || !newAccount || !newOrder) throw new AcmeError(`There is no ACME directory at ${url}.`, "directory");
  return { ...directory, newNonce, newAccount, newOrder };
}

function readProblem(text: string, status: number, retryAfter_ms: number | null): AcmeError {
  const { type, detail } = readObject(text) as { type?: unknown; detail?: unknown };
  const kind = typeof type === "string" ? type.slice(type.lastIndexOf(":") + 1) : `status ${status}`;
  return new AcmeError(`${kind}: ${typeof detail === "string" ? detail : text.slice(0, 200)}`, kind, retryAfter_ms);
}

/** Parses JSON that should be an object; returns an empty object for anything else. */
export const readObject = (text: string): object => fieldsOf(parsedJson(text));

function fail(message: string): never {
  throw new AcmeError(message, "protocol");
}
