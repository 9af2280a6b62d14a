import { activeAgent } from "../../domain/handoff.ts";
import { loadedInRun } from "../../domain/prompt.ts";
import type { ToolCall } from "../../domain/run-state.ts";
import { findTools, searchesBefore } from "../../domain/tool-search/find-tools.ts";
import type { RunContext } from "./run-context.ts";
import type { ToolResult } from "./tools/tool-result.ts";

/** Answers a search among the run's own tools. What it finds is loaded by the result in the journal. */
export function toolSearch(call: ToolCall, { start, state }: Pick<RunContext, "start" | "state">): ToolResult {
  const { calls } = state();
  const loaded = loadedInRun(state(), start.agent) ?? [];
  const query = String(call.arguments.query);
  const output = findTools(query, activeAgent(state(), start.agent), { loaded, searches: searchesBefore(call, calls) });
  return { output, error: null, attempts: 1 };
}
