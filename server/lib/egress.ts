import { decodedBody, isDecoded, limitedStream, readBody } from "./egress-body.ts";
import { createVet, type Destination, type Resolve, systemResolve } from "./egress-destination.ts";
import { EgressError } from "./egress-error.ts";
import { checkHeaders, withoutForwarding, withoutSecrets } from "./egress-headers.ts";
import { createAddressRules, type EgressPolicy } from "./egress-policy.ts";
import { proxyFor } from "./proxy.ts";
import type { RequestOutcome } from "./request-outcome.ts";

export type { Resolve } from "./egress-destination.ts";
export { EgressError, type EgressErrorCode } from "./egress-error.ts";
export { checkHeaders } from "./egress-headers.ts";
export type { EgressPolicy } from "./egress-policy.ts";

/** Rules of one use, in addition to the policy. */
type EgressRules = {
  /** Refuses plain HTTP even where the policy allows it (loopback, allowed hosts). */
  httpsOnly?: boolean;
  /**
   * Allows public addresses only, even where the policy allows others: for addresses that nobody but a model or a page
   * has chosen.
   */
  publicOnly?: boolean;
};

/** Request to a URL that a user gave. */
export type EgressRequest = EgressRules & {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  /** Milliseconds for the whole request, from the lookup to the last byte of the body, streamed or not. */
  timeoutMs?: number;
  /** Maximum size of the response's body, after decoding. */
  maxBytes?: number;
  /** With 0 a redirect is returned like any other response. */
  maxRedirects?: number;
  /**
   * Waits for memory for a long body. Meanwhile the rest of the body stays at its sender, and the timeout is paused.
   */
  beforeLong?: () => Promise<void>;
};

/** Response with its whole body; `url` is the last one of the redirects. */
export type EgressResponse = EgressHead & { body: Uint8Array; truncated: boolean };

/**
 * Response whose body is still arriving. A caller that stops reading must cancel the body, which closes the connection.
 */
export type EgressStream = EgressHead & { body: ReadableStream<Uint8Array> };

type EgressHead = { status: number; headers: Headers; url: string };

/** Sends requests to URLs that users give, if the policy allows them. */
export type Egress = ReturnType<typeof createEgress>;

/** Request of one hop, before it is sent. */
type Outgoing = { method: string; headers: Headers; body: string | Uint8Array<ArrayBuffer> | undefined };

/** A request in flight: its abort signal and its progress. */
type Trip = { signal: AbortSignal; request: RequestOutcome };

/**
 * Guard against requests into our own network. A name is resolved once, all its addresses are checked, and the
 * connection goes to one of exactly these, because a second lookup could return others. Throws `policy_invalid`.
 */
export function createEgress(policy: EgressPolicy, resolve: Resolve = systemResolve) {
  const addressRules = createAddressRules(policy);
  const vet = createVet(addressRules, resolve);

  /** Checks early that a URL is reachable; every request checks again. */
  async function check(url: string, { httpsOnly = false }: EgressRules = {}): Promise<void> {
    await vet(parseUrl(url), { httpsOnly, loopback: addressRules.loopback });
  }

  /**
   * Returns the checked addresses of a server that does not speak HTTP, such as a mail server, and the certificates to
   * trust. Nothing else may be connected to. Throws `EgressError`.
   */
  async function resolveServer(
    host: string,
    port: number,
    signal?: AbortSignal,
  ): Promise<Pick<Destination, "addresses" | "loopback"> & { ca?: string }> {
    const rules = { httpsOnly: false, loopback: addressRules.loopback, otherProtocol: true };
    const { addresses, loopback } = await vet(parseUrl(`https://${host}:${port}`), rules, signal);
    return { addresses, loopback, ...(policy.ca !== undefined && { ca: policy.ca }) };
  }

  /**
   * Sends a request, follows its redirects and reads the response. Throws `EgressError`, and errors of `beforeLong`.
   */
  async function guardedFetch(url: string, request: EgressRequest = {}): Promise<EgressResponse> {
    const { head, chunks, end, untimed } = await open(url, request);
    const beforeLong = () => untimed(async () => request.beforeLong?.());
    try {
      return { ...head, ...(await readBody(chunks, request.maxBytes ?? defaultBytes, beforeLong)) };
    } finally {
      end();
    }
  }

  /** Like `fetch`, with a streamed body, which fails beyond `maxBytes` and after the timeout. */
  async function stream(url: string, request: EgressRequest = {}): Promise<EgressStream> {
    const { head, chunks, end } = await open(url, request);
    return { ...head, body: limitedStream(chunks, request.maxBytes ?? defaultBytes, end) };
  }

  /** Returns a response whose body is still unread. `end` closes its connection. */
  async function open(url: string, request: EgressRequest) {
    const ending = new AbortController();
    let [left_ms, since] = [request.timeoutMs ?? 30_000, performance.now()];
    let timer = setTimeout(() => ending.abort(), left_ms);
    const signal = AbortSignal.any([ending.signal, ...(request.signal ? [request.signal] : [])]);
    const trip: Trip = { signal, request: "not_sent" };
    const end = () => {
      clearTimeout(timer);
      ending.abort();
    };
    const untimed = async (wait: () => Promise<void>): Promise<void> => {
      clearTimeout(timer);
      left_ms -= performance.now() - since;
      await wait();
      since = performance.now();
      timer = setTimeout(() => ending.abort(), left_ms);
    };
    try {
      const { response, url: final } = await follow(parseUrl(url), firstHop(request), request, trip);
      const head: EgressHead = { status: response.status, headers: headersOf(response), url: final.href };
      return { head, chunks: read(response), end, untimed };
    } catch (error) {
      const failure = failureOf(error);
      end(); // Closes the connection of a response that was refused unread.
      throw failure;
    }

    async function* read(response: Response): AsyncGenerator<Uint8Array, void> {
      try {
        yield* decodedBody(response);
      } catch (error) {
        throw failureOf(error);
      } finally {
        end();
      }
    }

    function failureOf(error: unknown): EgressError {
      const known = trip.request;
      if (error instanceof EgressError)
        return error.request === "answered" ? error : new EgressError(error.code, error.message, known);
      if (ending.signal.aborted) return new EgressError("timeout", "The request took too long.", known);
      if (request.signal?.aborted) return new EgressError("aborted", "The request was given up.", known);
      // Never include the cause: its message holds the resolved address.
      return new EgressError("connection_lost", "The connection ended before the answer did.", known);
    }
  }

  async function follow(start: URL, first: Outgoing, request: EgressRequest, trip: Trip) {
    const { httpsOnly = false, publicOnly = false, maxRedirects = 0 } = request;
    let [url, outgoing, loopback] = [start, first, addressRules.loopback && !publicOnly];
    for (let hop = 0; ; hop++) {
      const destination = await vet(url, { httpsOnly, publicOnly, loopback }, trip.signal);
      const response = await send(destination, outgoing, policy.ca, trip);
      const next = maxRedirects > 0 ? locationOf(response, url) : null;
      if (!next) return { response, url };
      trip.request = "answered";
      await response.body?.cancel();
      if (hop >= maxRedirects) throw new EgressError("too_many_redirects", "The request was redirected too often.");
      outgoing = redirected(outgoing, response.status, next.origin === url.origin);
      // The user may name this machine; a redirect of a remote server may not lead to it.
      loopback &&= destination.loopback;
      url = next;
    }
  }

  return { check, fetch: guardedFetch, stream, resolveServer };
}

