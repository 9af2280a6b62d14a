import type { ReactNode } from "react";
import type { TextPart } from "../../../../../server/wire/fold-frames.ts";
import type { TraceStep } from "../../../../../server/wire/trace.ts";

export interface StepProps {
  step: TraceStep;
  /** What a model writes meanwhile. */
  live: TextPart | undefined;
}

/** What a trace shows of steps of one type. Each module of this folder is one, and `step-parts.ts` lists them. */
export interface StepPart {
  /** What it is called. */
  word: string;
  /** The fact that tells it from its neighbours. */
  sub?(step: TraceStep): string;
  /** Result; without this, its output as it stands. */
  Output?: (props: StepProps) => ReactNode;
}
