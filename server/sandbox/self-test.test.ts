import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { startChild } from "./child-process.ts";
import { lateProbes, probes } from "./probes.ts";
import { jailFaults, selfTest } from "./self-test.ts";

test("a child in the jail can do none of what a program could that has left its interpreter", async () => {
  expect(await jailFaults()).toEqual([]);
  expect(await selfTest()).toBe("strict");
});

test.each([
  [2, []],
  [3, [expect.stringContaining("SIGSEGV")]],
])("of children that crash %i times, the jail is judged by one that does not, or by none", async (crashes, faults) => {
  let started = 0;
  const start: typeof startChild = (options) =>
    startChild(++started > crashes ? options : { ...options, command: ["/bin/sh", "-c", "kill -SEGV $$"] });
  expect(await jailFaults({ start })).toEqual(faults);
});

// Otherwise the test above would be as green without a jail. Names are looked up only where there is a network.
test("without the jail the same child can do nearly all of it", async () => {
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
  const before = canaries(); // Of a server that another test file has started.
  await selfTest();
  expect(canaries().filter((name) => !before.includes(name))).toEqual([]);
});
