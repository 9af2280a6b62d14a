import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { RequiredCall as PendingCall } from "../../../../server/domain/run-event.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";

/** Longer than any row can show. */
const longest = 400;

/** Second line of a run: its result, error or pending calls. */
interface RunLine {
  text: string;
  tone: "plain" | "bad" | "warn";
}

/** Subject of a run in one line: its input, or for a fact-learning run its source run. */
export function runSubject({ input, metadata }: Pick<Run, "input" | "metadata">): string {
  return metadata.learns_from ? `Learns facts about ${metadata.learns_from}` : markdownToText(lastText(input), longest);
}

/** Result of a run in one line, including the error message. */
export function runLine(run: Run): RunLine {
  switch (run.status) {
    case "failed":
      return { text: errorLine(run), tone: "bad" };
    case "cancelled":
      return { text: run.error?.message || "Cancelled", tone: "plain" };
    case "requires_action":
      return {
        text: waitLine(run.required_action?.submit_tool_outputs.tool_calls ?? []) + thenPauses(run),
        tone: "warn",
      };
    case "queued":
      return {
        text: run.queue_position == null ? "Queued" : `Queued, position ${run.queue_position}`,
        tone: "plain",
      };
    case "paused":
      return { text: "Paused", tone: "plain" };
    case "in_progress":
      return { text: run.output ? `Writing: ${markdownToText(run.output, longest)}` : "Working", tone: "plain" };
    case "completed":
      return { text: run.output ? markdownToText(run.output, longest) : "Completed without text", tone: "plain" };
  }
}

/** Describes a pause that was requested for a run which still waits. */
const thenPauses = ({ pause_requested_at }: Run): string => (pause_requested_at == null ? "" : ", then it pauses");

/** Describes the pending calls: `Waiting for approval: change_address`, with the number of others. */
export function waitLine(calls: readonly PendingCall[]): string {
  const [first, ...rest] = calls;
  if (!first) return "Waiting for a response";
  const words = {
    output: `Waiting for the output of ${first.tool}`,
    approval: `Waiting for approval: ${first.tool}`,
    reconcile: `Outcome unknown: ${first.tool}`,
    elicitation: `Waiting for an answer: ${first.tool}`,
  };
  return words[first.needs] + (rest.length ? ` and ${rest.length} more` : "");
}

function errorLine(run: Run): string {
  if (!run.error) return "Failed";
  const step = run.error.step_index == null ? "" : ` Step ${run.error.step_index}.`;
  return `${run.error.code}: ${run.error.message.slice(0, longest).replace(/\s+/g, " ").trim()}${step}`;
}
