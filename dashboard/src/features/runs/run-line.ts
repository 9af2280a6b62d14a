import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { lastText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { plainLine } from "../../lib/plain-line.ts";

/** Well beyond what a row can show. */
const longest = 400;

/** A run's second line: its result, its error, or what it waits for. */
interface RunLine {
  text: string;
  tone: "plain" | "bad" | "warn";
}

/** What a run is about, in one line: what it was asked. One that learns of another one was asked by no person. */
export function runSubject({ input, metadata }: Pick<Run, "input" | "metadata">): string {
  return metadata.learns_from ? `Learns facts about ${metadata.learns_from}` : plainLine(lastText(input), longest);
}

/** What became of a run, in one line. The error itself stands in the list, not one click away. */
export function runLine(run: Run): RunLine {
  switch (run.status) {
    case "failed":
      return { text: errorLine(run), tone: "bad" };
    case "cancelled":
      return { text: run.error?.message || "Cancelled", tone: "plain" };
    case "requires_action":
      return { text: waitLine(run.required_action?.submit_tool_outputs.tool_calls ?? []), tone: "warn" };
    case "queued":
      return {
        text: run.queue_position == null ? "Queued" : `Queued, position ${run.queue_position}`,
        tone: "plain",
      };
    case "in_progress":
      return { text: run.output ? `Writing: ${plainLine(run.output, longest)}` : "Working", tone: "plain" };
    case "completed":
      return { text: run.output ? plainLine(run.output, longest) : "Completed without text", tone: "plain" };
  }
}

/** `Waiting for approval: change_address`, with the number of further calls. */
export function waitLine(calls: readonly PendingCall[]): string {
  const [first, ...rest] = calls;
  if (!first) return "Waiting for a response";
  const words = {
    output: `Waiting for the output of ${first.tool}`,
    approval: `Waiting for approval: ${first.tool}`,
    reconcile: `Outcome unknown: ${first.tool}`,
  };
  return words[first.needs] + (rest.length ? ` and ${rest.length} more` : "");
}

function errorLine(run: Run): string {
  if (!run.error) return "Failed";
  const step = run.error.step_index == null ? "" : ` Step ${run.error.step_index}.`;
  return `${run.error.code}: ${run.error.message.slice(0, longest).replace(/\s+/g, " ").trim()}${step}`;
}
