import { expect, test } from "bun:test";
import { created, started } from "../core/__fixtures__/events.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import type { Order } from "../worker/messages.ts";
import { createLoopAppends } from "./loop-appends.ts";
import type { Recovery } from "./recovery.ts";

const head = { run_id: "run_a", project_id: "proj_a", environment: "test", status: "in_progress", seq: 1, attempt: 1 };

/** Appends of one run, whose commits fail as long as `fails` says so. */
function appends(callsModel = true) {
  const state = { fails: true, recorded: 0, unwritten: 0 };
  const sent: Order[] = [];
  const entries: JournalEntry[] = [{ seq: 2, at: 7, event: started(0) }];
  const record: Recovery["record"] = async (runId, _events, _attempt, leave) => {
    state.recorded++;
    const undo = leave?.([[runId, entries]]);
    if (!state.fails) return entries;
    undo?.();
    throw new Error("The disk is full.");
  };
  const { append, left } = createLoopAppends({
    journal: { head: () => head as never },
    recovery: { record, unwritten: () => void state.unwritten++ },
    parking: { has: () => false, rests: () => false },
    hasDayBudget: () => false,
    hold: () => {},
  });
  const events: RunEvent[] = [callsModel ? started(0) : created()];
  const thread = { separate: false, send: (order: Order) => void sent.push(order), end() {} };
  return {
    state,
    left,
    /** What the loop is told of an append. */
    async told(): Promise<string[]> {
      sent.length = 0;
      await append({ do: "append", run_id: "run_a", attempt: 1, ticket: 1, events }, thread);
      return sent.map((order) => order.do);
    },
  };
}

test("a loop that was told ahead of what did not commit gets nothing in any more, until it has left", async () => {
  const { state, left, told } = appends();
  expect(await told()).toEqual(["appended", "refused"]);
  expect(state).toEqual({ fails: true, recorded: 1, unwritten: 1 });
  state.fails = false;
  expect(await told()).toEqual(["refused"]);
  expect(state).toEqual({ fails: false, recorded: 1, unwritten: 1 });
  left("run_a", 2); // Another attempt's loop.
  expect(await told()).toEqual(["refused"]);
  left("run_a", 1);
  expect(await told()).toEqual(["appended"]);
});

test("only of a model call a loop is told before it is durable", async () => {
  const { state, told } = appends(false);
  expect(await told()).toEqual(["refused"]);
  state.fails = false;
  expect(await told()).toEqual(["appended"]);
});
