import { createStreamMask, unmaskedJson } from "../../lib/exact-masks.ts";
import { isObject, parsedJson } from "../../lib/json.ts";
import { wellFormedJson } from "../../lib/well-formed-json.ts";
import type { ModelRequest } from "./model.ts";
import { withFields, withHeaders } from "./request-extras.ts";

export type Fetch = typeof globalThis.fetch;

async function request(url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]): Promise<Response> {
  // Bun's own timeout is five minutes, and a reasoning model may be silent for longer: the run's timeout decides.
  // Redirects are not followed, because the key in `x-api-key` would be sent to another host.
  return fetch(url, { ...init, redirect: "manual", timeout: false } as RequestInit);
}

/** The fetch of all model calls. */
export const modelFetch: Fetch = Object.assign(request, { preconnect: fetch.preconnect });

// Maximum line of a stream, and maximum size of other responses: SDKs hold either in memory as a whole.
const lineMax_bytes = 8 * 1024 * 1024;

interface ObservedCall {
  /** Called for each chunk of the response: SDKs do not report comments and pings. */
  onByte(): void;
  /** True if a budget is reserved, for one request only: an SDK may request the rest of an answer. */
  isBounded: boolean;
  /** Headers and fields that an agent adds to each request. */
  extras?: NonNullable<ModelRequest["extras"]>;
}

/** Calls by their abort signals. */
const calls = new WeakMap<AbortSignal, ObservedCall & { isAnswered?: boolean }>();

/** Observes the requests that use this signal. */
export const observeCall = (signal: AbortSignal, call: ObservedCall) => void calls.set(signal, call);

/** Thrown instead of requesting the rest of an answer, which has no budget. */
export class NotAsked extends Error {
  override readonly name = "NotAsked";
}

/** A fetch for the SDKs: its responses are observed and limited, and numbers in arguments keep all digits. */
export const sdkFetch = (fetch: Fetch): Fetch => exactFetch(observedFetch(fetch));

function observedFetch(fetch: Fetch): Fetch {
  const observed = async (...[url, init]: Parameters<Fetch>): Promise<Response> => {
    const call = init?.signal ? calls.get(init.signal) : undefined;
    if (call?.isBounded && call.isAnswered) throw new NotAsked("Nothing is reserved for the rest of this answer.");
    const response = await fetch(url, call?.extras ? withExtras(init, call.extras) : init);
    if (!response.ok || !response.body || !call) return response;
    call.isAnswered = true;
    call.onByte();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(watch(call.onByte, isStream)), { status, statusText, headers });
  };
  return Object.assign(observed, { preconnect: fetch.preconnect });
}

/** Adds an agent's headers and fields to a request of an SDK. */
function withExtras(
  init: RequestInit | undefined,
  { headers, body }: NonNullable<ObservedCall["extras"]>,
): RequestInit {
  const own = typeof init?.body === "string" ? parsedJson(init.body) : undefined;
  return {
    ...init,
    headers: withHeaders(init?.headers, headers),
    ...(isObject(own) && { body: JSON.stringify(withFields(own, body)) }),
  };
}

function watch(onByte: () => void, isStream: boolean) {
  let line = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      onByte();
      const end = isStream ? bytes.lastIndexOf(newline) : -1;
      line = end === -1 ? line + bytes.length : bytes.length - end - 1;
      if (line > lineMax_bytes) controller.error(new Error(`The response has a line above ${lineMax_bytes} bytes.`));
      else controller.enqueue(bytes);
    },
  });
}

const newline = 10;

// Fields in which providers send the arguments of a call as JSON and not as a text.
const argumentFields: ReadonlySet<string> = new Set(["args", "partialArgs", "input", "arguments"]);

// SDKs parse responses themselves, and would round long numbers. They send halves of characters as they are.
function exactFetch(fetch: Fetch): Fetch {
  const exact = async (url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]): Promise<Response> => {
    const sent = typeof init?.body === "string" ? { ...init, body: wellFormedJson(unmaskedJson(init.body)) } : init;
    const response = await fetch(url, sent);
    if (!response.body || !response.ok) return response;
    const { status, statusText, headers } = response;
    const isWhole = headers.get("content-type")?.startsWith("application/json");
    return new Response(maskNumbers(response.body, isWhole ? "whole" : "event"), { status, statusText, headers });
  };
  return Object.assign(exact, { preconnect: fetch.preconnect });
}

function maskNumbers(body: ReadableStream<Uint8Array>, piece: "whole" | "event"): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const pieces = createStreamMask(piece, argumentFields, lineMax_bytes);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { value, done } = await reader.read();
          const ready = value ? pieces.push(value) : pieces.end();
          if (ready.length > 0) controller.enqueue(ready);
          if (done) return controller.close();
          if (ready.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
