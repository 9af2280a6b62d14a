import { expect, test } from "bun:test";
import { answer, completed, created, entriesOf, started, text } from "../../domain/__fixtures__/events.ts";
import type { RunFacts } from "../../storage/journal/journal.ts";
import { createLastTrace } from "./last-trace.ts";

const steps = (count: number) =>
  Array.from({ length: count }, (_, i) => [
    started(i, { turn_index: i }),
    completed(i, { answer: answer([text(`${i}`)]) }),
  ]).flat();

/** Creates a journal that grows, can be deleted, and counts how often it is read from its beginning. */
function growingJournal(count: number) {
  const entries = entriesOf(created(), ...steps(count));
  let [end, reads] = [entries.length, 0];
  return {
    head: () => (end === 0 ? null : ({ seq: end } as RunFacts)),
    readSome(_: string, after: number, limit: number) {
      if (after === 0) reads++;
      return { entries: entries.slice(after, Math.min(end, after + limit)), bytes: 0 };
    },
    cut: (to: number) => {
      end = to;
    },
    reads: () => reads,
  };
}

test("the pages of a long trace are read from one fold, until the run continues", async () => {
  const journal = growingJournal(300);
  const read = createLastTrace(journal);
  const first = await read("run_a");
  expect(await read("run_a")).toBe(first);
  expect(journal.reads()).toBe(1);
  expect((await read("run_a", { raw: true }))?.steps[0]?.raw).toBeArray();
  journal.cut(501);
  expect((await read("run_a"))?.steps).toHaveLength(250);
});

test("a short trace is not cached, and a deleted one is gone at once", async () => {
  const short = growingJournal(3);
  const readShort = createLastTrace(short);
  expect(await readShort("run_a")).not.toBe(await readShort("run_a"));
  const journal = growingJournal(300);
  const read = createLastTrace(journal);
  expect(await read("run_a")).not.toBeNull();
  journal.cut(0);
  expect(await read("run_a")).toBeNull();
});
