import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonWith } from "../../../scripts/python-tool.ts";
import { filesInOrder } from "../../testing/files-in-order.ts";
import { hostileFaults } from "../../testing/hostile-faults.ts";
import { hostilePython } from "../../testing/hostile-python.ts";
import { rejection } from "../../testing/rejection.ts";
import type { Program } from "./program.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";
import { systemPythonFaults } from "./self-test.ts";
import { findSystemPython, type SystemPython } from "./system-python.ts";

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(240_000);

const never = new AbortController().signal;
const bytes = (text: string) => new TextEncoder().encode(text);
const program = (code: string, more: Partial<Program> = {}): Program => ({
  language: "python",
  code,
  arguments: null,
  files: [],
  timeout_ms: 60_000,
  memory_mb: 256,
  ...more,
});

const path = ["/usr/bin/python3", Bun.which("python3") ?? ""].find(existsSync);
if (path === undefined) console.warn("Not tested: programs in an installed CPython, because there is no python3.");
else
  describe("an installed CPython", () => {
    let python: SystemPython;
    let sandbox: Sandbox;
    const run = (code: string, more: Partial<Program> = {}) => sandbox.run(program(code, more), never);
    beforeAll(async () => {
      python = await findSystemPython(path);
      sandbox = createSandbox({ level: () => "strict", python, places: { count: 2, reserve: 0 }, spares: 1 });
    });
    afterAll(() => sandbox.stop());

    test("runs programs with the folders and results of the built-in one", async () => {
      const code = `
import asyncio, decimal, os, sys
async def one(): await asyncio.sleep(0.01); return 1
async def main(args):
    print("so far", file=sys.stderr)
    open("/mnt/data/a.txt", "w").write(open("/input/given.txt").read())
    os.makedirs("folder")
    return [args["x"] + 1, await asyncio.gather(one(), one()), decimal.Decimal("0.10"), os.getcwd(),
            open("/skills/pdf/SKILL.md").read(), sys.argv]
`;
      const outcome = await run(code, {
        arguments: { x: 41 },
        files: [{ name: "given.txt", bytes: bytes("given") }],
        mounted: [{ name: "/skills/pdf/SKILL.md", bytes: bytes("# How\n") }],
      });
      expect(outcome).toMatchObject({ error: null, stderr: "so far\n", files_dropped: 1 });
      expect(outcome.result).toEqual([42, [1, 1], "0.10", "/output", "# How\n", ["program.py"]]);
      expect(outcome.files).toEqual([{ name: "a.txt", bytes: bytes("given") }]);
    });

    test("leaves its files in the order of their names, and the first of them where they are too many", async () => {
      const { left, right } = await filesInOrder(run);
      expect(left).toEqual(right);
    });

    test("has null for what is no number, and texts as keys, in its result", async () => {
      const { result, error } = await run("{'a': float('nan'), (1, 2): [float('inf')], 'b': {None: 1}}");
      expect([error, result]).toEqual([null, { a: null, "(1, 2)": [null], b: { null: 1 } }]);
    });

    test("that ends itself, crashes or takes all memory is an error of the program", async () => {
      const ends = ["import os\nos._exit(3)", "import ctypes\nctypes.string_at(0)", "bytearray(10 ** 9)"];
      const codes = await Promise.all(ends.map(async (code) => (await run(code)).error?.code));
      expect(codes).toEqual(["code_error", "code_error", "code_out_of_memory"]);
    });

    test("shows its programs nothing of the machine but its own library", async () => {
      const code = `
import os
seen = [folder for folder in ("/home", "/root", "/proc", "/sys", "/var", "/etc/passwd", "/run") if os.path.exists(folder)]
[seen, sorted(os.environ), os.uname().nodename, os.listdir("/etc")]`;
      const { result, error } = await run(code);
      expect(error).toBeNull();
      const [seen, environment, name, etc] = result as [string[], string[], string, string[]];
      expect(seen.filter((folder) => !python.readable.some((own) => own.startsWith(folder)))).toEqual([]);
      expect([name, etc]).toEqual(["sandbox", ["ld.so.cache"]]);
      expect(environment.join()).not.toMatch(/KEY|TOKEN|PATH/);
    });

    test("is held by the jail in every attack of the self-test", async () => {
      expect(await systemPythonFaults(python)).toEqual([]);
    });

    test("runs hostile programs without effect on time, memory, the answer or the system", async () => {
      let visits = 0;
      const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: () => void visits++, data() {} } });
      // It is the whole process, so that a program may end it, and C's `system` returns a status instead of an error.
      const others = ["a driver that is gone", "a library of the system", "files in a folder"];
      const hostile = hostilePython({ port: listener.port, parent: process.pid });
      const programs = hostile.map((each) => {
        if (others.includes(each.name)) return { ...each, expected: "any" as const };
        // Its folder has a size, which the program learns.
        return each.name === "a file that grows" ? { ...each, expected: { error: "code_error" as const } } : each;
      });
      expect(await hostileFaults(programs, (each) => sandbox.run({ ...each, language: "python" }, never))).toEqual([]);
      expect(visits).toBe(0);
      expect(existsSync("/tmp/runnel-hostile")).toBe(false);
      listener.stop(true);
    });
  });

test("an interpreter in an environment of its own has the packages that are installed there", async () => {
  const packages = ["pandas==2.3.3", "numpy==2.2.6", "matplotlib==3.10.7", "openpyxl==3.1.5"];
  const programs = path === undefined ? null : await pythonWith("data-packages", packages, path);
  if (programs === null) return console.warn("Not tested: installed packages, because PyPI or python3 is missing.");
  const python = await findSystemPython(join(programs, "python3"));
  expect(python.packages).toContainValues(["numpy", "pandas", "matplotlib", "openpyxl"]);
  const sandbox = createSandbox({ level: () => "strict", python });
  const code = `
import pandas as pd, matplotlib.pyplot as plt, openpyxl
table = pd.DataFrame({"region": ["north", "south", "north"], "amount": [10, 32, 5]})
totals = table.groupby("region").amount.sum()
totals.to_excel("totals.xlsx")
totals.plot.bar()
plt.savefig("totals.png")
[openpyxl.load_workbook("totals.xlsx").active.dimensions, totals["north"]]`;
  const { result, error, files } = await sandbox.run(program(code), never);
  sandbox.stop();
  expect([error, result, files.map(({ name }) => name)]).toEqual([null, ["A1:B3", 15], ["totals.png", "totals.xlsx"]]);
});

test("a file that is no usable CPython is refused with its reason", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-python-"));
  const file = join(folder, "python3");
  writeFileSync(file, "#!/bin/sh\necho 'no interpreter' >&2\nexit 3\n");
  chmodSync(file, 0o755);
  expect(String(await rejection(findSystemPython(file)))).toContain("does not run: no interpreter");
  expect(String(await rejection(findSystemPython(join(folder, "none"))))).toMatch(/ENOENT|not found/i);
  rmSync(folder, { recursive: true });
});
