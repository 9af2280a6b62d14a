import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { newId } from "../core/ids.ts";
import type { ToolCall } from "../core/run-state.ts";
import { noUsage } from "../core/usage.ts";
import type { Standing } from "../models/payer.ts";
import { bounded } from "./bound.ts";
import type { Ask, ToolTry, TriedOutcome } from "./messages.ts";
import type { Reach } from "./reach.ts";
import { failed } from "./tools/outcome.ts";

/** Runs one call as runs do, but for none of them: nobody is there to wait for what comes later. */
export async function tryTool(
  tools: Reach["tools"],
  { tool, args, owner, secrets, egress }: ToolTry,
  ask: Ask,
  signal: AbortSignal,
): Promise<TriedOutcome> {
  const { runTool, keepFile, close } = tools({ owner, secrets, egress, run_id: "none", attempt: 1, file_ids: [] }, ask);
  const recorded = Promise.withResolvers<void>();
  try {
    const outcome = await runTool(callOf(tool, args), tool, signal, recorded.promise, () => nothing);
    if ("child" in outcome) throw new Error("A child run has no parent here.");
    return "later" in outcome ? outcome : await bounded(outcome, tool, keepFile);
  } catch (error) {
    if (!signal.aborted) throw error;
    return failed("aborted", "The client disconnected.");
  } finally {
    recorded.resolve();
    close();
  }
}

/** No run has spent anything. */
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
