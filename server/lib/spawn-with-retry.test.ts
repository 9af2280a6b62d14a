import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { describeSpawnError, spawnWithRetry } from "./spawn-with-retry.ts";

const never = new AbortController().signal;
const faultOf = (work: Promise<unknown>) => work.then(() => null, describeSpawnError);

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
let programs = 0;

/** A program without execute permission. */
function program(): string {
  const file = folder.file(`program${++programs}`);
  writeFileSync(file, "#!/bin/sh\nexit 7\n", { mode: 0o600 });
  return file;
}

test("a process that the system cannot start now is started once it can", async () => {
  const file = program();
  const pauses: number[] = [];
  const child = await spawnWithRetry(
    () => Bun.spawn([file]),
    never,
    async (ms) => {
      pauses.push(ms);
      if (pauses.length === 2) chmodSync(file, 0o700);
    },
  );
  expect(await child.exited).toBe(7);
  expect(pauses).toHaveLength(2);
  expect(pauses[1]).toBeGreaterThanOrEqual(pauses[0]!);
});

test("starting is retried a few times, and then throws the system's reason", async () => {
  const file = program();
  let pauses = 0;
  const count = async () => void pauses++;
  expect(await faultOf(spawnWithRetry(() => Bun.spawn([file]), never, count))).toBe("EACCES");
  expect(pauses).toBe(4);
});

test("a missing program, or an aborted start, is not retried", async () => {
  const fail = () => Promise.reject(new Error("It was waited for."));
  expect(await faultOf(spawnWithRetry(() => Bun.spawn(["/no/such/program"]), never, fail))).toBe("ENOENT");
  const leaving = new AbortController();
  const left = spawnWithRetry(
    () => Bun.spawn([program()]),
    leaving.signal,
    async () => leaving.abort(new Error("left")),
  );
  await expect(left).rejects.toThrow("left");
});
