import { describe, expect, test } from "bun:test";
import { createFairQueue } from "../server/lib/fair-queue/queue.ts";
import { childStages } from "../server/runtime/sandbox/child-order.ts";
import { performWithRestart, startChild } from "../server/runtime/sandbox/child-process.ts";
import type { Program } from "../server/runtime/sandbox/program.ts";
import { programTask } from "../server/runtime/sandbox/program-task.ts";
import { hostileFaults } from "../server/testing/hostile-faults.ts";
import { hostileJavaScript } from "../server/testing/hostile-javascript.ts";
import { executable } from "./harness.ts";

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
// Without root the tests already run as an ordinary user.
const users: [string, string[], number][] =
  process.getuid?.() === 0
    ? [
        ["root", [], 1],
        ["an ordinary user", nobody, 8],
      ]
    : [["an ordinary user", [], 1]];
const order = JSON.stringify({ language: "javascript", parent: process.pid });

describe.each(users)("the executable's sandbox, as %s", (_, become, each) => {
  test("withstands each attack from within the process", async () => {
    const child = Bun.spawn([...become, executable, "sandbox-self-test"], { stdout: "pipe", env: {}, cwd: "/" });
    expect(await new Response(child.stdout).json()).toEqual([]);
    expect(await child.exited).toBe(0);
  });

  test("keeps hostile JavaScript from doing harm", async () => {
    const queue = createFairQueue({ count: 4, reserve: 0 });
    const never = new AbortController().signal;
    const command = [...become, executable, childStages.jail, order];
    const start = () => startChild({ language: "javascript", jailed: true, command });
    const run = (program: Program) =>
      queue.run("", never, () => performWithRestart(start, () => programTask(program), never));
    const programs = hostileJavaScript.filter((_, at) => at % each === 0);
    expect(await hostileFaults(programs, run)).toEqual([]);
  }, 180_000);
});
