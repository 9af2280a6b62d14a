import { untilAborted } from "../lib/until-aborted.ts";
import { McpFailure } from "./mcp-failure.ts";

/** How long an operation may take, and who may end it before. */
export interface McpLimits {
  timeout_ms: number;
  signal: AbortSignal;
}

/** Ends the operation as a failure. */
export type Fail = (failure: McpFailure) => void;

/**
 * Work that ends in time, whatever the server leaves unanswered. At any failure its signal is aborted, with the failure
 * as the reason: the protocol's client then tells the server that nobody waits any more.
 */
export async function within<T>(
  { timeout_ms, signal }: McpLimits,
  work: (signal: AbortSignal, fail: Fail) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // It may come when the work is done and nobody listens.
  const fail: Fail = (failure) => {
    failed.reject(failure);
    abort.abort(failure);
  };
  const timer = setTimeout(() => fail(new McpFailure("timeout", "The MCP server took too long.", "sent")), timeout_ms);
  const release = untilAborted([signal], () => fail(new McpFailure("aborted", "The call was given up.", "sent")));
  try {
    return await Promise.race([failed.promise, work(abort.signal, fail)]);
  } finally {
    clearTimeout(timer);
    release();
  }
}
