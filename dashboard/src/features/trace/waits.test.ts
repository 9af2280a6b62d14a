import { expect, test } from "bun:test";
import { ms, stepOf, time } from "./trace-fixtures.ts";
import { attemptLengths, waitSpans } from "./waits.ts";

const around = { recoveries: [], newest: ms(5000) };
const approval = { decision: "approve", reason: null, edited: false, at: time(4000), by: null } as const;
const open = { completed_at: null, latency_ms: null };

test("a tool with its own implementation never waits", () => {
  expect(waitSpans(stepOf(1), around)).toEqual([]);
});

test("an approved call waits until the decision and works from then on", () => {
  const step = stepOf(1, { approval, completed_at: time(4300) });
  expect(waitSpans(step, around)).toEqual([{ from: ms(1000), to: ms(4000) }]);
});

test("a client tool waits for its output from its approval, or from the start", () => {
  const client = { tool_type: "client", completed_at: time(9000) };
  expect(waitSpans(stepOf(1, client), around)).toEqual([{ from: ms(1000), to: ms(9000) }]);
  const both = waitSpans(stepOf(1, { ...client, approval }), around);
  expect(both).toEqual([
    { from: ms(1000), to: ms(4000) },
    { from: ms(4000), to: ms(9000) },
  ]);
});

test("a pending call waits without an end", () => {
  const [wait] = waitSpans(stepOf(1, { ...open, status: "waiting" }), around);
  expect(wait).toEqual({ from: ms(1000), to: Number.POSITIVE_INFINITY });
});

test("a call with an unknown outcome works until the process ended and waits since the restart", () => {
  const recoveries = [{ attempt: 2, at: time(3000), step_index: 1 }];
  const [wait] = waitSpans(stepOf(1, { ...open, status: "unknown" }), { ...around, recoveries });
  expect(wait?.from).toBe(ms(3000));
  expect(waitSpans(stepOf(1, { approval, completed_at: time(9000) }), { ...around, recoveries })).toEqual([
    { from: ms(3000), to: ms(4000) },
  ]);
});

const at = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString();
const retry = (attempt: number, ms: number, delay_ms: number) => ({
  attempt,
  at: at(ms),
  delay_ms,
  reason: null,
  usage: null,
});

test("an attempt's duration excludes earlier attempts and delays", () => {
  const retries = [retry(1, 300, 1000), retry(2, 1500, 2000), retry(3, 3600, 4000)];
  expect(attemptLengths({ started_at: at(0), retries })).toEqual([300, 200, 100]);
});

test("an attempt abandoned before its delay was over took no time", () => {
  expect(attemptLengths({ started_at: at(0), retries: [retry(1, 300, 1000), retry(2, 500, 0)] })).toEqual([300, 0]);
});
