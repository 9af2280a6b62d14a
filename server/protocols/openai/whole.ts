import { AppError } from "../../domain/errors.ts";
import { errorHeaders } from "../../http/errors.ts";
import type { EventEncoder } from "../../runs/stream/stream.ts";
import { json, noRetry } from "./api-calls.ts";
import { openAiError, shuttingDown } from "./errors.ts";

/**
 * Wraps an encoder to read a run as a whole, with the error if its stream ended before. That error must not make
 * clients retry, because a retry would start a second run beside the first.
 */
export function wholeRunEncoder(dialect: EventEncoder) {
  let why = new AppError("resource_not_found", "The run was deleted.");
  return {
    dialect: {
      ...dialect,
      get closing() {
        why = shuttingDown();
        return "";
      },
      error(reason: AppError) {
        why = reason;
        return "";
      },
    },
    cutOff: (headers: Record<string, string>): Response =>
      json(why.status, openAiError(why), { ...errorHeaders(why), ...headers, ...noRetry }),
  };
}
