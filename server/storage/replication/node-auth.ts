import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import type { Role } from "../../domain/api-types/enums.ts";
import { bodyChunks } from "../../lib/body-chunks.ts";
import { type BodyReader, drainReader } from "../../lib/drain-body.ts";
import { platformFetch } from "../../lib/outgoing-fetch.ts";
import { direct } from "../../lib/proxy.ts";
import { markBodyReceived } from "../../lib/request-body-state.ts";

/** Origin of a request that another node passed on, as that node states it. */
export interface Origin {
  /** IP address of the client's end of the connection. */
  peer: string | null;
  /** True if the request came by the port that refuses plain HTTP. */
  plain: boolean;
  /** Number of nodes that passed it on before. */
  hops?: number;
  /** The signed-in person; null if there is none, undefined if not checked yet. */
  person?: Person | null;
}

/** A person with an account, as known to the cell that has the accounts. */
export interface Person {
  id: string;
  email: string;
  role: Role;
}

export const passedHeader = "x-runnel-passed";
/** Response header: the project of the passed request has moved to another cell. */
export const movedHeader = "x-runnel-moved";
const valid_ms = 60_000;

/** Signs and verifies statements about requests between nodes that share a master key. */
export function createNodeSeal(masterKey: Uint8Array, now: () => number = Date.now) {
  const key = createHmac("sha256", masterKey).update("runnel between nodes").digest();
  const origins = new WeakMap<Request, Origin | null>();
  /** Signed statements of people's changes and when each expires, oldest first. */
  const usedStatements = new Map<string, number>();
  const macOf = (statement: string, method: string, path: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([statement, method, path]))
      .digest();

  /**
   * Returns null unless a node signed it for this method and path within the last minute; a person's change counts
   * once.
   */
  function verify(value: string, method: string, path: string): Origin | null {
    const [headerSets = "", mac = ""] = value.split(".");
    const [actualMac, expectedMac] = [Buffer.from(mac, "base64url"), macOf(headerSets, method, path)];
    if (actualMac.length !== expectedMac.length || !timingSafeEqual(actualMac, expectedMac)) return null;
    const { until, once: _, ...origin } = JSON.parse(Buffer.from(headerSets, "base64url").toString());
    return until > now() && (!changes(method) || !origin.person || isFirst(headerSets, until)) ? origin : null;
  }

  /** Returns false for a statement seen before. Prevents replay by an eavesdropper. */
  function isFirst(said: string, until: number): boolean {
    for (const [old, expiresAt] of usedStatements) {
      if (expiresAt > now()) break;
      usedStatements.delete(old);
    }
    if (usedStatements.has(said)) return false;
    usedStatements.set(said, until);
    return true;
  }

  return {
    /** Returns the header's value for a request with this method and path. */
    sign(origin: Origin, method: string, path: string): string {
      const said = Buffer.from(JSON.stringify({ ...origin, until: now() + valid_ms, once: randomUUID() })).toString(
        "base64url",
      );
      return `${said}.${macOf(said, method, path).toString("base64url")}`;
    },
    verify,
    /** Verifies like `verify`, but returns null for a statement seen before. */
    verifyOnce(value: string, method: string, path: string): Origin | null {
      const origin = verify(value, method, path);
      const [said = ""] = value.split(".");
      return origin && isFirst(said, now() + valid_ms) ? origin : null;
    },
    /** Returns the origin that a node stated; null for a request from outside or with an invalid signature. */
    originOf(request: Request): Origin | null {
      const value = request.headers.get(passedHeader);
      if (value === null) return null;
      const cached = origins.get(request);
      if (cached !== undefined) return cached;
      const origin = verify(value, request.method, pathOf(request.url));
      origins.set(request, origin);
      return origin;
    },
  };
}

const changes = (method: string): boolean => method !== "GET" && method !== "HEAD";

export type NodeSeal = ReturnType<typeof createNodeSeal>;

/**
 * Returns the path with its query as the next node receives it. fetch drops fragments and all but one of several
 * leading slashes; encoded, they stay unknown to the router. A URL without a host is a path, and the target of CONNECT
 * gets a leading slash.
 */
export function pathOf(url: string): string {
  const at = url.startsWith("http") ? url.indexOf("/", 8) : 0;
  const path = at > 0 ? url.slice(at) : url;
  const plain = path.startsWith("/") ? path : `/${path}`;
  return plain.replace(/^\/\/+/, (slashes) => `/${"%2F".repeat(slashes.length - 1)}`).replaceAll("#", "%23");
}

