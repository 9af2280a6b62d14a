import { AppError } from "./errors.ts";

/** One answer for what never was, what is gone and what belongs to somebody else: a difference would tell them apart. */
export const notFound = (): AppError => new AppError("resource_not_found", "There is nothing with this id.");
