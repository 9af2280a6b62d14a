import { type Finding, isBlocked } from "../core/guardrail-event.ts";
import { toolText } from "../core/prompt.ts";
import { addChildRun } from "../core/usage.ts";
import { type CompiledGuardrails, compileGuardrails, except, guardrailsOn } from "../guardrails/compile.ts";
import { screenInSlices } from "../guardrails/in-slices.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { type Done, failed } from "./tools/outcome.ts";
import type { Turn } from "./turn.ts";

/** What guardrails leave of a tool's result, before anything of it is written down or kept. */
export async function screenResult(
  done: Done,
  tool_call_id: string,
  turn: Turn,
): Promise<{ done: Done; findings: Finding[] }> {
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

/** An error's message is an output too, but has no shape to keep to. */
async function screenDone(list: CompiledGuardrails, done: Done) {
  if (!done.error) {
    const { value, triggered, blocked } = await screenInSlices(list, "tool_output", done.output);
    return { done: { ...done, output: value }, triggered, blocked };
  }
  const { value, triggered, blocked } = await screenInSlices(except(list, "shape"), "tool_output", done.error.message);
  return { done: { ...done, error: { ...done.error, message: String(value) } }, triggered, blocked };
}

/** Its files go with it: they would say what the output may not. */
const withheld = ({ attempts, usage }: Done, message: string): Done => ({
  ...failed("guardrail_blocked", message, attempts),
  ...(usage && { usage }),
});
