import type { ReactNode } from "react";
import type { TextPart } from "../../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../../server/domain/api-types/trace.ts";

export interface StepProps {
  step: TraceStep;
  /** Text that is currently streaming. */
  live: TextPart | undefined;
}

/** Rendering of one step type. Each module in this folder is one, listed in `step-parts.ts`. */
export interface StepPart {
  /** Label of the type. */
  word: string;
  /** Returns the fact that distinguishes a step from its neighbours. */
  sub?(step: TraceStep): string;
  /** Renders the result; absent: the raw output. */
  Output?: (props: StepProps) => ReactNode;
}
