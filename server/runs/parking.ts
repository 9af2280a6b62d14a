import type { RunState } from "../core/run-state.ts";
import type { Journal } from "../journal/journal.ts";

export type Parking = ReturnType<typeof createParking>;

/**
 * Projects that are about to leave this process. Their runs go on to the end of the steps that they are in and not into the
 * next ones, so that whoever goes on with them repeats nothing.
 */
export function createParking({ journal }: { journal: Pick<Journal, "head" | "state"> }) {
  const projects = new Set<string>();

  /** A run in progress of such a project: null for all others. */
  function stateOf(runId: string): RunState | null {
    const head = journal.head(runId);
    return head?.status === "in_progress" && projects.has(head.project_id) ? journal.state(runId) : null;
  }

  return {
    has: (projectId: string): boolean => projects.has(projectId),
    add: (projectId: string): void => void projects.add(projectId),
    delete: (projectId: string): void => void projects.delete(projectId),
    /**
     * Whether a run whose loop waits for the entry with this number has no work under way. What begins with that entry has
     * not begun, and whoever waits for a run below it can do so elsewhere.
     */
    rests(runId: string, since: number): boolean {
      const state = stateOf(runId);
      return state?.open.every((step) => step.anchor >= since || waitsForChild(step, state)) ?? false;
    },
    /** Whether all that a run does is to wait for runs below it. */
    onlyWaits(runId: string): boolean {
      const state = stateOf(runId);
      return state !== null && state.open.length > 0 && state.open.every((step) => waitsForChild(step, state));
    },
  };
}

const waitsForChild = ({ tool_call_id }: RunState["open"][number], { calls }: RunState): boolean =>
  tool_call_id !== null && calls.some(({ id, child }) => id === tool_call_id && child !== null);
