import { exceededBy, saidOf } from "./budget.ts";
import type { Preparation, RunError } from "./run-event.ts";
import { isOver, ownMessages, pendingCalls, type RunState, type ToolCall, waitsForSomebody } from "./run-state.ts";

export type Command =
  | { do: "stop" }
  | { do: "prepare"; what: Preparation }
  | { do: "compact" }
  | { do: "call_model" }
  | { do: "run_tools"; calls: ToolCall[] }
  | { do: "pause"; calls: ToolCall[] }
  | { do: "complete"; output: string | null }
  | { do: "fail"; error: RunError };

/** Crashes in a row without progress after which a run is given up. */
export const stallsMax = 3;

/** What comes next, from the state alone. No clock, no I/O: every branch is one line of a table test. */
export function decide(state: RunState): Command {
  if (isOver(state.status) || state.status === "requires_action" || state.status === "queued") return { do: "stop" };
  if (state.stalls >= stallsMax)
    return fail(state, "crash_loop", `The process died ${stallsMax} times in a row while this run made no progress.`);
  if (state.blocked) return { do: "fail", error: state.blocked };
  if (state.open.some((step) => step.step_type === "compaction")) return { do: "compact" };
  if (state.model_error) return { do: "fail", error: state.model_error };
  if (state.open.some((step) => step.step_type === "model_call")) return { do: "call_model" };
  if (state.to_prepare[0]) return { do: "prepare", what: state.to_prepare[0] };
  const tooMany = tooManyCalls(state);
  if (tooMany) return fail(state, "budget_exceeded", saidOf(tooMany));
  const pending = pendingCalls(state);
  const ours = pending.filter((call) => !waitsForSomebody(call));
  if (ours.length > 0) return { do: "run_tools", calls: ours };
  if (pending.length > 0) return { do: "pause", calls: pending };
  const last = state.messages.at(-1);
  if (last?.role === "assistant") return { do: "complete", output: textOf(last.parts) };
  const max = state.run!.max_turns;
  if (state.turns >= max) return fail(state, "max_turns_exceeded", `Stopped after ${max} model calls (max_turns).`);
  return { do: "call_model" };
}

/** Model calls are looked at before each of them, with what they may cost; time is up when its deadline comes. */
export function tooManyCalls({ run, usage }: RunState) {
  const { max_tool_calls } = run?.budget ?? {};
  return max_tool_calls === undefined ? null : exceededBy({ max_tool_calls }, { usage, wall_ms: 0 });
}

const fail = (state: RunState, code: RunError["code"], message: string): Command => ({
  do: "fail",
  error: runError(code, message, state),
});

/** An error of a run, at the step that it has come to. */
export const runError = (code: RunError["code"], message: string, state: RunState, retryable = false): RunError => ({
  type: "run_error",
  code,
  message,
  step_index: state.steps > 0 ? state.steps - 1 : null,
  retryable,
});

/** What the model said to the user: its text parts, without reasoning. */
export const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The newest text, of an answer or of a given-up attempt at one: what a run that ends early keeps as its output. */
export function partialOutput(state: RunState): string | null {
  if (state.discarded !== null) return state.discarded;
  const last = ownMessages(state).findLast((message) => message.role === "assistant");
  return (last && textOf(last.parts)) || null;
}
