import { decide, withFollowUp } from "../core/decide.ts";
import { apply, fold } from "../core/run-state.ts";
import { callModel } from "./call-model.ts";
import { compact } from "./compact.ts";
import { judgePending } from "./judge-pending.ts";
import type { RunStart } from "./messages.ts";
import { prepare } from "./prepare.ts";
import { runTools } from "./run-tools.ts";
import type { Ports, Turn } from "./turn.ts";

/** A new run, a resumed run and a run found unfinished at boot all enter here; only `history` differs. */
export async function runLoop(start: RunStart, ports: Ports, signal: AbortSignal): Promise<void> {
  let state = fold(start.history);
  let taken = 0;
  const turn: Turn = {
    state: () => state,
    // Durable first: the state follows the journal, never the other way round.
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
