import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { startChild } from "./child-process.ts";
import { lateProbes, probes } from "./probes.ts";
import { jailFaults, selfTest } from "./self-test.ts";

test("a child in the jail can perform none of the attacks of an escaped program", async () => {
  expect(await jailFaults()).toEqual([]);
  expect(await selfTest()).toBe("strict");
});

test.each([
  [2, []],
  [3, [expect.stringContaining("SIGSEGV")]],
])("the jail is judged by a child that does not crash (%i crash before), or by none", async (crashes, faults) => {
  let started = 0;
  const start: typeof startChild = (options) =>
    startChild(++started > crashes ? options : { ...options, command: ["/bin/sh", "-c", "kill -SEGV $$"] });
  expect(await jailFaults({ start })).toEqual(faults);
});

// Proves that the attacks above would be detected. Names are looked up only if there is a network.
test("without the jail the same child can perform nearly all of them", async () => {
  const through = new Set(await jailFaults({ jailed: false }));
  const held = Object.keys({ ...probes, ...lateProbes }).filter((name) => !through.has(name));
  const rights = [
    "keep a right of root's",
    "make a network of its own",
    "talk to the kernel's machine",
    "use io_uring",
  ];
  const tracing = ["trace the parent", "read the parent's memory", "slow the parent down", "limit the parent"];
  const mayHold = [
    "look up a name",
    "ask the cloud's metadata",
    "make a raw socket",
    "learn the machine's name",
    ...rights,
    ...tracing,
  ];
  expect(held.filter((name) => !mayHold.includes(name))).toEqual([]);
  expect(through.has("take all memory")).toBe(true);
});

test("the self-test leaves nothing behind", async () => {
  const canaries = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`runnel-canary-${process.pid}-`));
  const before = canaries(); // Those of a server started by another test file.
  await selfTest();
  expect(canaries().filter((name) => !before.includes(name))).toEqual([]);
});
