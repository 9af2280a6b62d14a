/** Properties of a step type, besides the module that carries it out. */
interface StepKind {
  /** True if it answers a model's call. */
  isCall?: true;
  /** True if it calls a model. */
  asksModel?: true;
  /** True if it emits nothing while it works; it is closed when its run ends. */
  isSilent?: true;
}

const kinds = {
  model_call: { asksModel: true },
  tool_call: { isCall: true },
  retrieval: { isSilent: true },
  guardrail: {},
  approval: {},
  subagent: { isCall: true },
  handoff: { isCall: true },
  compaction: { asksModel: true, isSilent: true },
  recovery: {},
} satisfies Record<string, StepKind>;

export type StepType = keyof typeof kinds;
export const stepTypes = Object.keys(kinds) as StepType[];

export const stepKinds: Record<StepType, StepKind> = kinds;
