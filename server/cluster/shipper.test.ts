import { expect, test } from "bun:test";
import { createShipper } from "./shipper.ts";

test("a leader that had nothing to ask for long is not stalled; one that nobody answers is, until somebody does", async () => {
  let answer: (rows: { head: number }[] | null) => void = () => {};
  const engine = {
    ask: () => new Promise<{ head: number }[] | null>((resolve) => (answer = resolve)),
    attempt: async () => null,
    ...{ fault: () => null, reconnects: () => 0, close: async () => {} },
  };
  const [ttl_ms, ago_ms] = [60_000, 70_000];
  const claimed_at = { mono: performance.now() - ago_ms, wall: Date.now() - ago_ms };
  const ship = createShipper({
    ...{ engine, cell: "main", epoch: 1, claimed_at, path: "none", ttl_ms, patience_ms: 20 },
    ...{ onFenced() {}, log: { warn() {} } },
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
