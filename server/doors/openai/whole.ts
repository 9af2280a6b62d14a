import { AppError } from "../../core/errors.ts";
import { errorHeaders } from "../../http/errors.ts";
import type { Dialect } from "../../runs/stream.ts";
import { json, noRetry } from "./door.ts";
import { openAiError, stopping } from "./errors.ts";

/**
 * A dialect for who reads a run as a whole, and the refusal where its stream ended before: nobody is to ask again by
 * itself, since that would be another run beside the one that goes on.
 */
export function wholly(dialect: Dialect) {
  let why = new AppError("resource_not_found", "The run was deleted.");
  return {
    dialect: {
      ...dialect,
      get closing() {
        why = stopping();
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
