import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFailpoint } from "./failpoint.ts";

const passing = `
  const { failpoint } = await import(${JSON.stringify(`${import.meta.dir}/failpoint.ts`)});
  for (const name of ["here", "there", "here", "there", "here"]) {
    console.log(name);
    failpoint?.(name);
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  console.log("end");
`;

const pass = (setting: string) => run(passing, setting);

async function run(program: string, setting: string) {
  const env = { ...process.env, RUNNEL_FAILPOINT: setting };
  const child = Bun.spawn([process.execPath, "-e", program], { env, stdout: "pipe", stderr: "ignore" });
  const said = (await new Response(child.stdout).text()).trim().split("\n");
  await child.exited;
  return { said, code: child.exitCode, signal: child.signalCode };
}

describe("a failpoint", () => {
  test("does not exist unless configured", () => {
    expect(createFailpoint(undefined)).toBeNull();
    expect(createFailpoint("")).toBeNull();
  });

  test("ends the process at once and silently, at the configured pass", async () => {
    expect(await pass("here")).toMatchObject({ said: ["here"], signal: "SIGKILL" });
    expect(await pass("here:2")).toMatchObject({ said: ["here", "there", "here"], signal: "SIGKILL" });
    expect(await pass("here:4")).toMatchObject({ said: expect.arrayContaining(["end"]), code: 0, signal: null });
  });

  test("in a worker ends the process after the main thread has finished its current work", async () => {
    const folder = mkdtempSync(join(tmpdir(), "runnel-failpoint-"));
    const [worker, busy, reached] = ["worker.ts", "busy", "reached"].map((name) => JSON.stringify(join(folder, name)));
    writeFileSync(
      join(folder, "worker.ts"),
      `
      const { existsSync, writeFileSync } = await import("node:fs");
      const { failpoint } = await import(${JSON.stringify(`${import.meta.dir}/failpoint.ts`)});
      while (!existsSync(${busy})) Bun.sleepSync(1);
      console.log("there");
      writeFileSync(${reached}, "");
      failpoint?.("there");
      console.log("beyond");`,
    );
    // The main thread is busy until after the worker has reached it.
    const main = `
      const { existsSync, writeFileSync } = await import("node:fs");
      await import(${JSON.stringify(`${import.meta.dir}/failpoint.ts`)});
      new Worker(${worker});
      setTimeout(() => {
        writeFileSync(${busy}, "");
        while (!existsSync(${reached})) Bun.sleepSync(1);
        Bun.sleepSync(300); // The worker is at its failpoint meanwhile.
        console.log("done");
      }, 0);
    `;
    const { said, signal } = await run(main, "there");
    expect([said, signal]).toEqual([["there", "done"], "SIGKILL"]);
    rmSync(folder, { recursive: true });
  });

  test.each(["throw", "reject", "exit"])("can instead end its thread by %s", async (action) => {
    const { code, signal } = await pass(`there:2:${action}`);
    expect([signal, code]).toEqual([null, action === "exit" ? 7 : 1]);
  });

  test.each(["here:0", "here:x", "here:1:burn", "two words", ":1"])(
    "with an invalid setting is refused: %s",
    (setting) => {
      expect(() => createFailpoint(setting)).toThrow("RUNNEL_FAILPOINT is <name>[:N]");
    },
  );
});
