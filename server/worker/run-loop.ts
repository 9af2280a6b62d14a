import { decide } from "../core/decide.ts";
import { apply, fold } from "../core/run-state.ts";
import type { RunStart } from "./messages.ts";
import { perform } from "./perform.ts";
import type { Ports, Turn } from "./turn.ts";

/** A new run, a resumed run and a run found unfinished at boot all enter here; only `history` differs. */
export async function runLoop(start: RunStart, ports: Ports, signal: AbortSignal): Promise<void> {
  let state = fold(start.history);
  const turn: Turn = {
    state: () => state,
    // Durable first: the state follows the journal, never the other way round.
    async record(...events) {
      const { seq, at } = await ports.append(events);
      const entries = events.map((event, index) => ({ seq: seq + index, at, event }));
      state = entries.reduce(apply, state);
      return entries;
    },
    start,
    ports,
    signal,
  };
  for (;;) {
    const command = decide(state);
    if (command.do === "stop") return;
    await perform(command, turn);
  }
}
