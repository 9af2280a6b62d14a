import { orNull } from "../domain/not-found.ts";
import type { Principal } from "../http/principal.ts";
import type { RunStore } from "../runs/store.ts";

export const openQuestion =
  "The run of this thread waits for the answers to its calls. Answer them first, or cancel it.";

/**
 * True if the run of a thread waits for its client: a run behind it would wait with it, although the same client has
 * gone on.
 */
export function isQuestionOpen(runs: RunStore, principal: Principal, threadId: string): boolean {
  const [first] = runs.inThread(principal, threadId);
  return first !== undefined && orNull(() => runs.standing(principal, first.id))?.status === "requires_action";
}
