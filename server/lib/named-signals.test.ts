import { expect, test } from "bun:test";
import { createNamedSignals } from "./named-signals.ts";

test("what lasts is ended by its name or with all, and what begins afterwards lasts again once that is said", () => {
  const all = new AbortController();
  const signals = createNamedSignals(all.signal);
  const [a, b] = [signals.signal("a"), signals.signal("b")];
  signals.end("a");
  expect([a.aborted, signals.signal("a").aborted, b.aborted]).toEqual([true, true, false]);
  signals.renew("a");
  const again = signals.signal("a");
  expect(again.aborted).toBe(false);
  all.abort();
  expect([again.aborted, b.aborted, signals.signal("c").aborted]).toEqual([true, true, true]);
});

test("what was not ended is still ended later, by its name as with all, however often it was to last again", () => {
  const all = new AbortController();
  const signals = createNamedSignals(all.signal);
  const [a, b] = [signals.signal("a"), signals.signal("b")];
  for (const name of ["a", "b"]) signals.renew(name);
  signals.end("a");
  expect(a.aborted).toBe(true);
  all.abort();
  expect(b.aborted).toBe(true);
});
