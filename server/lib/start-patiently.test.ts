import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { startFault, startPatiently } from "./start-patiently.ts";

const never = new AbortController().signal;
const faultOf = (work: Promise<unknown>) => work.then(() => null, startFault);

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
let programs = 0;

/** A program that nobody may run yet. */
function program(): string {
  const file = folder.file(`program${++programs}`);
  writeFileSync(file, "#!/bin/sh\nexit 7\n", { mode: 0o600 });
  return file;
}

test("a process that the system does not start now is started when it does", async () => {
  const file = program();
  const pauses: number[] = [];
  const child = await startPatiently(
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

test("it is asked a few times, and says then why it did not", async () => {
  const file = program();
  let pauses = 0;
  const count = async () => void pauses++;
  expect(await faultOf(startPatiently(() => Bun.spawn([file]), never, count))).toBe("EACCES");
  expect(pauses).toBe(4);
});

test("nobody waits for a program that is not there, nor for one that was given up", async () => {
  const fail = () => Promise.reject(new Error("It was waited for."));
  expect(await faultOf(startPatiently(() => Bun.spawn(["/no/such/program"]), never, fail))).toBe("ENOENT");
  const leaving = new AbortController();
  const left = startPatiently(
    () => Bun.spawn([program()]),
    leaving.signal,
    async () => leaving.abort(new Error("left")),
  );
  await expect(left).rejects.toThrow("left");
});
