import { expect, test } from "bun:test";
import { silentLog } from "../lib/log.ts";
import { createLifecycle } from "./lifecycle.ts";
import type { Module } from "./module.ts";

test("the shutdown is recorded even if one module never stops, another fails to, and a third cannot record it", async () => {
  const done: string[] = [];
  const parts: Module[] = [
    { stop: async () => void done.push("stopped"), recordShutdown: async () => void done.push("noted") },
    { stop: () => new Promise(() => {}), recordShutdown: () => Promise.reject(new Error("The disk is full.")) },
    {
      stop() {
        throw new Error("No.");
      },
    },
  ];
  const ending = { end: () => {}, renew: () => {} };
  await createLifecycle(parts, { log: silentLog, ending, close: () => done.push("closed"), within_ms: 5 }).stop();
  expect(done).toEqual(["closed", "stopped", "noted"]);
});
