import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createFairQueue } from "../server/lib/fair-queue/queue.ts";
import { childStages } from "../server/runtime/sandbox/child-order.ts";
import { performWithRestart, startChild } from "../server/runtime/sandbox/child-process.ts";
import type { Program } from "../server/runtime/sandbox/program.ts";
import { programTask } from "../server/runtime/sandbox/program-task.ts";
import { hostileFaults } from "../server/testing/hostile-faults.ts";
import type { Hostile } from "../server/testing/hostile-javascript.ts";
import { breakingPython, escapedPython, hostilePython, programOfRoads } from "../server/testing/hostile-python.ts";
import { executable } from "./harness.ts";

const isRoot = process.getuid?.() === 0;
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
// Without root the tests already run as an ordinary user.
const users: [string, string[], number][] = isRoot
  ? [
      ["root", [], 1],
      ["an ordinary user", nobody, 8],
    ]
  : [["an ordinary user", [], 1]];
const orderOf = (isOpen: boolean) => JSON.stringify({ language: "python", parent: process.pid, isOpen });
const never = new AbortController().signal;

describe.each(users)("the executable's Python, as %s", (_, become, each) => {
  const pids: number[] = [];
  const runOpen = (program: Program) => run(program, { isOpen: true });
  const queue = createFairQueue({ count: 2, reserve: 0 });
  const run = (program: Program, { isOpen = false } = {}) =>
    queue.run("", never, () => {
      const command = [...become, executable, childStages.jail, orderOf(isOpen)];
      const start = () => {
        const child = startChild({ language: "python", jailed: true, command });
        pids.push(child.pid);
        return child;
      };
      return performWithRestart(start, () => programTask({ ...program, language: "python" }), never);
    });

  test("reads a table and writes a file", async () => {
    const code = `
import csv, zipfile
total = sum(int(row["amount"]) for row in csv.DictReader(open("/input/sales.csv")))
with zipfile.ZipFile("sum.zip", "w") as out:
    out.writestr("sum.txt", str(total))
total`;
    const bytes = new TextEncoder().encode("amount\n20\n22\n");
    const files = [{ name: "sales.csv", bytes }];
    const outcome = await run({
      language: "python",
      code,
      arguments: null,
      files,
      timeout_ms: 20_000,
      memory_mb: 64,
    });
    expect(outcome).toMatchObject({ result: 42, error: null, files: [{ name: "sum.zip" }] });
  });

  test("cannot reach the runtime around it", async () => {
    const outcome = await run({ ...hostileProgram, code: programOfRoads, timeout_ms: 20_000 });
    expect(outcome).toMatchObject({ result: [], error: null });
  });

  test("keeps hostile programs from doing harm", async () => {
    let visits = 0;
    const visit = () => {
      visits++;
    };
    const tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: visit, data() {} } });
    const udp = await Bun.udpSocket({ hostname: "127.0.0.1", port: tcp.port, socket: { data: visit } });
    const outside = { port: tcp.port, parent: process.pid };
    const some = (all: readonly Hostile[]) => all.filter((_, at) => at % each === 0);

    expect(await hostileFaults(some(hostilePython(outside)), (program) => run(program))).toEqual([]);
    expect(await hostileFaults(some(escapedPython(outside)), runOpen)).toEqual([]);
    // The sandbox itself reports a broken process: any response will do, if one arrives.
    await Promise.all(breakingPython.map((hostile) => runOpen({ ...hostileProgram, code: hostile.code })));

    expect(visits).toBe(0);
    expect(existsSync("/tmp/runnel-hostile")).toBe(false);
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    tcp.stop(true);
    udp.close();
  }, 300_000);
});

const hostileProgram = {
  language: "python" as const,
  arguments: null,
  files: [],
  timeout_ms: 1000,
  memory_mb: 64,
};
