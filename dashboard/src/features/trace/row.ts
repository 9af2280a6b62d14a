import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Span } from "./timeline.ts";

/** Mark of a row; null for success. */
export type Mark = "failed" | "unknown" | "waiting" | "running" | "rejected" | "cancelled" | "flagged" | null;

/** One line of the tree and of the waterfall. Times are milliseconds since the epoch. */
export interface Row {
  /**
   * `run`, `12` for a step, `6-2` for a step of the run that step 6 started, `r2` for the restart of attempt 2, `12~`
   * for a fold that starts with step 12.
   */
  key: string;
  parent: string | null;
  /** 1 is the run itself. */
  level: number;
  kind: "run" | "step" | "restart" | "fold";
  /** Determines colour and icon. */
  type: string;
  name: string;
  sub: string;
  step: TraceStep | null;
  /** Name of the agent whose model call it is, if several answer in turn. */
  agent?: string | undefined;
  /** Id of the step before it in its own run, after which it is fetched singly. */
  before: string | null;
  runId: string;
  start: number;
  /** Null while it is running. */
  end: number | null;
  waits: Span[];
  mark: Mark;
  /** True if it can be expanded. */
  opens: boolean;
  open: boolean;
}

/** A row with its position among its visible siblings, from 1. */
export interface ShownRow extends Row {
  position: number;
  siblings: number;
}
