import type { StepType } from "../../../../../server/domain/step-kinds.ts";
import { joinFacts } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { argumentsLine } from "../arguments-line.ts";
import { compactionPart } from "./compaction.tsx";
import { guardrailPart } from "./guardrail.tsx";
import { handoffPart } from "./handoff.tsx";
import { modelCallPart } from "./model-call.tsx";
import { retrievalPart } from "./retrieval.tsx";
import type { StepPart } from "./step-part.ts";

/** All step types. Icons are in `ui/icons.ts`, colours in `index.css`. */
export const stepParts: Record<StepType, StepPart> = {
  model_call: modelCallPart,
  tool_call: {
    word: "Tool call",
    sub: ({ input, tool_type }) =>
      joinFacts(tool_type === "skill" ? skillLine(input) : argumentsLine(input), tool_type),
  },
  retrieval: retrievalPart,
  guardrail: guardrailPart,
  approval: { word: "Approval" },
  subagent: { word: "Agent call", sub: ({ subagent, tool_type }) => (subagent ? "agent" : (tool_type ?? "")) },
  handoff: handoffPart,
  compaction: compactionPart,
  recovery: { word: "Restart" },
};

/** Returns the skill that a call reads, and the file: `letters/references/tone.md`. */
function skillLine(input: unknown): string {
  const { name, path } = fieldsOf(input);
  return [name, path].filter((part) => typeof part === "string").join("/");
}
