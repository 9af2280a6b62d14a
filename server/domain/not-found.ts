import { AppError, isRefusal } from "./errors.ts";

/**
 * The same error for ids that never existed, were deleted, or belong to another project, so that they cannot be told
 * apart.
 */
export const notFound = (): AppError => new AppError("resource_not_found", "There is nothing with this id.");

/** Throws 404; used after `??`. */
export function throwNotFound(): never {
  throw notFound();
}

/** Returns the result, or null if `read` throws 404. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isRefusal(error, "resource_not_found")) return null;
    throw error;
  }
}
