import type { StepType } from "../../../../../server/domain/step-kinds.ts";
import { joinFacts } from "../../../lib/format.ts";
import { argumentsLine } from "../arguments-line.ts";
import { compactionPart } from "./compaction.tsx";
import { guardrailPart } from "./guardrail.tsx";
import { modelCallPart } from "./model-call.tsx";
import { retrievalPart } from "./retrieval.tsx";
import type { StepPart } from "./step-part.ts";

/** All step types. Icons are in `ui/icons.ts`, colours in `index.css`. */
export const stepParts: Record<StepType, StepPart> = {
  model_call: modelCallPart,
  tool_call: { word: "Tool call", sub: ({ input, tool_type }) => joinFacts(argumentsLine(input), tool_type) },
  retrieval: retrievalPart,
  guardrail: guardrailPart,
  approval: { word: "Approval" },
  subagent: { word: "Agent call", sub: ({ subagent, tool_type }) => (subagent ? "agent" : (tool_type ?? "")) },
  handoff: { word: "Handoff", sub: ({ handoff }) => (handoff ? `to ${handoff.agent_name}` : "") },
  compaction: compactionPart,
  recovery: { word: "Restart" },
};
