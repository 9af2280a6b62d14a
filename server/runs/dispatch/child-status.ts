import { cancelError } from "../../domain/run-error.ts";
import { isRequest, type JournalEntry, type RequiredCall, type RunEvent } from "../../domain/run-event.ts";
import { pendingCalls, type RunState } from "../../domain/run-state.ts";
import type { ChildUsages } from "../../domain/terminal-events.ts";
import { unknownRunUsage } from "../../domain/usage.ts";
import type { ChildStanding } from "../../runtime/agent-loop/messages.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { RunStore } from "../store.ts";

export type ChildStatuses = ReturnType<typeof createChildStatuses>;

/** Statuses of child runs, read from their records. */
export function createChildStatuses({ journal, runs }: { journal: Journal; runs: RunStore }) {
  /**
   * Returns null while the child works. Reads the newest entry only, because earlier ones may be damaged or deleted.
   * Requests to the run do not change the status.
   */
  function of(runId: string): ChildStanding | null {
    const head = journal.head(runId);
    if (head?.status === "in_progress") return null;
    if (!head) return missingRecord;
    try {
      const newest = newestStanding(runId, head.seq);
      if (newest) return statusAfter(runId, newest.event);
      const { output, output_json, error, usage } = runs.read(runs.standing(head, runId));
      return { is: "over", output, output_json, error, usage };
    } catch {
      return missingRecord;
    }
  }

  /** Returns the newest entry that is no request to the run. */
  function newestStanding(runId: string, seq: number): JournalEntry | undefined {
    const [entry] = journal.read(runId, seq - 1, 1);
    return entry && isRequest(entry.event) ? newestStanding(runId, seq - 1) : entry;
  }

  return {
    of,
    /** Returns the calls that the child waits for. */
    callsOf(runId: string): RequiredCall[] {
      const standing = of(runId);
      return standing?.is === "waiting" ? standing.calls : [];
    },
    /** Returns the usage of finished children whose calls are still open. */
    usagesOf: (state: RunState): ChildUsages =>
      new Map(
        pendingCalls(state).flatMap(({ id, child }) => {
          // The child may have started without its parent's loop having recorded it.
          const run_id = child?.run_id ?? runs.childOf(state.run.run_id, id);
          const standing = run_id === null ? null : of(run_id);
          return standing?.is === "over" ? [[id, standing.usage] as const] : [];
        }),
      ),
  };
}

function statusAfter(runId: string, event: RunEvent): ChildStanding | null {
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

const missingRecord: ChildStanding = {
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
