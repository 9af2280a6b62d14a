import type { Shipper } from "./shipper.ts";

type Handle = (request: Request) => Response | Promise<Response>;
type Settling = Pick<Shipper, "settled" | "isStalled" | "onStalled">;

/**
 * Holds output of a leader's process back until Postgres has acknowledged the commits that it may reveal. There are
 * four kinds: results of writes (held by the group commit), responses, requests, and messages to workers, which send
 * requests of their own.
 */
export interface OutputFence {
  /** Holds responses back, and each chunk of a stream. While Postgres is unavailable, `away` responds. */
  answering(handle: Handle, away: (request: Request) => Response): Handle;
  /** Resolves once everything read until now may be revealed. Throws while Postgres is unavailable. */
  waitUntilSynced(): Promise<void>;
  /** Holds back the requests of this thread. */
  requesting(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** Sends messages in order, each once it may leave. */
  ordering<T>(send: (order: T) => void): (order: T) => void;
}

export function createOutputFence(ship: Settling): OutputFence {
  const waiters = new Set<() => void>();
  ship.onStalled(() => {
    for (const giveUp of waiters) giveUp();
  });

  async function settledAnswer(handle: Handle, request: Request): Promise<Response> {
    const response = await handle(request);
    // Most responses are complete when they are returned.
    const content = isWhole(response) ? await response.arrayBuffer() : null;
    await ship.settled();
    if (content) return new Response(content, response);
    return response.body ? new Response(fenceBody(response.body), response) : response;
  }

  /** Forwards each chunk once Postgres has the commits from before it was read. */
  function fenceBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        await ship.settled();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  return {
    answering: (handle, away) => async (request) => {
      if (ship.isStalled()) return away(request);
      const { promise: stalled, resolve } = Promise.withResolvers<Response>();
      const giveUp = () => resolve(away(request));
      waiters.add(giveUp);
      try {
        return await Promise.race([settledAnswer(handle, request), stalled]);
      } finally {
        waiters.delete(giveUp);
      }
    },
    async waitUntilSynced() {
      const { promise: stalled, reject } = Promise.withResolvers<never>();
      const giveUp = () => reject(new Error("The engine is away."));
      if (ship.isStalled()) giveUp();
      waiters.add(giveUp);
      try {
        await Promise.race([stalled, ship.settled()]);
      } finally {
        waiters.delete(giveUp);
      }
    },
    requesting: (fetch) =>
      Object.assign(async (...args: Parameters<typeof fetch>) => {
        await ship.settled();
        return await fetch(...args);
      }, fetch),
    ordering(send) {
      let previous: Promise<unknown> = Promise.resolve();
      return (order) => {
        previous = Promise.all([previous, ship.settled()]).then(() => send(order));
      };
    },
  };
}

/** True for a JSON response, unless it is a download: that may be large, and is streamed at its reader's speed. */
const isWhole = ({ headers }: Response): boolean =>
  /^application\/json(;|$)/.test(headers.get("content-type") ?? "") && !headers.has("content-disposition");
