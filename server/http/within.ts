import type { Scope } from "../core/scope.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { sha256 } from "../lib/hash.ts";
import { inSlices } from "../lib/slices.ts";
import type { Auth, Identify, NoLongerValid } from "./auth.ts";
import { noteDotSegments } from "./dot-segments.ts";
import type { Principal } from "./principal.ts";
import type { Bucket } from "./rate-limit.ts";

/** What the API answered, as a door reads it. */
export interface ApiAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the API's document says what it is; a door passes it on or takes fields of it.
  body: any;
  headers: Headers;
}

/** Asks the API on behalf of a request that came by another protocol: with its key, from its address. */
export type Api = (
  outer: Request,
  method: string,
  path: string,
  body?: unknown,
  /** The `Idempotency-Key`, where it is not that of the request; null: none, for what is the same however often it is done. */
  key?: string | null,
) => Promise<ApiAnswer>;

/** The same where a body is no JSON; the response is the API's own, to be read or passed on. */
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

/** Throws 429. */
type CountAhead = (outer: Request, principal: Principal, bucket: Bucket) => void;

/** What a door needs of whoever admits requests. */
export interface DoorAccess {
  /** For routes that are admitted as those of the API are. */
  auth: Auth;
  identify: Identify;
  noLongerValid: NoLongerValid;
  api: Api;
  forward: Forward;
  /** Counts the first change that is asked for on behalf of a request, before what that takes is fetched. */
  countAhead: CountAhead;
  /** The run that the `Idempotency-Key` of a request has made before; null where there is none. */
  madeBefore(request: Request, scope: Scope): string | null;
}

/** Of what came from outside: a door writes its own body, and reads the answer itself. */
const notPassedOn = ["content-type", "content-length", "transfer-encoding", "accept", "last-event-id"];
const keyHeader = "idempotency-key";

/**
 * Requests from within: they are admitted, counted, checked and refused like those from outside, so that a door has no
 * rules of its own to forget.
 */
export function createWithin(handle: (request: Request) => Promise<Response>) {
  const outers = new WeakMap<Request, Request>();
  /** How many changes were asked for on behalf of a request. */
  const changes = new WeakMap<Request, number>();
  /** What was counted ahead for a request, and is not to be counted again. */
  const ahead = new WeakMap<Request, Bucket>();

  /**
   * The key of the next change for a request that has one: of the first its own, so that the same request with another
   * content is refused; of others one that comes of it.
   */
  function keyFor(outer: Request): string | null {
    const key = outer.headers.get(keyHeader);
    const place = (changes.get(outer) ?? 0) + 1;
    changes.set(outer, place);
    return key === null || place === 1 ? key : `${sha256(key)}#${place}`;
  }

  const forward: Forward = async (outer, method, path, body, named) => {
    const headers = new Headers(outer.headers);
    for (const name of notPassedOn) headers.delete(name);
    headers.delete(keyHeader);
    const key = method !== "POST" ? null : named === undefined ? keyFor(outer) : named;
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
    // A long message is read, written anew, and read again: others go first in between.
    const rest = inSlices();
    const sent = body === undefined ? undefined : { type: "application/json", content: JSON.stringify(body) };
    await rest();
    const response = await forward(outer, method, path, sent, key);
    const text = await response.text();
    await rest();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, body: isJson ? parseExact(text) : text, headers: response.headers };
  };

  return {
    send,
    forward,
    counted: (outer: Request, bucket: Bucket): void => void ahead.set(outer, bucket),
    /** Whether this is the request that was counted ahead. */
    wasCounted(request: Request, bucket: Bucket): boolean {
      const outer = outers.get(request);
      return outer !== undefined && ahead.get(outer) === bucket && ahead.delete(outer);
    },
    /** The request on whose behalf one is made; of those from outside, itself. */
    outerOf: (request: Request): Request => outers.get(request) ?? request,
  };
}
