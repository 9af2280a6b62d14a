import type { Scope } from "../domain/scope.ts";
import { createYielder } from "../lib/cooperative-yield.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { sha256 } from "../lib/hash.ts";
import type { Auth, Identify, NoLongerValid } from "./auth.ts";
import { noteDotSegments } from "./dot-segments.ts";

/** Response of the API, parsed for a protocol. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: its type depends on the route; protocols pass it on or read fields.
  body: any;
  headers: Headers;
}

/** Calls the API for a request of another protocol, with that request's key and client address. */
export type Api = (
  outer: Request,
  method: string,
  path: string,
  body?: unknown,
  /** `Idempotency-Key` instead of the outer request's; null: none, for calls that are idempotent anyway. */
  key?: string | null,
) => Promise<ApiResponse>;

/** The same for bodies that are not JSON; returns the API's raw response. */
export type Forward = (
  outer: Request,
  method: string,
  path: string,
  body?: SentBody,
  key?: string | null,
) => Promise<Response>;

interface SentBody {
  type: string;
  content: string | ReadableStream<Uint8Array>;
}

/** Services that a protocol gets for authenticating and forwarding requests. */
export interface ProtocolAccess {
  /** For routes that authenticate like API routes. */
  auth: Auth;
  identify: Identify;
  noLongerValid: NoLongerValid;
  api: Api;
  forward: Forward;
  /** Returns the id of the run that an earlier request with the same `Idempotency-Key` started, or null. */
  previousRunId(request: Request, scope: Scope): string | null;
}

/** Headers not forwarded, because the protocol writes its own body and reads the response itself. */
const strippedHeaders = ["content-type", "content-length", "transfer-encoding", "accept", "last-event-id"];
const keyHeader = "idempotency-key";

/**
 * Sends requests to the API in-process. They are authenticated, counted and validated like external ones, so that a
 * protocol needs no rules of its own.
 */
export function createInternalClient(handle: (request: Request) => Promise<Response>) {
  const outers = new WeakMap<Request, Request>();
  /** Number of writes sent for an outer request. */
  const writeCounts = new WeakMap<Request, number>();

  /**
   * Returns the key of the next write: the client's own for the first, so that reuse with another content is refused,
   * and a derived one for the others.
   */
  function keyFor(outer: Request): string | null {
    const key = outer.headers.get(keyHeader);
    const place = (writeCounts.get(outer) ?? 0) + 1;
    writeCounts.set(outer, place);
    return key === null || place === 1 ? key : `${sha256(key)}#${place}`;
  }

  const forward: Forward = async (outer, method, path, body, namedKey) => {
    const headers = new Headers(outer.headers);
    for (const name of strippedHeaders) headers.delete(name);
    headers.delete(keyHeader);
    const key = method !== "POST" ? null : namedKey === undefined ? keyFor(outer) : namedKey;
    if (key !== null) headers.set(keyHeader, key);
    if (body) headers.set("content-type", body.type);
    const request = new Request(new URL(path, outer.url).href, {
      method,
      headers,
      signal: outer.signal,
      ...(body && { body: body.content }),
    });
    noteDotSegments(request, path);
    outers.set(request, outer);
    return await handle(request);
  };

  const send: Api = async (outer, method, path, body, key) => {
    // Long bodies are serialized and parsed in one go, so yield between the steps.
    const rest = createYielder();
    const jsonBody = body === undefined ? undefined : { type: "application/json", content: JSON.stringify(body) };
    await rest();
    const response = await forward(outer, method, path, jsonBody, key);
    const text = await response.text();
    await rest();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, body: isJson ? parseExact(text) : text, headers: response.headers };
  };

  return {
    send,
    forward,
    /** Returns the outer request; of an external request, itself. */
    outerOf: (request: Request): Request => outers.get(request) ?? request,
  };
}
