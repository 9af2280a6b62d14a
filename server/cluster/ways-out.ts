import type { Shipper } from "./shipper.ts";

type Handle = (request: Request) => Response | Promise<Response>;
type Settling = Pick<Shipper, "settled" | "isStalled" | "onStalled">;

/**
 * What leaves a leader's process waits until the engine has all that it may tell of. There are four ways out: what a write
 * settles with (the group commit sees to that), answers to requests, requests, and orders to threads, which send requests
 * of their own.
 */
export interface WaysOut {
  /** Answers wait, and each piece of a stream. While the engine is away, `away` answers. */
  answering(handle: Handle, away: (request: Request) => Response): Handle;
  /** Settles once what was read until now may be told. Throws while the engine is away. */
  sure(): Promise<void>;
  /** Requests of this thread wait. */
  requesting(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** Passes on in order, each once it may leave. */
  ordering<T>(send: (order: T) => void): (order: T) => void;
}

export function createWaysOut(ship: Settling): WaysOut {
  const waiting = new Set<() => void>();
  ship.onStalled(() => {
    for (const giveUp of waiting) giveUp();
  });

  async function settledAnswer(handle: Handle, request: Request): Promise<Response> {
    const response = await handle(request);
    // Most answers are there as a whole.
    const whole = isWhole(response) ? await response.arrayBuffer() : null;
    await ship.settled();
    if (whole) return new Response(whole, response);
    return response.body ? new Response(inStep(response.body), response) : response;
  }

  /** Each piece once the engine has what was committed before it was read. */
  function inStep(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
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
      waiting.add(giveUp);
      try {
        return await Promise.race([settledAnswer(handle, request), stalled]);
      } finally {
        waiting.delete(giveUp);
      }
    },
    async sure() {
      const { promise: stalled, reject } = Promise.withResolvers<never>();
      const giveUp = () => reject(new Error("The engine is away."));
      if (ship.isStalled()) giveUp();
      waiting.add(giveUp);
      try {
        await Promise.race([stalled, ship.settled()]);
      } finally {
        waiting.delete(giveUp);
      }
    },
    requesting: (fetch) =>
      Object.assign(async (...given: Parameters<typeof fetch>) => {
        await ship.settled();
        return await fetch(...given);
      }, fetch),
    ordering(send) {
      let last: Promise<unknown> = Promise.resolve();
      return (order) => {
        last = Promise.all([last, ship.settled()]).then(() => send(order));
      };
    },
  };
}

/** Downloads may be large, and are streamed at the speed of their reader. */
const isWhole = ({ headers }: Response): boolean =>
  /^application\/json(;|$)/.test(headers.get("content-type") ?? "") && !headers.has("content-disposition");
