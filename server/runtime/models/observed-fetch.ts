import type { Fetch } from "./model-fetch.ts";

// Maximum line of a stream, and maximum size of other responses: SDKs hold either in memory as a whole.
const lineMax_bytes = 8 * 1024 * 1024;

interface Call {
  /** Called for each chunk of the response: SDKs do not report comments and pings. */
  onByte(): void;
  /** True if a budget is reserved, for one request only: an SDK may request the rest of an answer. */
  isBounded: boolean;
}

/** Calls by their abort signals. */
const calls = new WeakMap<AbortSignal, Call & { isAnswered?: boolean }>();

/** Observes the requests that use this signal. */
export const observeCall = (signal: AbortSignal, call: Call) => void calls.set(signal, call);

/** Thrown instead of requesting the rest of an answer, which has no budget. */
export class NotAsked extends Error {
  override readonly name = "NotAsked";
}

/** A fetch for SDKs with observed and limited responses. */
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
