import { expect, test } from "bun:test";
import { createKeyedAbortSignals } from "./keyed-abort-signals.ts";

test("signals abort by name or together, and after a renewal new ones last again", () => {
  const all = new AbortController();
  const signals = createKeyedAbortSignals(all.signal);
  const [a, b] = [signals.signal("a"), signals.signal("b")];
  signals.end("a");
  expect([a.aborted, signals.signal("a").aborted, b.aborted]).toEqual([true, true, false]);
  signals.renew("a");
  const again = signals.signal("a");
  expect(again.aborted).toBe(false);
  all.abort();
  expect([again.aborted, b.aborted, signals.signal("c").aborted]).toEqual([true, true, true]);
});

test("a signal still aborts after a renewal, by name or together", () => {
  const all = new AbortController();
  const signals = createKeyedAbortSignals(all.signal);
  const [a, b] = [signals.signal("a"), signals.signal("b")];
  for (const name of ["a", "b"]) signals.renew(name);
  signals.end("a");
  expect(a.aborted).toBe(true);
  all.abort();
  expect(b.aborted).toBe(true);
});
