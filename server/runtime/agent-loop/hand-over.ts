import type { AgentSnapshot, HandoffTool } from "../../domain/agent-snapshot.ts";
import { budgetFrom } from "../../domain/budget.ts";
import { completeCall, type Result } from "../../domain/complete-call.ts";
import { equalJson } from "../../domain/equal.ts";
import { decidedEvents, type Finding } from "../../domain/guardrail-event.ts";
import { activeAgentId, agentNamed } from "../../domain/handoff.ts";
import { limits } from "../../domain/limits.ts";
import { preModelSteps } from "../../domain/pre-model-steps.ts";
import type { HandoffCompleted, RunEvent, ToolError } from "../../domain/run-event.ts";
import type { RunState, ToolCall } from "../../domain/run-state.ts";
import { screenInput } from "../guardrails/screen-input.ts";
import type { RunContext } from "./run-context.ts";

type MaskedMessage = NonNullable<HandoffCompleted["messages"]>[number];

/** A call that hands over, and the agent that goes on. */
interface Accepted {
  call: ToolCall;
  tool: HandoffTool;
  agent: AgentSnapshot;
}

/**
 * Hands the conversation over by the first of these calls that can be carried out; the others get an error. All of it
 * is one append, so that a crash leaves either no handoff or a whole one. If a message comes meanwhile, nothing is
 * appended: the next agent's rules have to check it too.
 */
export async function handOver(calls: readonly ToolCall[], pinned: AgentSnapshot, context: RunContext): Promise<void> {
  const { ports, start, state, record, recordUnlessAsked } = context;
  const now = ports.now();
  let accepted: Accepted | null = null;
  const results: RunEvent[] = [];
  for (const call of calls) {
    const found: Accepted | ToolError = accepted
      ? { code: "handoff_ignored", message: "Only the first handoff of an answer counts." }
      : acceptedOf(call, start.agent, pinned, state());
    if ("agent" in found) accepted = found;
    results.push(...completeCall(call, resultOf(call, found, now)));
  }
  if (!accepted) return void (await record(...results));
  const { masked, findings } = await screenMessages(accepted, state());
  const { steps, turns } = state();
  await recordUnlessAsked(
    ...results,
    { ...handoffEvent(accepted, start.agent, state(), now), ...masked },
    ...decidedEvents(findings, steps, Math.max(0, turns - 1)),
  );
}

const checksInput = ({ guardrails = [] }: AgentSnapshot): boolean => guardrails.some(({ on }) => on.includes("input"));

function acceptedOf(
  call: ToolCall,
  agent: AgentSnapshot,
  pinned: AgentSnapshot,
  { handoffs, run }: RunState,
): Accepted | ToolError {
  const tool = agent.tools.find(({ name }) => name === call.tool);
  const next = tool?.type === "handoff" ? agentNamed(tool.handoff.agent_id, pinned) : undefined;
  if (tool?.type !== "handoff" || !next) return { code: "agent_not_found", message: "There is no such agent." };
  if (handoffs.length >= limits.handoffs_per_run)
    return {
      code: "too_many_handoffs",
      message: `This conversation was handed over ${limits.handoffs_per_run} times already. Answer it yourself.`,
    };
  const [missing] = next.unavailable ?? [];
  if (missing)
    return { code: "tool_error", message: `The agent cannot use its tool ${missing.tool}: ${missing.message}` };
  const store = next.memory?.stores.find(
    ({ scope }) => (scope === "user" && run.user_id === null) || (scope === "session" && run.session_id === null),
  );
  if (store)
    return {
      code: "validation_failed",
      message: `The agent's memory store "${store.name}" has a part for each ${store.scope}, and this run is for none.`,
    };
  return { call, tool, agent: next };
}

function resultOf(call: ToolCall, found: Accepted | ToolError, now: number): Result {
  const rest = { latency_ms: Math.max(0, now - call.created_at), attempts: 1, submitted: false };
  return "agent" in found
    ? { status: "completed", output: `The conversation goes on with ${found.agent.name}.`, error: null, ...rest }
    : { status: "failed", output: null, error: found, ...rest };
}

function handoffEvent({ call, tool, agent }: Accepted, from: AgentSnapshot, state: RunState, now: number) {
  const { reason } = call.arguments;
  const wall_ms = Math.max(0, now - (state.started_at ?? now));
  const budget = agent.budget ? budgetFrom(agent.budget, state.run.budget, { usage: state.usage, wall_ms }) : null;
  // Its thread and its files are part of the conversation already. Rules of the next agent have not seen the files.
  const file_ids = checksInput(agent) ? state.documents.map((document) => document.file_id) : [];
  const prepared = preModelSteps(agent, { thread_id: null, file_ids });
  return {
    type: "handoff.completed" as const,
    tool_call_id: call.id,
    from_agent_id: activeAgentId(state),
    from_name: from.name,
    agent_id: agent.id,
    agent_name: agent.name,
    agent_version: agent.version,
    filter: tool.handoff.filter,
    reason: typeof reason === "string" && reason.trim() !== "" ? reason : null,
    max_turns: state.turns + agent.max_turns,
    ...(budget && { budget }),
    ...prepared,
  };
}

/**
 * Applies the next agent's rules for inputs to all that the user said in the run, except judges, which are asked before
 * its first model call.
 */
async function screenMessages(
  { agent, call }: Accepted,
  { run, messages }: RunState,
): Promise<{ masked: Pick<HandoffCompleted, "input" | "messages">; findings: Finding[] }> {
  if (!checksInput(agent)) return { masked: {}, findings: [] };
  const { asked, findings: ofInput } = await screenInput(agent, {
    input: run.input,
    ...(run.earlier && { earlier: run.earlier }),
  });
  const findings: Finding[] = ofInput.map((finding) => ({ ...finding, tool_call_id: call.id }));
  const changed: MaskedMessage[] = (asked.earlier ?? []).flatMap(({ id: message_id, content, tool_calls }, index) =>
    equalJson([content, tool_calls], [run.earlier?.[index]?.content, run.earlier?.[index]?.tool_calls])
      ? []
      : [{ message_id, content, ...(tool_calls && { tool_calls }) }],
  );
  for (const message of messages) {
    if (message.role !== "user" || !message.steered) continue;
    const { id: message_id, content } = message;
    const screened = await screenInput(agent, { input: content });
    findings.push(...screened.findings.map((finding) => ({ ...finding, message_id })));
    if (screened.asked.input !== content) changed.push({ message_id, content: screened.asked.input });
  }
  const masked = {
    ...(asked.input !== run.input && { input: asked.input }),
    ...(changed.length > 0 && { messages: changed }),
  };
  return { masked, findings };
}