const defaultBytes = 1_048_576;

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw new EgressError("url_invalid", "The URL cannot be read.");
  return url;
}

function firstHop({ method = "GET", headers: requestHeaders = {}, body }: EgressRequest): Outgoing {
  const headers = withoutForwarding(requestHeaders);
  checkHeaders(headers);
  if (body !== undefined && (method === "GET" || method === "HEAD"))
    throw new EgressError("body_forbidden", `A ${method} request has no body.`);
  return { method, headers: new Headers(headers), body };
}

/** Connects to the checked addresses in turn, until one accepts the request. */
async function send(destination: Destination, outgoing: Outgoing, ca: string | undefined, trip: Trip) {
  const before = trip.request;
  let reason = "";
  for (const address of destination.addresses.slice(0, 4)) {
    trip.request = "sent";
    try {
      // The proxy gets the checked address, never the name, which it would resolve again.
      const way = proxyFor(destination.url, address) as { proxy: string };
      return await fetch(pinnedUrl(destination, address), {
        ...init(destination, outgoing, ca, trip.signal),
        ...way,
      });
    } catch (error) {
      reason = String((error as { code?: unknown } | null)?.code);
      // Retry only requests that certainly never arrived: a repeated POST is a second order or a second mail.
      if (trip.signal.aborted || !neverSent.test(reason)) throw error;
      trip.request = before;
    }
  }
  const { host, port } = destination;
  throw new EgressError("connect_failed", `Could not connect to ${host}:${port} (${reason}).`);
}

// Failures before the request was sent: no connection, also through a proxy, or a failed TLS handshake.
const neverSent =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ERR_PROXY_TUNNEL|EPROTO|ERR_TLS_.*|.*CERT.*|UNABLE_TO_.*)$/;

/** Returns the URL with the address in place of the name: Bun's fetch has no other way to pin the destination. */
function pinnedUrl({ url, port }: Destination, address: string): string {
  const literal = address.includes(":") ? `[${address}]` : address;
  return `${url.protocol}//${literal}:${port}${url.pathname}${url.search}`;
}

function init({ url, host, addresses }: Destination, outgoing: Outgoing, ca: string | undefined, signal: AbortSignal) {
  const headers = new Headers(outgoing.headers);
  headers.set("host", url.host);
  headers.set("accept-encoding", "identity");
  if (!headers.has("user-agent")) headers.set("user-agent", "runnel");
  return {
    method: outgoing.method,
    headers,
    body: outgoing.body,
    signal,
    redirect: "manual",
    keepalive: false, // A pooled connection is chosen by address alone and would skip the TLS checks of this request.
    decompress: false, // A small body may inflate to gigabytes before any limit applies.
    timeout: false, // Bun's own timeout is shorter than ours may be.
    tls: {
      rejectUnauthorized: true,
      // The certificate is checked against the name that the user gave, which the pinned URL no longer contains.
      ...(addresses[0] === host ? {} : { serverName: host }),
      ...(ca === undefined ? {} : { ca }),
    },
  } satisfies BunFetchRequestInit & { timeout: false };
}

function locationOf(response: Response, from: URL): URL | null {
  const location = response.headers.get("location");
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return null;
  const url = URL.parse(location, from.href);
  if (!url) throw new EgressError("url_invalid", "The answer redirects to a URL that cannot be read.", "answered");
  if (from.protocol === "https:" && url.protocol === "http:")
    throw new EgressError("redirect_downgrade", "The answer redirects from https to http.", "answered");
  return url;
}

function redirected({ method, headers, body }: Outgoing, status: number, sameOrigin: boolean): Outgoing {
  const kept = sameOrigin ? new Headers(headers) : withoutSecrets(headers);
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  if (!becomesGet) return { method, headers: kept, body };
  kept.delete("content-type");
  return { method: "GET", headers: kept, body: undefined };
}

function headersOf(response: Response): Headers {
  const headers = new Headers(response.headers);
  // These headers describe the encoded bytes, not the decoded body that we return.
  if (isDecoded(headers.get("content-encoding")))
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return headers;
}
