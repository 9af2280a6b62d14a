import { ApiError } from "../../lib/api.ts";
import { type Faults, serverFaults } from "../../lib/fault-of.ts";

/** The faults of a store's fields; that its model cannot be reached is said of no field, and is its embedding's. */
export function blameModel<Draft extends { embedding: string }>(
  error: Error,
  draft: Draft,
): { faults: Faults<Draft>; rest: string[] } {
  const isModel = error instanceof ApiError && error.code === "model_not_available";
  return isModel ? { faults: { embedding: error.message } as Faults<Draft>, rest: [] } : serverFaults(error, draft);
}
