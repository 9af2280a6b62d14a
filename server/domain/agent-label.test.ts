import { expect, test } from "bun:test";
import {
  bucketCount,
  isExactPercent,
  isLabelName,
  type LabelShare,
  percentsTogether,
  readAgentName,
  rollbackCause,
  versionAt,
} from "./agent-label.ts";

const split = (newer: number, older: number): LabelShare[] => [
  { version: 4, percent: newer },
  { version: 3, percent: older },
];
const bucketsOf = (shares: LabelShare[], version: number) =>
  Array.from({ length: bucketCount }, (_, bucket) => bucket).filter((bucket) => versionAt(shares, bucket) === version);

test("a key that has the newer version keeps it while the percent grows", () => {
  const steps = [0, 0.01, 1, 10, 33.33, 50, 99.99, 100].map((percent) => bucketsOf(split(percent, 100 - percent), 4));
  expect(steps.map(({ length }) => length)).toEqual([0, 1, 100, 1000, 3333, 5000, 9999, 10_000]);
  for (const [i, step] of steps.entries()) {
    const next = new Set(steps[i + 1] ?? step);
    expect(step.every((bucket) => next.has(bucket))).toBe(true);
  }
});

test("the order in which a request lists the versions changes nobody's version", () => {
  const [a, b] = [split(30, 70), split(30, 70).toReversed()];
  expect(bucketsOf(a, 4)).toEqual(bucketsOf(b, 4));
});

test("every key has a version, also the last one, and 0 percent is none", () => {
  expect(versionAt(split(100, 0), bucketCount - 1)).toBe(4);
  expect(versionAt(split(0, 100), 0)).toBe(3);
  expect(versionAt([{ version: 7, percent: 100 }], bucketCount - 1)).toBe(7);
});

test("percents are added without the errors of binary fractions", () => {
  for (const [a, b] of [
    [64.04, 35.96],
    [0.1, 99.9],
    [33.33, 66.67],
    [0.07, 99.93],
  ] as const) {
    expect([a, b, percentsTogether(split(a, b))]).toEqual([a, b, 100]);
    expect([isExactPercent(a), isExactPercent(b)]).toEqual([true, true]);
  }
  expect([percentsTogether(split(50, 50.01)), isExactPercent(33.333)]).toEqual([100.01, false]);
});

test("a label is never mistaken for a version, nor a version for a label", () => {
  expect(["production", "a-b_c", "2x", "-"].map(isLabelName)).toEqual([true, true, true, true]);
  expect(["3", "", "Production", "a.b", "a@b", "ä", "a b", "a".repeat(65)].filter(isLabelName)).toEqual([]);
  expect(readAgentName("desk@3")).toEqual({ name: "desk", version: 3 });
  expect(readAgentName("desk@production")).toEqual({ name: "desk", label: "production" });
  expect(readAgentName("a@b@production")).toEqual({ name: "a@b", label: "production" });
  expect(readAgentName("desk")).toEqual({ name: "desk" });
  for (const text of ["desk@", "desk@0", "desk@Prod", "desk@a b"]) expect(readAgentName(text)).toBeNull();
});

test("a rule counts only once enough runs have ended or been scored", () => {
  const rule = { failure_rate: 0.2, score: { name: "right", below: 0.5 }, min_runs: 10 };
  const record = { ended: 10, failed: 0, scored: 0, score: null };
  expect(rollbackCause(rule, { ...record, ended: 9, failed: 9 })).toBeNull();
  expect(rollbackCause(rule, { ...record, failed: 1 })).toBeNull();
  expect(rollbackCause(rule, { ...record, failed: 2 })).toBe("failure_rate");
  expect(rollbackCause(rule, { ...record, scored: 9, score: 0 })).toBeNull();
  expect(rollbackCause(rule, { ...record, scored: 10, score: 0.49 })).toBe("score");
  expect(rollbackCause(rule, { ...record, scored: 10, score: 0.5 })).toBeNull();
});
