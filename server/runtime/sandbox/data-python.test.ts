import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dataPythonFiles } from "../../../scripts/data-python-files.ts";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { filesInOrder } from "../../testing/files-in-order.ts";
import { hostileFaults } from "../../testing/hostile-faults.ts";
import { hostilePython, someOf } from "../../testing/hostile-python.ts";
import { childLanguageOf, importsPackage } from "./child-language.ts";
import { performWithRestart, startChild } from "./child-process.ts";
import type { Program } from "./program.ts";
import { programTask } from "./program-task.ts";
import { createSandbox } from "./sandbox.ts";

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 1, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(async () => {
  await pythonFiles();
  if ((await dataPythonFiles()) === null) throw new Error("Python's packages need python3 with venv, and PyPI.");
}, 300_000);
afterAll(() => sandbox.stop());

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
const run = (code: string, more: Partial<Program> = {}) => sandbox.run(program(code, more), never);
/** Runs in the interpreter with packages, even if the program imports none. */
const runWithPackages = (given: Program) => {
  const start = () => startChild({ language: "data-python", jailed: true });
  return performWithRestart(start, () => programTask({ ...given, language: "python" }), never);
};

describe("a Python program that imports packages", () => {
  test("reads a table, computes with it, and writes a workbook and charts", async () => {
    const sales = { name: "sales.csv", bytes: bytes("region,amount\nnorth,10\nsouth,32\nnorth,5\n") };
    const code = `
import pandas as pd, matplotlib.pyplot as plt, openpyxl

def main(args):
    table = pd.read_csv("/input/sales.csv")
    totals = table.groupby("region").amount.sum()
    totals.to_excel("totals.xlsx")
    totals.plot.bar(title="Umsätze")
    plt.savefig("totals.png")
    plt.savefig("totals.svg")
    sheet = openpyxl.load_workbook("totals.xlsx").active
    print(sheet.dimensions)
    return {"total": int(totals[args["region"]]), "mean": float(table.amount.mean())}
`;
    const { result, error, stdout, files } = await run(code, { arguments: { region: "north" }, files: [sales] });
    expect([error, result, stdout]).toEqual([null, { total: 15, mean: 47 / 3 }, "A1:B3\n"]);
    const heads = files.map(({ name, bytes }) => [name, String.fromCharCode(...bytes.subarray(0, 4))]);
    expect(heads).toEqual([
      ["totals.png", "\x89PNG"],
      ["totals.svg", "<?xm"],
      ["totals.xlsx", "PK\x03\x04"],
    ]);
  });

  test("has the results of numbers as plain JSON, also those of numpy, and tables as text", async () => {
    const code = `
import numpy as np, pandas as pd
[np.int64(3), np.float64(0.5), np.array([[1, 2]]), pd.Series([1.5]), np.bool_(True), pd.Timestamp("2026-01-02")]`;
    const { result, error } = await run(code);
    expect([error, result]).toEqual([
      null,
      [3, 0.5, [[1, 2]], "0    1.5\ndtype: float64", true, "2026-01-02T00:00:00"],
    ]);
  });

  test("has results with missing values, dates and groups: null for what is no number, and texts as keys", async () => {
    const code = `
import numpy as np, pandas as pd
table = pd.DataFrame({"region": ["n", "s", None], "year": [2025, 2026, 2026], "amount": [1.5, float("nan"), 3],
    "day": pd.to_datetime(["2026-01-02", None, "2026-03-04"])})
{"records": table.to_dict("records"), "means": table.amount.describe()[["count", "std"]].to_dict(),
 "groups": table.groupby(["region", "year"]).amount.sum().to_dict(), "days": table.set_index("day").amount.to_dict(),
 "years": table.groupby("year").amount.sum().to_dict(), "array": np.array([[1, np.nan], [np.inf, 2]]), "none": pd.NA,
 "times": np.array(["2026-01-02", "NaT"], dtype="datetime64[ns]"), "span": np.timedelta64(90, "m"), np.int64(7): 1,
 "single": np.float32("nan")}`;
    const { result, error } = await run(code);
    expect([error, result]).toEqual([
      null,
      {
        records: [
          { region: "n", year: 2025, amount: 1.5, day: "2026-01-02T00:00:00" },
          { region: "s", year: 2026, amount: null, day: null },
          { region: null, year: 2026, amount: 3, day: "2026-03-04T00:00:00" },
        ],
        means: { count: 2, std: Math.sqrt(1.125) },
        groups: { "('n', 2025)": 1.5, "('s', 2026)": 0 },
        days: { "2026-01-02T00:00:00": 1.5, null: null, "2026-03-04T00:00:00": 3 },
        years: { 2025: 1.5, 2026: 3 },
        array: [
          [1, null],
          [null, 2],
        ],
        none: null,
        times: ["2026-01-02T00:00:00", null],
        span: "1:30:00",
        7: 1,
        single: null,
      },
    ]);
  });

  test("can wait, sleep, start an event loop in its own, and use functions that would run in threads", async () => {
    const code = `
import asyncio, time, six
async def one(): await asyncio.sleep(0.01); return 1
async def both(): return await asyncio.gather(one(), asyncio.to_thread(lambda: 7))
time.sleep(0.01)
[await both(), asyncio.run(both()), await asyncio.wait_for(one(), 5)]`;
    expect(await run(code)).toMatchObject({ result: [[1, 7], [1, 7], 1], error: null });
  });

  test("sees the same folders as one without packages, and can change only its own", async () => {
    const mounted = [{ name: "/skills/pdf/SKILL.md", bytes: bytes("# How\n") }];
    const code = `
import os, six
def refused(act):
    try: act()
    except OSError: return True
    return False
open("/mnt/data/a.txt", "w").write("made")
os.makedirs("inner/folder")
os.symlink("a.txt", "link.txt")
[os.getcwd(), os.path.realpath("/mnt/data"), open("link.txt").read(), open("/skills/pdf/SKILL.md").read(),
 sorted(os.listdir("/input")), os.path.exists("/etc/passwd"), os.path.exists("/proc"),
 *[refused(lambda path=path: open(path, "w")) for path in ("/input/x", "/input/a.csv", "/skills/pdf/SKILL.md", six.__file__)]]`;
    const { result, error, files } = await run(code, { mounted, files: [{ name: "a.csv", bytes: bytes("x") }] });
    const seen = ["/output", "/output", "made", "# How\n", ["a.csv"], false, false];
    expect([error, result]).toEqual([null, [...seen, true, true, true, true]]);
    expect(files.map(({ name }) => name)).toEqual(["a.txt"]);
  });

  test("leaves its files in the order of their names, and the first of them where they are too many", async () => {
    const { left, right } = await filesInOrder(run, "import six");
    expect(left).toEqual(right);
  });

  test("reports errors with its own lines only, and keeps its output and files", async () => {
    const { error, stdout, files } = await run(
      "import numpy\nprint('so far')\nopen('a', 'w').write('x')\nnumpy.zeros(-1)",
    );
    expect([stdout, files.map(({ name }) => name)]).toEqual(["so far\n", ["a"]]);
    expect(error?.code).toBe("code_error");
    expect(error?.message).toMatch(/line 4[\s\S]*ValueError/);
    expect(error?.message).not.toMatch(/driver|cpython/);
  });

  test("that sleeps beyond its time keeps its output and files", async () => {
    const code = "import time, six\nprint('so far')\nopen('a', 'w').write('x')\ntime.sleep(1000)";
    const { error, stdout, files } = await run(code, { timeout_ms: 20_000 });
    expect(error?.code).toBe("code_timeout");
    expect([stdout, files.map(({ name }) => name)]).toEqual(["so far\n", ["a"]]);
  });

  test("has no network, no processes and no threads", async () => {
    const code = `
import os, socket, subprocess, threading, urllib.request, six
def through(act):
    try: act()
    except Exception: return False
    return True
[through(lambda: socket.create_connection(("127.0.0.1", 80))), through(lambda: subprocess.run(["/bin/true"])),
 through(lambda: threading.Thread(target=print).start()), through(lambda: os.fork()),
 through(lambda: urllib.request.urlopen("http://127.0.0.1/")), through(lambda: os.kill(1, 9))]`;
    expect(await run(code)).toMatchObject({ result: Array(6).fill(false), error: null });
  });
});

