import { withoutCallArguments } from "./required-action.ts";
import { lastText } from "./run-input.ts";
import type { RunObject } from "./run-object.ts";
import { isLong, truncateResource } from "./truncate-resource.ts";

/** Step types shown in a list row, and their maximal number. */
export const stripTypes = ["model_call", "tool_call", "subagent", "handoff"] as const;
export const stripLength = 15;

export interface RunSummary extends Omit<RunObject, "messages" | "tool_calls" | "variables"> {
  /** Types of its newest steps, oldest first. */
  last_calls: (typeof stripTypes)[number][];
  truncated?: string[];
}

// Limit for the last text of an input of several messages, so that its JSON stays short.
const longestLast = 1000;
const inPart = new Set(["input", "output", "output_json"]);

/** Returns a run for a list. `shortened` names the fields that are already incomplete. */
export function runSummary(
  run: RunObject,
  last_calls: RunSummary["last_calls"],
  shortened: readonly string[] = [],
): RunSummary {
  const { messages: _, tool_calls: __, variables: ___, ...rest } = run;
  const truncated = [...new Set(shortened)].filter((field) => inPart.has(field)); // A handoff may change the input.
  if (isLong(rest.input)) {
    rest.input = [{ role: "user", content: lastText(rest.input).slice(0, longestLast).toWellFormed() }];
    truncated.push("input");
  }
  if (isLong(rest.output_json)) {
    rest.output_json = null;
    truncated.push("output_json");
  }
  // A client can still see which calls wait, without their arguments.
  if (rest.required_action && isLong(rest.required_action)) {
    rest.required_action = withoutCallArguments(rest.required_action);
    truncated.push("required_action");
  }
  if (rest.replay) rest.replay = { ...rest.replay, divergences: [] };
  return truncateResource({ ...rest, last_calls, ...(truncated.length > 0 && { truncated }) });
}
