import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** Of a run that is not over, or whose trace is gone, nothing could be replayed. */
export const canBePinned = ({ status, trace_id }: Pick<Run, "status" | "trace_id">): boolean =>
  isOver(status) && trace_id !== null;
