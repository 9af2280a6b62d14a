import { decide, withFollowUp } from "../../domain/decide.ts";
import { apply, fold } from "../../domain/run-state.ts";
import { callModel } from "./call-model.ts";
import { compact } from "./compact.ts";
import { judgePending } from "./judge-pending.ts";
import type { RunStart } from "./messages.ts";
import { prepare } from "./prepare.ts";
import type { RunContext, RunPorts } from "./run-context.ts";
import { runTools } from "./run-tools.ts";

/** Drives a run until it stops: new, resumed or recovered at boot; only `history` differs. */
export async function runLoop(start: RunStart, ports: RunPorts, signal: AbortSignal): Promise<void> {
  let state = fold(start.history);
  let taken = 0;
  const turn: RunContext = {
    state: () => state,
    // Append first, then apply: the state follows the journal.
    async record(...events) {
      const all = withFollowUp(state, events, start.agent, ports.now());
      const { seq, at } = await ports.append(all);
      const entries = all.map((event, index) => ({ seq: seq + index, at, event }));
      state = entries.reduce(apply, state);
      return entries;
    },
    takeSteps(count) {
      const first = Math.max(state.steps, taken);
      taken = first + count;
      return first;
    },
    start,
    ports,
    signal,
  };
  for (;;) {
    const next = decide(state, start.agent, ports.now());
    switch (next.do) {
      case "stop":
        return;
      case "record":
        await turn.record(...next.events);
        break;
      case "judge":
        await judgePending(next.text, turn);
        break;
      case "prepare":
        await prepare(next.what, turn);
        break;
      case "call_model":
        await callModel(turn);
        break;
      case "compact":
        await compact(turn);
        break;
      case "run_tools":
        await runTools(next.calls, turn);
        break;
      default:
        return next satisfies never;
    }
  }
}
