import { onlyWaitsForChildren, waitsForChild } from "../../domain/pause.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { Journal } from "../../storage/journal/journal.ts";

export type Draining = ReturnType<typeof createDraining>;

/**
 * Projects being drained: runs finish their current step and start no other, so that the next owner repeats nothing.
 */
export function createDraining({ journal }: { journal: Journal }) {
  const projects = new Set<string>();

  /** Returns the state of a run in progress of a draining project; null for other runs. */
  function stateOf(runId: string): RunState | null {
    const head = journal.head(runId);
    return head?.status === "in_progress" && projects.has(head.project_id) ? journal.state(runId) : null;
  }

  return {
    has: (projectId: string): boolean => projects.has(projectId),
    add: (projectId: string): void => void projects.add(projectId),
    delete: (projectId: string): void => void projects.delete(projectId),
    /**
     * True if a run whose loop waits for entry `since` has no work under way. A step that begins with that entry has
     * not begun, and waiting for a child run can continue elsewhere.
     */
    rests(runId: string, since: number): boolean {
      const state = stateOf(runId);
      return state?.open.every((step) => step.anchor >= since || waitsForChild(step, state)) ?? false;
    },
    /** True if a run does nothing but wait for child runs. */
    onlyWaits(runId: string): boolean {
      const state = stateOf(runId);
      return state !== null && onlyWaitsForChildren(state);
    },
  };
}
