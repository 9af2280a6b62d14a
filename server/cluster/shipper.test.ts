import { expect, test } from "bun:test";
import { createShipper } from "./shipper.ts";

test("a leader that had nothing to ask for long is not stalled; one that nobody answers is, until somebody does", async () => {
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
  const ship = createShipper({
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
  const settled = ship.settled(); // It asks: the lease has run out.
  while (!ship.isStalled()) await Bun.sleep(1);
  answer(null);
  while (ship.isStalled()) {
    answer([{ head: 0 }]); // To what it asks anew.
    await Bun.sleep(1);
  }
  await settled;
  expect(ship.isStalled()).toBe(false);
  ship.stop();
});

/** A leader of an engine that answers while it is there, and what the lease that is known of has left, in ms. */
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
  const ship = createShipper({
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

/** Work that is at it until it is told to end. */
function work() {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = () => {
    begun.resolve();
    return end.promise;
  };
  return { run, begun: begun.promise, end: end.resolve };
}

test("each of several long works has a lease for itself until it ends, whichever begins or ends first", async () => {
  const { ship, stage, left } = leader(60_000);
  stage.isThere = false; // Both wait for their lease.
  const [long, short] = [work(), work()];
  const ends = [ship.longer(300_000, long.run), ship.longer(100_000, short.run)];
  stage.isThere = true;
  await Promise.all([long.begun, short.begun]);
  expect(left()).toBeGreaterThan(400_000); // One after the other they keep the thread for so long.
  short.end();
  await ends[1];
  await ship.settled();
  expect([left() > 300_000, left() <= 360_000]).toEqual([true, true]);
  long.end();
  await ends[0];
  ship.stop();
});

test("a lease that is no longer asked for is not counted on, whatever the engine answers", async () => {
  const { ship, stage, left } = leader(60_000);
  await ship.longer(300_000, async () => {
    stage.isThere = false; // It may have heard that the lease is short again, and its answer is lost.
  });
  expect(left()).toBeLessThanOrEqual(60_000);
  ship.stop();
});
