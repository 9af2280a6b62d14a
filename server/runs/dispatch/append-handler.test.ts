import { expect, test } from "bun:test";
import { created, started } from "../../domain/__fixtures__/events.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import type { ToWorker } from "../../runtime/agent-loop/messages.ts";
import type { Recovery } from "../recovery/recovery.ts";
import { createAppendHandler } from "./append-handler.ts";

const head = { run_id: "run_a", project_id: "proj_a", environment: "test", status: "in_progress", seq: 1, attempt: 1 };

/** Appends of one run, whose commits fail while `fails` is true. */
function appends(callsModel = true) {
  const state = { fails: true, recorded: 0, unwritten: 0 };
  const sent: ToWorker[] = [];
  const entries: JournalEntry[] = [{ seq: 2, at: 7, event: started(0) }];
  const record: Recovery["record"] = async (runId, _events, _attempt, leave) => {
    state.recorded++;
    const undo = leave?.([[runId, entries]]);
    if (!state.fails) return entries;
    undo?.();
    throw new Error("The disk is full.");
  };
  const { append, left } = createAppendHandler({
    journal: { head: () => head as never, read: () => [] },
    recovery: { record, unwritten: () => void state.unwritten++ },
    draining: { has: () => false, rests: () => false },
    hasDayBudget: () => false,
    hold: () => {},
  });
  const events: RunEvent[] = [callsModel ? started(0) : created()];
  const thread = { separate: false, send: (order: ToWorker) => void sent.push(order), end() {} };
  return {
    state,
    left,
    /** Messages that the loop receives about an append. */
    async told(): Promise<string[]> {
      sent.length = 0;
      await append({ do: "append", run_id: "run_a", attempt: 1, ticket: 1, events }, thread);
      return sent.map((order) => order.do);
    },
  };
}

test("appends of a loop are refused after a commit that was confirmed early has failed, until it has left", async () => {
  const { state, left, told } = appends();
  expect(await told()).toEqual(["appended", "refused"]);
  expect(state).toEqual({ fails: true, recorded: 1, unwritten: 1 });
  state.fails = false;
  expect(await told()).toEqual(["refused"]);
  expect(state).toEqual({ fails: false, recorded: 1, unwritten: 1 });
  left("run_a", 2); // The loop of another attempt.
  expect(await told()).toEqual(["refused"]);
  left("run_a", 1);
  expect(await told()).toEqual(["appended"]);
});

test("only a model call is confirmed before it is durable", async () => {
  const { state, told } = appends(false);
  expect(await told()).toEqual(["refused"]);
  state.fails = false;
  expect(await told()).toEqual(["appended"]);
});
