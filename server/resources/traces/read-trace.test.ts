import { expect, test } from "bun:test";
import { answer, completed, created, entriesOf, started, text } from "../../domain/__fixtures__/events.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { traceOf } from "../../domain/trace.ts";
import type { RunFacts } from "../../storage/journal/journal.ts";
import { readTrace } from "./read-trace.ts";

const steps = Array.from({ length: 260 }, (_, i) => [
  started(i, { turn_index: i }),
  completed(i, { answer: answer([text(`${i}`)]) }),
]).flat();
const entries = entriesOf(created(), ...steps);

/** Creates a journal with these entries, which the test may delete. */
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

test("a long journal read in slices gives the same trace, and other work runs between the entries", async () => {
  let turns = 0;
  const trace = await readTrace(journalOf(entries), "run_a", { raw: true, rest: async () => void turns++ });
  expect(trace).toEqual(traceOf(entries, { raw: true }));
  expect(turns).toBeGreaterThanOrEqual(entries.length);
});

test("a trace that is deleted while it is read is not returned, not even in part", async () => {
  const journal = journalOf(entries);
  expect(await readTrace(journal, "run_a", { rest: async () => journal.remove() })).toBeNull();
});
