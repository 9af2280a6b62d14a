import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type BodyReader, drainReader } from "./drain-body.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Sends some pieces and is then silent; returns whether its body is still awaited after some milliseconds. */
async function waitsFor(pieces: number, ms: number, silent_ms?: number, size = 64 * 1024): Promise<boolean> {
  const cancel = jest.fn(async () => {});
  let left = pieces;
  const reader: BodyReader = {
    read: () => (left-- > 0 ? Promise.resolve({ done: false, value: new Uint8Array(size) }) : new Promise(() => {})),
    cancel,
  };
  void drainReader(reader, silent_ms);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  jest.advanceTimersByTime(ms);
  return cancel.mock.calls.length === 0;
}

test("a client that sends nothing of a refused body gets its response after a second, also from a forwarding node", async () => {
  expect([await waitsFor(0, 900), await waitsFor(0, 1000)]).toEqual([true, false]);
  expect([await waitsFor(0, 300, 600), await waitsFor(0, 400, 600), await waitsFor(0, 0, 6000)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a client that sends the beginning of one and waits gets its response after a second, too", async () => {
  expect([await waitsFor(2, 900, 0, 1), await waitsFor(2, 1000, 0, 1)]).toEqual([true, false]);
});

test("a client that stalls in the middle of one has five seconds to continue", async () => {
  expect([await waitsFor(2, 4900), await waitsFor(2, 5000)]).toEqual([true, false]);
});
