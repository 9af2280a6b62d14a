import { expect, test } from "bun:test";
import { createProgressReader, readLog } from "./progress.ts";

test("progress that goes back, or is no number, is not progress", () => {
  const read = createProgressReader();
  const numbers = [1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1, -3, 2].map((progress) => read({ progress }));
  expect(numbers).toEqual([{ progress: 1 }, null, null, null, { progress: 1 }, null, { progress: 2 }]);
});

test("a total that is none, and a text that is empty or huge, are left out", () => {
  const read = createProgressReader();
  expect(read({ progress: 0, total: 0, message: " " })).toEqual({ progress: 0 });
  expect(read({ progress: 1, total: Number.NaN, message: "x".repeat(20_000) })).toEqual({ progress: 1 });
  expect(read({ progress: 2, total: -1, message: "a\u202Eb\u0007" })).toEqual({ progress: 2, message: "ab" });
});

test("log messages are read with their level, as text, and those for debugging are left out", () => {
  expect(readLog({ level: "warning", data: "slow" })).toEqual({ level: "warning", message: "slow" });
  expect(readLog({ level: "info", logger: "db", data: { rows: 3 } })).toEqual({
    level: "info",
    message: '{"rows":3}',
  });
  for (const params of [null, {}, { level: "debug", data: "x" }, { level: "loud", data: "x" }, { level: "info" }])
    expect(readLog(params)).toBeNull();
  expect(readLog({ level: "info", data: "x".repeat(20_000) })).toBeNull();
});