test("hostile Python has no effect on time, memory, the answer or the system, with packages too", async () => {
  const some = someOf(hostilePython({ port: 1, parent: process.pid }), [
    "a loop that catches all",
    "a long sleep",
    "memory that is not there",
    "a large text as the result",
    "many files",
    "large files",
    "closed descriptors",
    "broken builtins",
    "what looks like an answer",
  ]);
  expect(await hostileFaults(some, runWithPackages)).toEqual([]);
});

test("the interpreter with packages is chosen by the imports of a program, and by nothing else", () => {
  const chosen = [
    "import numpy",
    "import os, pandas as pd",
    "def main(args):\n    from matplotlib import pyplot\n",
    "x = 1; import openpyxl",
    "importlib.import_module('PIL.Image')",
    "await something()\nimport  yaml",
  ];
  const others = [
    "import csv, numbers",
    "# import numpy",
    "print('numpy is missing')",
    "import numpy_like",
    "pandas = 1",
  ];
  expect(chosen.map(importsPackage)).toEqual(chosen.map(() => true));
  expect(others.map(importsPackage)).toEqual(others.map(() => false));
  expect(childLanguageOf({ language: "javascript", code: "import numpy" })).toBe("javascript");
  expect(childLanguageOf({ language: "python", code: "import numpy" })).toBe("data-python");
});
