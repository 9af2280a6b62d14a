import type { ChildUsages } from "../core/conclude.ts";
import { cancelError } from "../core/run-error.ts";
import type { RequiredCall, RunEvent } from "../core/run-event.ts";
import { pendingCalls, type RunState } from "../core/run-state.ts";
import { unknownRunUsage } from "../core/usage.ts";
import type { Journal } from "../journal/journal.ts";
import type { ChildStanding } from "../worker/messages.ts";
import type { RunStore } from "./store.ts";

export type ChildStandings = ReturnType<typeof createChildStandings>;

/** Where runs that calls of others have started stand, read from their records. */
export function createChildStandings({
  journal,
  runs,
}: {
  journal: Pick<Journal, "head" | "read">;
  runs: Pick<RunStore, "childOf" | "read" | "standing">;
}) {
  /** Null while it works. The newest entry alone says so: the record before it may be damaged, or deleted. */
  function of(runId: string): ChildStanding | null {
    const head = journal.head(runId);
    if (head?.status === "in_progress") return null;
    if (!head) return lost;
    try {
      const [newest] = journal.read(runId, head.seq - 1, 1);
      if (newest) return standingAfter(runId, newest.event);
      const { output, output_json, error, usage } = runs.read(runs.standing(head, runId));
      return { is: "over", output, output_json, error, usage };
    } catch {
      return lost;
    }
  }

  return {
    of,
    /** The calls that it waits for. */
    callsOf(runId: string): RequiredCall[] {
      const standing = of(runId);
      return standing?.is === "waiting" ? standing.calls : [];
    },
    /** What the children of calls that are still open have cost, as far as these are over. */
    usagesOf: (state: RunState): ChildUsages =>
      new Map(
        pendingCalls(state).flatMap(({ id, child }) => {
          // The run may have been started, and its parent's loop have had no time to note it.
          const run_id = child?.run_id ?? runs.childOf(state.run!.run_id, id);
          const standing = run_id === null ? null : of(run_id);
          return standing?.is === "over" ? [[id, standing.usage] as const] : [];
        }),
      ),
  };
}

function standingAfter(runId: string, event: RunEvent): ChildStanding | null {
  switch (event.type) {
    case "run.requires_action": {
      const { tool_calls } = event.required_action.submit_tool_outputs;
      return { is: "waiting", calls: tool_calls.map((call) => ({ ...call, run_id: call.run_id ?? runId })) };
    }
    case "run.completed":
      return { is: "over", output: event.output, output_json: event.output_json, error: null, usage: event.usage };
    case "run.failed":
      return { is: "over", output: event.output, output_json: null, error: event.error, usage: event.usage };
    case "run.cancelled": {
      const { output, usage } = event;
      return { is: "over", output, output_json: null, error: cancelError(event.reason), usage };
    }
    default:
      return null;
  }
}

const lost: ChildStanding = {
  is: "over",
  output: null,
  output_json: null,
  error: {
    type: "run_error",
    code: "internal_error",
    message: "The record of the agent's run is gone.",
    step_index: null,
    retryable: false,
  },
  usage: unknownRunUsage,
};
