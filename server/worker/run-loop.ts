import { type Command, decide } from "../core/decide.ts";
import { apply, fold } from "../core/run-state.ts";
import { callModel } from "./call-model.ts";
import { compact } from "./compact.ts";
import { followUp, withFollowUp } from "./follow-up.ts";
import { judgePending } from "./judge-pending.ts";
import type { RunStart } from "./messages.ts";
import { prepare } from "./prepare.ts";
import { runTools } from "./run-tools.ts";
import type { Ports, Turn } from "./turn.ts";
import { unjudged } from "./unjudged.ts";

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
    const command = decide(state);
    const ready = followUp(state, start.agent, ports.now());
    if (command.do === "stop") return;
    if (ready.length > 0) await turn.record(...ready);
    else if (asksOutside(command) && unjudged(state, start.agent).length > 0) await judgePending(turn);
    else if (command.do === "prepare") await prepare(command.what, turn);
    else if (command.do === "call_model") await callModel(turn);
    else if (command.do === "compact") await compact(turn);
    else if (command.do === "run_tools") await runTools(command.calls, turn);
  }
}

/** Whether the input goes to somebody: its judges are asked before. */
const asksOutside = ({ do: next }: Command): boolean => next === "call_model" || next === "prepare";
