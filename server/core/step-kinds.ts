/** What is particular to steps of one type, beside the module that does them. */
interface StepKind {
  /** It answers a call that a model asked for. */
  isCall?: true;
  /** A model is asked. */
  asksModel?: true;
  /** Nobody hears it while it works: it ends with its run. */
  isSilent?: true;
}

const kinds = {
  model_call: { asksModel: true },
  tool_call: { isCall: true },
  retrieval: { isSilent: true },
  guardrail: {},
  approval: {},
  subagent: { isCall: true },
  compaction: { asksModel: true, isSilent: true },
  recovery: {},
} satisfies Record<string, StepKind>;

export type StepType = keyof typeof kinds;
export const stepTypes = Object.keys(kinds) as StepType[];

export const stepKinds: Record<StepType, StepKind> = kinds;
