import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { RequiredCallObject as PendingCall } from "../../../../server/domain/required-action.ts";
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
        text: actionLine(run.required_action) + thenPauses(run),
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

/** Describes the pending calls, or the consent that is missing. */
function actionLine(action: Run["required_action"]): string {
  const { submit_tool_outputs, authorizations = [] } = action ?? { submit_tool_outputs: { tool_calls: [] } };
  const [consent, ...rest] = authorizations;
  if (!consent || submit_tool_outputs.tool_calls.length > 0) return waitLine(submit_tool_outputs.tool_calls);
  return `Waiting for a consent: ${consent.name}${rest.length ? ` and ${rest.length} more` : ""}`;
}

/** Describes the pending calls: `Waiting for approval: change_address`, with the number of others. */
export function waitLine(calls: readonly PendingCall[]): string {
  const [first, ...rest] = calls;
  if (!first) return "Waiting for a response";
  const words = {
    output: `Waiting for the output of ${first.name}`,
    approval: `Waiting for approval: ${first.name}`,
    reconcile: `Outcome unknown: ${first.name}`,
    authorization: `Waiting for a consent: ${first.name}`,
    elicitation: `Waiting for an answer: ${first.name}`,
  };
  return words[first.needs] + (rest.length ? ` and ${rest.length} more` : "");
}

function errorLine(run: Run): string {
  if (!run.error) return "Failed";
  const step = run.error.step_index == null ? "" : ` Step ${run.error.step_index}.`;
  return `${run.error.code}: ${run.error.message.slice(0, longest).replace(/\s+/g, " ").trim()}${step}`;
}
