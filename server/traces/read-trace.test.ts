import { expect, test } from "bun:test";
import { answer, completed, created, entriesOf, started, text } from "../core/__fixtures__/events.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { traceOf } from "../core/trace.ts";
import type { RunFacts } from "../journal/journal.ts";
import { readTrace } from "./read-trace.ts";

const steps = Array.from({ length: 260 }, (_, i) => [
  started(i, { turn_index: i }),
  completed(i, { answer: answer([text(`${i}`)]) }),
]).flat();
const entries = entriesOf(created(), ...steps);

/** A journal that holds these, until somebody deletes them. */
function journalOf(held: readonly JournalEntry[]) {
  let gone = false;
  const journal = {
    head: () => ({ seq: held.length }) as RunFacts,
    readSome: (_: string, after: number, limit: number) => ({
      entries: gone ? [] : held.slice(after, after + limit),
      bytes: 0,
    }),
  };
  const remove = () => {
    gone = true;
  };
  return Object.assign(journal, { remove });
}

test("a long journal read in pieces is the same trace, and others have their turn between the entries", async () => {
  let turns = 0;
  const trace = await readTrace(journalOf(entries), "run_a", { raw: true, rest: async () => void turns++ });
  expect(trace).toEqual(traceOf(entries, { raw: true }));
  expect(turns).toBeGreaterThanOrEqual(entries.length);
});

test("a trace that is deleted while it is read is not there, not even in part", async () => {
  const journal = journalOf(entries);
  expect(await readTrace(journal, "run_a", { rest: async () => journal.remove() })).toBeNull();
});
