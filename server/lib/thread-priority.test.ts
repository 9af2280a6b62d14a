import { expect, test } from "bun:test";
import { getPriority, setPriority } from "node:os";
import { setBackgroundPriority } from "./thread-priority.ts";

test.each([
  ["the usual one is lowered", 0],
  ["a lower one stays, because only root could raise it", 15],
])("work in the background has at least a niceness of 10: %s", async (_, niceness) => {
  const child = Bun.spawn(["sleep", "60"], { stdin: "ignore", stdout: "ignore" });
  setPriority(child.pid, Math.max(niceness, getPriority()));
  const before = getPriority(child.pid);
  setBackgroundPriority(child.pid);
  expect(getPriority(child.pid)).toBe(Math.max(10, before));
  child.kill();
  await child.exited;
});

test("a process that is gone is no error", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(() => setBackgroundPriority(child.pid)).not.toThrow();
});
