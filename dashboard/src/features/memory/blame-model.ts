import { ApiError } from "../../lib/api.ts";
import { type FieldErrors, serverFieldErrors } from "../../lib/field-errors.ts";

/** Assigns the server's errors to fields. An unavailable model names no field, so it is assigned to `embedding`. */
export function blameModel<Draft extends { embedding: string }>(
  error: Error,
  draft: Draft,
): { faults: FieldErrors<Draft>; rest: string[] } {
  const isModel = error instanceof ApiError && error.code === "model_not_available";
  return isModel
    ? { faults: { embedding: error.message } as FieldErrors<Draft>, rest: [] }
    : serverFieldErrors(error, draft);
}
