import { onAbort } from "../../lib/on-abort.ts";
import { McpFailure } from "./mcp-failure.ts";

/** Timeout of an operation, and a signal that aborts it. */
export interface McpLimits {
  timeout_ms: number;
  signal: AbortSignal;
}

/** Ends the operation with this failure. */
export type Fail = (failure: McpFailure) => void;

/**
 * Runs work with a deadline. On any failure its signal is aborted with the failure as the reason, so that the SDK's
 * client cancels the request at the server.
 */
export async function withDeadline<T>(
  { timeout_ms, signal }: McpLimits,
  work: (signal: AbortSignal, fail: Fail) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // It may reject after the work is done.
  const fail: Fail = (failure) => {
    failed.reject(failure);
    abort.abort(failure);
  };
  const timer = setTimeout(() => fail(new McpFailure("timeout", "The MCP server took too long.", "sent")), timeout_ms);
  const release = onAbort([signal], () => fail(new McpFailure("aborted", "The call was given up.", "sent")));
  try {
    return await Promise.race([failed.promise, work(abort.signal, fail)]);
  } finally {
    clearTimeout(timer);
    release();
  }
}
