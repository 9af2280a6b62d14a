import { expect, test } from "bun:test";
import { isProcessAlive } from "./is-process-alive.ts";

test("a process is alive until it has ended", async () => {
  const child = Bun.spawn(["sleep", "60"]);
  expect([isProcessAlive(process.pid), isProcessAlive(child.pid)]).toEqual([true, true]);
  child.kill();
  await child.exited;
  expect(isProcessAlive(child.pid)).toBe(false);
});
