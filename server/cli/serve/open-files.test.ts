import { expect, test } from "bun:test";
import { openFilesAdvice, openFilesMax, openFilesNeeded } from "./open-files.ts";

test("what a server may need grows with its threads and its MCP programs", () => {
  const needed = openFilesNeeded(1, 0);
  expect(needed).toBeGreaterThan(1024);
  expect(openFilesNeeded(2, 0)).toBeGreaterThan(needed);
  expect(openFilesNeeded(1, 3) - needed).toBe(4 * 3 * 4);
});

test("a limit of open files that is too low is reported with the number that is enough, and no other limit is", () => {
  expect(openFilesAdvice(200, 1189)).toContain("raise it to 2048");
  for (const max of [1189, Number.POSITIVE_INFINITY, null]) expect(openFilesAdvice(max, 1189)).toBeNull();
});

test.skipIf(process.platform !== "linux")("a process knows its own limit", async () => {
  const child = Bun.spawn(["sh", "-c", "ulimit -n 123; echo; read line"], { stdin: "pipe", stdout: "pipe" });
  await child.stdout.getReader().read();
  expect(openFilesMax(child.pid)).toBe(123);
  child.kill();
  expect(openFilesMax()).toBeGreaterThan(0);
  expect(openFilesMax(0)).toBeNull();
});
