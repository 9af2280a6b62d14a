import { isAwaitingAnswer, type OpenStep, type RunState } from "./run-state.ts";

/** True if a pause is requested and no step is in progress: the run pauses before it begins another one. */
export const pausesNow = (state: RunState): boolean => state.pause !== null && state.open.every(isAtRest(state));

/** True if all that the run does is to wait for its child runs. */
export const onlyWaitsForChildren = (state: RunState): boolean =>
  state.open.length > 0 && state.open.every((step) => waitsForChild(step, state));

/** True if the open step waits for a child run, which can go on without its parent's loop. */
export const waitsForChild = ({ tool_call_id }: OpenStep, { calls }: Pick<RunState, "calls">): boolean =>
  tool_call_id !== null && calls.some(({ id, child }) => id === tool_call_id && child !== null);

/**
 * A call that was recorded after the request has not begun, unless it was started over. A model call is open only while
 * it is in progress.
 */
const isAtRest =
  (state: RunState) =>
  (step: OpenStep): boolean => {
    if (step.tool_call_id === null) return false;
    if (state.pause && step.attempt === 1 && step.anchor > state.pause.seq) return true;
    return (
      waitsForChild(step, state) || state.calls.some((call) => call.id === step.tool_call_id && isAwaitingAnswer(call))
    );
  };
