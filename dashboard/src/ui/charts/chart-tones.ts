/** Looks of series: a colour, and stripes for every second one, so that colour is never the only difference. */
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

/** Looks by series index; the last is for all others together. */
export const seriesTones: readonly Tone[] = ["model", "tool", "retrieval", "guardrail", "subagent", "rest"];
