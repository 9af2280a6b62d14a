/** The look of a series: a colour, and for every second one stripes, so that colour alone says nothing. */
export const tones = {
  model: { fill: "fill-(--step-model)", soft: "fill-(--step-model-soft)" },
  tool: { fill: "fill-(--step-tool)", soft: "fill-(--step-tool-soft)" },
  retrieval: { fill: "fill-(--step-retrieval)", soft: "fill-(--step-retrieval-soft)" },
  guardrail: { fill: "fill-(--step-guardrail)", soft: "fill-(--step-guardrail-soft)" },
  subagent: { fill: "fill-(--step-subagent)", soft: "fill-(--step-subagent-soft)" },
  rest: { fill: "fill-(--step-compaction)", soft: "fill-(--step-compaction-soft)" },
  bad: { fill: "fill-bad", soft: "fill-bad-soft" },
} as const;
export type Tone = keyof typeof tones;

export const isStriped = (tone: Tone): boolean => tone === "tool" || tone === "guardrail" || tone === "bad";

/** Of series in their order; the last is for all others together. */
export const seriesTones: readonly Tone[] = ["model", "tool", "retrieval", "guardrail", "subagent", "rest"];
