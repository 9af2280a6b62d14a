import { expect, test } from "bun:test";
import { silentLog } from "../lib/log.ts";
import { createLifecycle } from "./lifecycle.ts";
import type { Part } from "./part.ts";

test("the end is noted though one part never stops, another fails to, and a third cannot note it", async () => {
  const done: string[] = [];
  const parts: Part[] = [
    { stop: async () => void done.push("stopped"), noteEnd: async () => void done.push("noted") },
    { stop: () => new Promise(() => {}), noteEnd: () => Promise.reject(new Error("The disk is full.")) },
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
