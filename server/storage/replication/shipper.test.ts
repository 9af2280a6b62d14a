import { expect, test } from "bun:test";
import { Shipper } from "./shipper.ts";

test("a leader that was idle for long is not stalled; one without an answer from Postgres is, until an answer comes", async () => {
  let answer: (rows: { head: number }[] | null) => void = () => {};
  const engine = {
    ask: () => new Promise<{ head: number }[] | null>((resolve) => (answer = resolve)),
    attempt: async () => null,
    fault: () => null,
    reconnects: () => 0,
    close: async () => {},
  };
  const [ttl_ms, ago_ms] = [60_000, 70_000];
  const claimed_at = { mono: performance.now() - ago_ms, wall: Date.now() - ago_ms };
  const ship = new Shipper({
    engine,
    cell: "main",
    epoch: 1,
    claimed_at,
    path: "none",
    ttl_ms,
    patience_ms: 20,
    onFenced() {},
    log: { warn() {} },
  });
  expect(ship.isStalled()).toBe(false);
  const settled = ship.settled(); // It asks because the lease has expired.
  while (!ship.isStalled()) await Bun.sleep(1);
  answer(null);
  while (ship.isStalled()) {
    answer([{ head: 0 }]); // The answer to its new question.
    await Bun.sleep(1);
  }
  await settled;
  expect(ship.isStalled()).toBe(false);
  ship.stop();
});

/** Creates a leader whose Postgres answers while it is available; `left` returns the rest of the known lease in ms. */
function leader(ttl_ms: number) {
  const stage = { isThere: true };
  const engine = {
    ask: async () => (stage.isThere ? [{ head: 0 }] : null),
    attempt: async () => null,
    fault: () => null,
    reconnects: () => 0,
    close: async () => {},
  };
  const claimed_at = { mono: performance.now(), wall: Date.now() };
  const ship = new Shipper({
    engine,
    cell: "main",
    epoch: 1,
    claimed_at,
    path: "none",
    ttl_ms,
    patience_ms: 60_000,
    onFenced() {},
    log: { warn() {} },
  });
  const until = new BigInt64Array(ship.leadsUntil);
  return { ship, stage, left: () => Number(Atomics.load(until, 0)) - Date.now() };
}

/** Starts work that runs until it is ended. */
function work() {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = () => {
    begun.resolve();
    return end.promise;
  };
  return { run, begun: begun.promise, end: end.resolve };
}

test("each of several long jobs has a lease of its own until it ends, in any order of starts and ends", async () => {
  const { ship, stage, left } = leader(60_000);
  stage.isThere = false; // Both wait for their lease.
  const [long, short] = [work(), work()];
  const ends = [ship.withLongLease(300_000, long.run), ship.withLongLease(100_000, short.run)];
  stage.isThere = true;
  await Promise.all([long.begun, short.begun]);
  expect(left()).toBeGreaterThan(400_000); // One after the other they block the thread for that long.
  short.end();
  await ends[1];
  await ship.settled();
  expect([left() > 300_000, left() <= 360_000]).toEqual([true, true]);
  long.end();
  await ends[0];
  ship.stop();
});

test("a lease that is no longer requested is not relied on, whatever Postgres answers", async () => {
  const { ship, stage, left } = leader(60_000);
  await ship.withLongLease(300_000, async () => {
    stage.isThere = false; // Postgres may have shortened the lease, with the answer lost.
  });
  expect(left()).toBeLessThanOrEqual(60_000);
  ship.stop();
});
