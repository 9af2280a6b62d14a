import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { Outage } from "../../domain/outage.ts";
import { createCircuitBreakers } from "./circuit-breakers.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const error = { code: "model_error", message: "The model's server cannot be reached." };
const failed = (retry_after_ms: number | null = null) => ({ is: "failed", error, retry_after_ms }) as const;
const [a, b] = ["openai/a", "openai/b"];

function opened() {
  const changes: [string, Outage["state"] | null][] = [];
  const clock = { ms: Date.UTC(2026, 0, 1) };
  const connection = { identity: "1" };
  const breakers = createCircuitBreakers({
    now: () => clock.ms,
    identityOf: () => connection.identity,
    onChange: (model, outage) => changes.push([model, outage?.state ?? null]),
  });
  const pass = (ms: number) => {
    clock.ms += ms;
    jest.advanceTimersByTime(ms);
  };
  const fail = (times: number, model = a) => {
    for (let time = 0; time < times; time++) breakers.report(`run_${time}`, model, failed());
  };
  return { ...breakers, changes, pass, fail, clock, connection };
}

/** Returns the settled value, or `waits`. */
const stateOf = (promise: Promise<unknown>) => Promise.race([promise, Promise.resolve().then(() => "waits")]);

test("five failures in a row open the breaker of a model, and not that of its neighbour", async () => {
  const { fail, admit, outages, changes, hasTrouble, clock } = opened();
  expect(hasTrouble()).toBe(false);
  fail(4);
  expect([outages(), hasTrouble(), await admit("run_x", [a], 0)]).toEqual([[], true, { model: a, skipped: null }]);
  fail(1);
  const outage = { model: a, state: "open" as const, since_ms: clock.ms, error };
  expect(outages()).toEqual([outage]);
  expect(changes).toEqual([[a, "open"]]);
  expect(await admit("run_x", [a, b], 0)).toEqual({ model: b, skipped: outage });
  expect(await admit("run_x", [a], 0)).toEqual({ refused: [outage] });
});

test("failures between answers do not open it", () => {
  const { fail, report, outages, hasTrouble } = opened();
  for (let round = 0; round < 5; round++) {
    fail(4);
    report("run_y", a, { is: "answered" });
  }
  expect([outages(), hasTrouble()]).toEqual([[], false]);
});

test("a failure of ten minutes ago does not count", () => {
  const { fail, pass, outages, hasTrouble } = opened();
  fail(4);
  pass(600_001);
  expect(hasTrouble()).toBe(false);
  fail(4);
  expect(outages()).toEqual([]);
});

test("one call at a time tries whether the server is back, with growing pauses, and its answer closes the breaker for all that wait", async () => {
  const { fail, admit, report, pass, outages, changes } = opened();
  fail(5);
  const waiting = ["run_1", "run_2", "run_3"].map((id) => admit(id, [a], 30_000));
  expect(await Promise.all(waiting.map(stateOf))).toEqual(["waits", "waits", "waits"]);
  pass(1000);
  expect(await waiting[0]!).toEqual({ model: a, skipped: null });
  expect(outages()[0]?.state).toBe("half_open");
  pass(5000);
  expect(await Promise.all(waiting.slice(1).map(stateOf))).toEqual(["waits", "waits"]);
  report("run_1", a, failed());
  pass(1999);
  expect(await stateOf(waiting[1]!)).toBe("waits");
  pass(1);
  expect(await waiting[1]!).toEqual({ model: a, skipped: null });
  report("run_2", a, { is: "answering" });
  expect(await waiting[2]!).toEqual({ model: a, skipped: null });
  report("run_2", a, { is: "answered" });
  expect([outages(), changes]).toEqual([
    [],
    [
      [a, "open"],
      [a, null],
    ],
  ]);
});

test("an answer that breaks off opens it again at once", async () => {
  const { fail, admit, report, pass, outages } = opened();
  fail(5);
  pass(1000);
  await admit("run_1", [a], 0);
  report("run_1", a, { is: "answering" });
  expect(outages()).toEqual([]);
  report("run_1", a, failed());
  expect(outages()).toMatchObject([{ state: "open" }]);
});

test("a call that waits in vain is refused with the outage, but not while a probe is on its way", async () => {
  const { fail, admit, report, pass } = opened();
  fail(5);
  const [probe, late] = [admit("run_1", [a], 30_000), admit("run_2", [a], 3000)];
  pass(1000);
  await probe;
  pass(60_000);
  expect(await stateOf(late)).toBe("waits");
  report("run_1", a, failed());
  expect(await late).toMatchObject({ refused: [{ model: a, error }] });
});

test("a run that leaves takes its probe and its wait with it", async () => {
  const { fail, admit, leave, pass } = opened();
  fail(5);
  const [probe, other, third] = ["run_1", "run_2", "run_3"].map((id) => admit(id, [a], 30_000));
  pass(1000);
  await probe;
  leave("run_2");
  await expect(other!).rejects.toThrow();
  leave("run_1");
  expect(await third!).toEqual({ model: a, skipped: null });
});

test("a call that says nothing about its server, as a cancelled one, leaves the probe to the next", async () => {
  const { fail, admit, report, pass } = opened();
  fail(5);
  pass(1000);
  await admit("run_1", [a], 0);
  report("run_1", a, { is: "unknown" });
  expect(await admit("run_2", [a], 0)).toEqual({ model: a, skipped: null });
});

test("calls that wait find a server that is back within four seconds; those with another model rarely try it", async () => {
  const { fail, admit, report, pass } = opened();
  fail(5);
  for (let probe = 0; probe < 6; probe++) {
    const waits = admit(`run_${probe}`, [a], 30_000);
    pass(4000);
    expect(await waits).toEqual({ model: a, skipped: null });
    report(`run_${probe}`, a, failed());
  }
  pass(4000);
  expect(await admit("run_spare", [a, b], 0)).toMatchObject({ model: b });
  pass(60_000);
  expect(await admit("run_spare", [a, b], 0)).toMatchObject({ model: a });
});

test("a server that says when it can be asked again is not probed before", async () => {
  const { fail, admit, report, pass } = opened();
  fail(4);
  report("run_4", a, failed(60_000));
  pass(59_999);
  expect(await admit("run_1", [a], 0)).toMatchObject({ refused: [{ model: a }] });
  pass(1);
  expect(await admit("run_1", [a], 0)).toEqual({ model: a, skipped: null });
});

test("another address or key of the connection ends the outage at once: the failures were those of the one before", async () => {
  const { fail, admit, outages, changes, connection } = opened();
  fail(5);
  expect(await admit("run_x", [a], 0)).toMatchObject({ refused: [{ model: a }] });
  connection.identity = "2";
  expect(await admit("run_x", [a], 0)).toEqual({ model: a, skipped: null });
  expect([outages(), changes]).toEqual([
    [],
    [
      [a, "open"],
      [a, null],
    ],
  ]);
  fail(4);
  expect(outages()).toEqual([]);
});

test("late failures of calls that began before it opened do not lengthen the pause", async () => {
  const { fail, admit, pass } = opened();
  fail(5);
  pass(900);
  fail(20);
  pass(100);
  expect(await admit("run_x", [a], 0)).toEqual({ model: a, skipped: null });
});

test("while all models are away, a call waits for the first that may be tried", async () => {
  const { fail, admit, pass } = opened();
  fail(5, a);
  pass(500);
  fail(5, b);
  const waits = admit("run_x", [b, a], 30_000);
  pass(500);
  expect(await waits).toMatchObject({ model: a, skipped: { model: b } });
});
