import { onAbort } from "../../lib/on-abort.ts";
import { McpFailure } from "./mcp-failure.ts";

/** Timeout of an operation, and a signal that aborts it. */
export interface McpLimits {
  timeout_ms: number;
  signal: AbortSignal;
  /** Pauses and restarts the timeout; absent: it runs from beginning to end. */
  clock?: CallClock;
}

/** Ends the operation with this failure. */
export type Fail = (failure: McpFailure) => void;

/**
 * Runs work with a deadline. On any failure its signal is aborted with the failure as the reason, so that the SDK's
 * client cancels the request at the server.
 */
export async function withDeadline<T>(
  { timeout_ms, signal, clock }: McpLimits,
  work: (signal: AbortSignal, fail: Fail) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // It may reject after the work is done.
  const fail: Fail = (failure) => {
    failed.reject(failure);
    abort.abort(failure);
  };
  const expire = () => fail(new McpFailure("timeout", "The MCP server took too long.", "sent"));
  const stop = (clock ?? createCallClock()).run(timeout_ms, expire);
  const release = onAbort([signal], () => fail(new McpFailure("aborted", "The call was given up.", "sent")));
  try {
    return await Promise.race([failed.promise, work(abort.signal, fail)]);
  } finally {
    stop();
    release();
  }
}

/** Clock of a call. It stands while the user is asked, and signs of progress begin the timeout again. */
type CallClock = ReturnType<typeof createCallClock>;

// A server that reports progress for ever must end too.
const mostTimeouts = 20;

export function createCallClock() {
  const timers = new Set<{ start(): void; stop(): void; restart(): void }>();
  let pauses = 0;

  return {
    /** Calls `expire` after this time; returns a function that ends the timer. */
    run(timeout_ms: number, expire: () => void): () => void {
      let [left_ms, spent_ms, since] = [timeout_ms, 0, 0];
      let timer: Timer | undefined;
      const own = {
        start() {
          since = performance.now();
          timer = setTimeout(expire, left_ms);
        },
        stop() {
          if (timer === undefined) return;
          clearTimeout(timer);
          timer = undefined;
          left_ms -= performance.now() - since;
          spent_ms += performance.now() - since;
        },
        restart() {
          own.stop();
          left_ms = Math.min(timeout_ms, timeout_ms * mostTimeouts - spent_ms);
          if (pauses === 0) own.start();
        },
      };
      timers.add(own);
      if (pauses === 0) own.start();
      return () => {
        own.stop();
        timers.delete(own);
      };
    },
    /** Stops the time until the returned function is called. */
    pause(): () => void {
      if (++pauses === 1) for (const timer of timers) timer.stop();
      return () => {
        if (--pauses === 0) for (const timer of timers) timer.start();
      };
    },
    restart(): void {
      for (const timer of timers) timer.restart();
    },
  };
}
