import { type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { toolText } from "../../domain/prompt.ts";
import { addChildRun } from "../../domain/usage.ts";
import { type CompiledGuardrails, compileGuardrails, withoutKinds, guardrailsOn } from "../guardrails/compile.ts";
import { screenInSlices } from "../guardrails/in-slices.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunContext } from "./run-context.ts";
import { type ToolResult, toolError } from "./tools/tool-result.ts";

/** Applies guardrails to a tool's result before it is journaled or stored. */
export async function screenResult(
  done: ToolResult,
  tool_call_id: string,
  turn: RunContext,
): Promise<{ done: ToolResult; findings: Finding[] }> {
  const list = compileGuardrails(turn.start.agent.guardrails ?? []);
  if (guardrailsOn(list, "tool_output").length === 0) return { done, findings: [] };
  const { triggered, blocked, ...left } = await screenDone(list, done);
  const judges = blocked ? [] : judgesOn(turn, "tool_output");
  const { usage } = turn.state();
  const used = done.usage ? addChildRun(usage, done.usage) : usage;
  const verdicts = await askJudges(judges, "tool_output", toolText(left.done).output, turn, used);
  const findings = [...triggered, ...verdicts].map((finding) => ({ ...finding, tool_call_id }));
  const block = findings.find(isBlocked);
  return { done: block ? withheld(left.done, block.message) : left.done, findings };
}

/** Checks an output, or an error's message (as text without a shape). */
async function screenDone(list: CompiledGuardrails, done: ToolResult) {
  if (!done.error) {
    const { value, triggered, blocked } = await screenInSlices(list, "tool_output", done.output);
    return { done: { ...done, output: value }, triggered, blocked };
  }
  const { value, triggered, blocked } = await screenInSlices(withoutKinds(list, "shape"), "tool_output", done.error.message);
  return { done: { ...done, error: { ...done.error, message: String(value) } }, triggered, blocked };
}

/** Replaces a blocked result, without its files, because they contain the same content. */
const withheld = ({ attempts, usage }: ToolResult, message: string): ToolResult => ({
  ...toolError("guardrail_blocked", message, attempts),
  ...(usage && { usage }),
});
