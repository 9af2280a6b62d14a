import type { Fetch } from "./model-fetch.ts";

// Longest line of a stream, and longest response that is none: SDKs hold either in memory as a whole.
const lineMax_bytes = 8 * 1024 * 1024;

interface Call {
  /** Is told whenever bytes of its answer arrive: SDKs keep comments and pings to themselves. */
  onByte(): void;
  /** Its price is reserved, and that of one request alone: an SDK may ask a second time for the rest of an answer. */
  isBounded: boolean;
}

/** Calls by the signals that end them. */
const calls = new WeakMap<AbortSignal, Call & { isAnswered?: boolean }>();

/** From here on, requests with this signal are the call's. */
export const observeCall = (signal: AbortSignal, call: Call) => void calls.set(signal, call);

/** In place of the rest of an answer for which nothing is reserved. */
export class NotAsked extends Error {
  override readonly name = "NotAsked";
}

/** A fetch for an SDK, whose responses are observed and bounded. */
export function observedFetch(fetch: Fetch): Fetch {
  const request = async (...[url, init]: Parameters<Fetch>): Promise<Response> => {
    const call = init?.signal ? calls.get(init.signal) : undefined;
    if (call?.isBounded && call.isAnswered) throw new NotAsked("Nothing is reserved for the rest of this answer.");
    const response = await fetch(url, init);
    if (!response.ok || !response.body || !call) return response;
    call.isAnswered = true;
    call.onByte();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(watch(call.onByte, isStream)), { status, statusText, headers });
  };
  return Object.assign(request, { preconnect: fetch.preconnect });
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
