import { AppError, isRefusal } from "./errors.ts";

/** One answer for what never was, what is gone and what belongs to somebody else: a difference would tell them apart. */
export const notFound = (): AppError => new AppError("resource_not_found", "There is nothing with this id.");

/** Behind `??`: refuses what is not there. */
export function missing(): never {
  throw notFound();
}

/** What is read; null where it is not there. */
export function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isRefusal(error, "resource_not_found")) return null;
    throw error;
  }
}
