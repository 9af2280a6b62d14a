import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { Span } from "./timeline.ts";

/** What is marked at a row: success is silent. */
export type Mark = "failed" | "unknown" | "waiting" | "running" | "rejected" | "cancelled" | "flagged" | null;

/** One line of the tree and of the waterfall. Times are milliseconds since the epoch. */
export interface Row {
  /**
   * `run`, `12` for a step, `6-2` for a step of the run that step 6 called, `r2` for the restart of attempt 2, `12~` for
   * the line of equal calls that begins with step 12.
   */
  key: string;
  parent: string | null;
  /** 1 is the run itself. */
  level: number;
  kind: "run" | "step" | "restart" | "fold";
  /** Of its colour and icon. */
  type: string;
  name: string;
  sub: string;
  step: TraceStep | null;
  /** The step before it in its own run, behind which it is read by itself. */
  before: string | null;
  runId: string;
  start: number;
  /** Null while it goes on. */
  end: number | null;
  waits: Span[];
  mark: Mark;
  /** Whether another run's steps, or folded calls, can be opened below it. */
  opens: boolean;
  open: boolean;
}

/** A row with its place among those that are shown below the same one, from 1. */
export interface ShownRow extends Row {
  position: number;
  siblings: number;
}
