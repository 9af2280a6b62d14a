import { expect, test } from "bun:test";
import { createLeading, whileLeading } from "./leading.ts";

const told = Object.assign(async () => new Response("told"), { preconnect: fetch.preconnect });
const at = (ms: number) => new BigInt64Array([BigInt(Date.now() + ms)]);
const late = Symbol();
/** The state of a promise after the next turn; `late` where it is pending. */
const soon = <T>(work: Promise<T>) =>
  Promise.race([work, new Promise<symbol>((resolve) => setImmediate(resolve, late))]);

test("a request waits until its node is known to lead again, and leaves at once where it does", async () => {
  const until = at(-1);
  const fetch = whileLeading(createLeading(until), told);
  const request = fetch("http://localhost/");
  expect(await soon(request)).toBe(late);
  Atomics.store(until, 0, at(60_000)[0]!);
  expect(await (await request).text()).toBe("told");
  expect(await (await fetch("http://localhost/")).text()).toBe("told");
});

test("a request that is given up waits no more", async () => {
  const abort = new AbortController();
  const request = whileLeading(createLeading(at(-1)), told)("http://localhost/", { signal: abort.signal });
  abort.abort(new Error("given up"));
  await expect(request).rejects.toThrow("given up");
});

test.each([
  ["was set back while the process stood still", { wall: 1000, mono: 20_000 }],
  ["was set back", { wall: -60_000, mono: 0 }],
  ["went on while the machine slept", { wall: 2000, mono: 0 }],
])("where the clock %s, a request waits until its node says anew that it leads", async (_, passed) => {
  const clock = { wall: 1_000_000, mono: 0 };
  const until = new BigInt64Array([BigInt(clock.wall + 3000)]);
  const leading = createLeading(until, { wall: () => clock.wall, mono: () => clock.mono });
  await leading();
  clock.wall += passed.wall;
  clock.mono += passed.mono;
  const waiting = leading();
  expect(await soon(waiting)).toBe(late);
  Atomics.store(until, 0, BigInt(clock.wall + 3000));
  await waiting;
});

test("a clock that is adjusted gradually delays nobody", async () => {
  const clock = { wall: 1_000_000, mono: 0 };
  const leading = createLeading(new BigInt64Array([BigInt(clock.wall + 100_000)]), {
    wall: () => clock.wall,
    mono: () => clock.mono,
  });
  for (let n = 0; n < 100; n++) {
    clock.wall += 900;
    clock.mono += 1000;
    await leading();
  }
});
