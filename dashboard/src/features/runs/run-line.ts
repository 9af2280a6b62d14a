import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { lastText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** A run's second line: its result, its error, or what it waits for. */
interface RunLine {
  text: string;
  tone: "plain" | "bad" | "warn";
}

/** What a run is about, in one line: what it was asked. One that learns of another one was asked by no person. */
export function runSubject({ input, metadata }: Pick<Run, "input" | "metadata">): string {
  return metadata.learns_from ? `Learns facts of ${metadata.learns_from}` : oneLine(lastText(input));
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
        text: run.queue_position == null ? "Waits in the queue" : `In the queue at ${run.queue_position}`,
        tone: "plain",
      };
    case "in_progress":
      return { text: run.output ? `Writing: ${oneLine(run.output)}` : "Working", tone: "plain" };
    case "completed":
      return { text: run.output ? oneLine(run.output) : "Completed without text", tone: "plain" };
  }
}

/** `Waits for approval: change_address`, with the number of further calls. */
export function waitLine(calls: readonly PendingCall[]): string {
  const [first, ...rest] = calls;
  if (!first) return "Waits for an answer";
  const words = {
    output: `Waits for the output of ${first.tool}`,
    approval: `Waits for approval: ${first.tool}`,
    reconcile: `Waits: did ${first.tool} happen?`,
  };
  return words[first.needs] + (rest.length ? ` and ${rest.length} more` : "");
}

/** Text on one line, cut well beyond what a row can show. */
export function oneLine(text: string): string {
  return text.slice(0, 400).replace(/\s+/g, " ").trim();
}

function errorLine(run: Run): string {
  if (!run.error) return "Failed";
  const step = run.error.step_index == null ? "" : ` Step ${run.error.step_index}.`;
  return `${run.error.code}: ${oneLine(run.error.message)}${step}`;
}
