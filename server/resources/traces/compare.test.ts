import { expect, test } from "bun:test";
import { completed, created, entriesOf, started } from "../../domain/__fixtures__/events.ts";
import { limits } from "../../domain/limits.ts";
import { type Trace, traceOf } from "../../domain/trace.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { compare } from "./compare.ts";

/** Returns a trace of `count` steps with the same output. */
function traceSaying(count: number, output: unknown): Trace {
  const trace = traceOf(entriesOf(created(), started(0), completed(0)));
  const [step] = trace.steps;
  const steps = Array.from({ length: count }, (_, index) => ({ ...step!, step_index: index, output }));
  return { ...trace, steps };
}

const fields = (value: string) => Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, value]));
const [long, other] = [fields("a".repeat(5000)), fields("b".repeat(5000))];

test("a page with long differences has fewer pairs, and the next one continues there", async () => {
  const [a, b] = [traceSaying(12, long), traceSaying(12, other)];
  const seen: number[] = [];
  for (let more = true; more; ) {
    const page = await compare(a, b, { limit: 100, starting_after: seen.at(-1) ?? null }, createYielder());
    expect(page.steps.length === 1 || JSON.stringify(page).length <= limits.page_bytes).toBe(true);
    expect(page.changes.changed).toBe(12);
    seen.push(...page.steps.map(({ index }) => index));
    more = page.steps_has_more;
  }
  expect(seen).toEqual([...Array(12).keys()]);
});

test("other work runs between the pairs", async () => {
  let turns = 0;
  await compare(traceSaying(50, 1), traceSaying(40, 2), { limit: 1, starting_after: null }, async () => void turns++);
  expect(turns).toBe(50);
});
