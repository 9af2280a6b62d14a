import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { LoadedTrace } from "../../entities/run/trace-types.ts";
import type { Row } from "./rows.ts";
import type { Timeline } from "./timeline.ts";

/** What the page gives to the player at its foot. */
export interface PlayerSlot {
  run: Run;
  loaded: LoadedTrace;
  rows: readonly Row[];
  timeline: Timeline;
  /** Milliseconds since the timeline's begin; null: at the end, where everything is shown as it is. */
  position: number | null;
  onPosition: (position: number | null) => void;
  selected: string;
  onSelect: (key: string) => void;
}

/** What it gives to the panel that makes a fork of a step. */
export interface ForkSlot {
  run: Run;
  step: TraceStep;
  /** All steps of the run that are here. */
  steps: readonly TraceStep[];
  /** There are further ones. */
  hasMore: boolean;
  onDone: (runId: string) => void;
  onClose: () => void;
}
