import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { newId } from "../../domain/ids.ts";
import type { ToolCall } from "../../domain/run-state.ts";
import { noUsage } from "../../domain/usage.ts";
import type { Standing } from "../models/spend-guard.ts";
import { type Adapters, noRun } from "./adapters.ts";
import type { Ask, ToolTry, TriedOutcome } from "./messages.ts";
import { toolError } from "./tools/tool-result.ts";
import { truncateOutput } from "./truncate-output.ts";

/** Runs one call outside of any run; results that come later are not awaited. */
export async function testTool(
  tools: Adapters["tools"],
  { tool, args, owner, secrets, egress }: ToolTry,
  ask: Ask,
  signal: AbortSignal,
): Promise<TriedOutcome> {
  const { runTool, keepFile, close } = tools({ owner, secrets, egress, run_id: noRun, attempt: 1, file_ids: [] }, ask);
  const recorded = Promise.withResolvers<void>();
  try {
    const outcome = await runTool(callOf(tool, args), tool, signal, recorded.promise, { standing: () => nothing });
    if ("child" in outcome) throw new Error("A child run has no parent here.");
    if ("authorization" in outcome)
      return toolError("authorization_required", `The user has to allow the use of ${outcome.authorization.name}.`, 0);
    if ("elicitation" in outcome) throw new Error("Outside of runs nobody can be asked.");
    return "later" in outcome ? outcome : await truncateOutput(outcome, tool, keepFile);
  } catch (error) {
    if (!signal.aborted) throw error;
    return toolError("aborted", "The client disconnected.");
  } finally {
    recorded.resolve();
    close();
  }
}

/** There is no run, so nothing is spent. */
const nothing: Standing = { agent_id: "", budget: null, usage: noUsage };

const callOf = ({ id, name, type }: ToolSnapshot, args: Record<string, unknown>): ToolCall => ({
  id: newId("tool_call"),
  tool_id: id,
  tool: name,
  type,
  arguments: args,
  step_index: 0,
  turn_index: 0,
  needs: null,
  status: "running",
  output: null,
  error: null,
  attempts: 0,
  latency_ms: null,
  created_at: 0,
  completed_at: null,
  approved: true,
  submitted: false,
  files: [],
  child: null,
});