/** Host name in the certificate that each node makes for itself, by which nodes verify each other. */
export const nodeName = "node.runnel.internal";

/** Returns the TLS options for the node with this certificate; undefined for plain HTTP. `Host` has the public name. */
export const nodeTls = (certificate: string) =>
  certificate === "" ? undefined : { ca: certificate, serverName: nodeName, checkServerIdentity: () => undefined };

/** Hop-by-hop headers, which each hop sets anew. */
const hopByHopHeaders = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
  passedHeader,
];
/** A body of at most this length is read completely before it is passed on. */
const whole_bytes = 64 * 1024;

interface PassOptions {
  address: string;
  tls?: object;
  seal: NodeSeal;
  origin: Origin;
  /** Aborts the request. */
  until?: AbortSignal;
}

/**
 * Passes a request to another node and streams its response back. Throws if the node cannot be reached, and
 * `BodyTimeout` if the client falls silent.
 */
export async function passOn(request: Request, { address, tls, seal, origin, until }: PassOptions): Promise<Response> {
  const path = pathOf(request.url);
  // fetch reads no body of a TRACE response. Both methods are refused alike.
  const method = request.method === "TRACE" ? "CONNECT" : request.method;
  const headers = new Headers(request.headers);
  for (const name of hopByHopHeaders) headers.delete(name);
  headers.set(passedHeader, seal.sign(origin, method, path));
  if (!headers.has("host")) headers.set("host", ""); // The leader refuses a missing Host.
  const { body, isWhole, readOut } = await bodyOf(request, headers);
  /**
   * Reads the rest of the body before the connection closes: many clients read the response only after sending
   * everything.
   */
  const readRest = async (...said: Headers[]) => {
    if (!isWhole() && said.some(isClosing)) await readOut();
  };
  const signal = until ? AbortSignal.any([request.signal, until]) : request.signal;
  const answer = await platformFetch(`${address}${path}`, {
    method,
    headers,
    redirect: "manual",
    decompress: false,
    timeout: false,
    signal,
    body,
    tls,
    ...direct,
  } as RequestInit).catch(async (error) => {
    await readRest(request.headers);
    throw error;
  });
  const responseHeaders = new Headers(answer.headers);
  for (const name of hopByHopHeaders) responseHeaders.delete(name);
  if (isClosing(answer.headers)) responseHeaders.set("connection", "close");
  await readRest(answer.headers, request.headers);
  const { status, statusText } = answer;
  return new Response(method === "HEAD" ? null : answer.body, { status, statusText, headers: responseHeaders });
}

const isClosing = (headers: Headers): boolean => /(^|,)\s*close\s*(,|$)/i.test(headers.get("connection") ?? "");

/** Returns the body to pass on. Marks the request once it has arrived: from then on the client waits for the server. */
async function bodyOf(request: Request, headers: Headers) {
  const nothing = { isWhole: () => true, readOut: async () => {} };
  if (!changes(request.method)) return { body: null, ...nothing };
  const contentLength = headers.get("content-length") ?? "";
  if (!/^\d+$/.test(contentLength)) headers.delete("content-length"); // A repeated header, such as "5, 5".
  if (contentLength === "" || Number(contentLength) > whole_bytes)
    return request.body ? streamOf(request, request.body.getReader()) : { body: null, ...nothing };
  const pieces = await Array.fromAsync(bodyChunks(request));
  markBodyReceived(request);
  return { body: pieces.length > 0 ? Buffer.concat(pieces) : null, ...nothing };
}

function streamOf(request: Request, reader: BodyReader) {
  let isWhole = false;
  let lastChunkAt = performance.now();
  const read = async () => {
    const chunk = await reader.read();
    lastChunkAt = performance.now();
    if (chunk.done) {
      isWhole = true;
      markBodyReceived(request);
    }
    return chunk;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await read();
      if (part.done) controller.close();
      else controller.enqueue(part.value);
    },
  });
  const remainder = { read, cancel: (reason: unknown) => reader.cancel(reason) };
  // The other node has waited through the same silence.
  return { body, isWhole: () => isWhole, readOut: () => drainReader(remainder, performance.now() - lastChunkAt) };
}
