import { expect, test } from "bun:test";
import { createLeaseGuard, requireLease } from "./lease-guard.ts";

const told = Object.assign(async () => new Response("told"), { preconnect: fetch.preconnect });
const at = (ms: number) => new BigInt64Array([BigInt(Date.now() + ms)]);
const late = Symbol();
/** Returns a promise's result if it settles by the next turn of the event loop, or `late`. */
const soon = <T>(work: Promise<T>) =>
  Promise.race([work, new Promise<symbol>((resolve) => setImmediate(resolve, late))]);

test("a request waits until its node holds the lease again, and is sent at once if it does", async () => {
  const until = at(-1);
  const fetch = requireLease(createLeaseGuard(until), told);
  const request = fetch("http://localhost/");
  expect(await soon(request)).toBe(late);
  Atomics.store(until, 0, at(60_000)[0]!);
  expect(await (await request).text()).toBe("told");
  expect(await (await fetch("http://localhost/")).text()).toBe("told");
});

test("an aborted request stops waiting", async () => {
  const abort = new AbortController();
  const request = requireLease(createLeaseGuard(at(-1)), told)("http://localhost/", { signal: abort.signal });
  abort.abort(new Error("given up"));
  await expect(request).rejects.toThrow("given up");
});

test.each([
  ["was set back while the process stood still", { wall: 1000, mono: 20_000 }],
  ["was set back", { wall: -60_000, mono: 0 }],
  ["went on while the machine slept", { wall: 2000, mono: 0 }],
])("if the clock %s, a request waits until its node renews the lease", async (_, passed) => {
  const clock = { wall: 1_000_000, mono: 0 };
  const until = new BigInt64Array([BigInt(clock.wall + 3000)]);
  const leading = createLeaseGuard(until, { wall: () => clock.wall, mono: () => clock.mono });
  await leading();
  clock.wall += passed.wall;
  clock.mono += passed.mono;
  const waiting = leading();
  expect(await soon(waiting)).toBe(late);
  Atomics.store(until, 0, BigInt(clock.wall + 3000));
  await waiting;
});

test("a gradually adjusted clock delays no request", async () => {
  const clock = { wall: 1_000_000, mono: 0 };
  const leading = createLeaseGuard(new BigInt64Array([BigInt(clock.wall + 100_000)]), {
    wall: () => clock.wall,
    mono: () => clock.mono,
  });
  for (let n = 0; n < 100; n++) {
    clock.wall += 900;
    clock.mono += 1000;
    await leading();
  }
});
