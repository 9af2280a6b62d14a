import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { filesInOrder } from "../../testing/files-in-order.ts";
import { hostileFaults } from "../../testing/hostile-faults.ts";
import {
  breakingPython,
  denied,
  escapedPython,
  hostilePython,
  programOfRoads,
  someOf,
} from "../../testing/hostile-python.ts";
import { childCommand } from "./child-order.ts";
import { performWithRestart, startChild } from "./child-process.ts";
import type { Program } from "./program.ts";
import { programTask } from "./program-task.ts";
import { createSandbox } from "./sandbox.ts";

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 2, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(pythonFiles, 180_000);
afterAll(() => sandbox.stop());

const never = new AbortController().signal;
const program = (code: string, more: Partial<Program> = {}): Program => ({
  language: "python",
  code,
  arguments: null,
  files: [],
  timeout_ms: 50_000,
  memory_mb: 64,
  ...more,
});
const run = (code: string, more: Partial<Program> = {}) => sandbox.run(program(code, more), never);
/** Runs in an interpreter whose gates to the JavaScript around it are open. */
const runOpen = (program: Program) => {
  const order = { language: "python", parent: process.pid, isOpen: true } as const;
  const start = () => startChild({ language: "python", jailed: true, command: childCommand("jail", order) });
  return performWithRestart(start, () => programTask({ ...program, language: "python" }), never);
};
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytes = (said: string) => new TextEncoder().encode(said);

describe("a Python program", () => {
  test("reads its files, computes, prints and writes files", async () => {
    const sales = { name: "sales.csv", bytes: bytes("region,amount\nnorth,10\nsouth,32\nnorth,5\n") };
    const code = `
import csv, sqlite3, statistics, sys

def main(args):
    rows = list(csv.DictReader(open("/input/sales.csv")))
    db = sqlite3.connect(":memory:")
    db.execute("create table sales (region text, amount int)")
    db.executemany("insert into sales (region, amount) values (:region, :amount)", rows)
    total = dict(db.execute("select region, sum(amount) from sales group by region"))
    with open("totals.csv", "w") as out:
        csv.writer(out).writerows(total.items())
    print("rows:", len(rows))
    print("mind the gap", file=sys.stderr)
    return {"total": total[args["region"]], "mean": statistics.mean(int(row["amount"]) for row in rows)}
`;
    const outcome = await run(code, { arguments: { region: "north" }, files: [sales] });
    expect(outcome).toMatchObject({ error: null, stdout: "rows: 3\n", stderr: "mind the gap\n" });
    expect(outcome.result).toEqual({ total: 15, mean: 47 / 3 });
    expect(outcome.files.map(({ name, bytes }) => [name, text(bytes)])).toEqual([
      ["totals.csv", "north,15\r\nsouth,32\r\n"],
    ]);
  });

  test("finds its files in the folders of other tools, and knows the time zones", async () => {
    const code = `
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones
import os
open("/mnt/data/a.txt", "w").write("made")
open("/output/b.txt", "w").write("made")
summer = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
[sorted(os.listdir("/mnt/data")), os.path.realpath("/mnt/data"), summer.isoformat(), len(available_timezones()) > 400]`;
    const { result, error, files } = await run(code);
    expect([error, result]).toEqual([null, [["a.txt", "b.txt"], "/output", "2026-07-01T12:00:00+02:00", true]]);
    expect(files.map(({ name }) => name).sort()).toEqual(["a.txt", "b.txt"]);
  });

  test("leaves its files in the order of their names, and the first of them where they are too many", async () => {
    const { left, right } = await filesInOrder(run);
    expect(left).toEqual(right);
  });

  test("has the same local times as the server, also long after the last known change of a zone", async () => {
    const zones =
      "Europe/Berlin America/New_York Australia/Sydney Asia/Kolkata America/St_Johns Africa/Cairo Asia/Tokyo UTC";
    const at_ms = [1971, 1985, 1999, 2010, 2020, 2025, 2045, 2090].flatMap((year) =>
      [0, 3, 6, 9].map((month) => Date.UTC(year, month, 17, 3, 30)),
    );
    const code = `
from datetime import datetime
from zoneinfo import ZoneInfo
def main(args):
    at = lambda ms, zone: datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")
    return {zone: [at(ms, zone) for ms in args["at_ms"]] for zone in args["zones"]}`;
    const { result, error } = await run(code, { arguments: { zones: zones.split(" "), at_ms } });
    const own = (timeZone: string) => {
      const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
      return at_ms.map((ms) => format.format(ms));
    };
    expect(error).toBeNull();
    expect(result).toEqual(Object.fromEntries(zones.split(" ").map((zone) => [zone, own(zone)])));
  });

  test("cannot reach the runtime by name, but can wait, sleep and create tasks", async () => {
    const code = `
import asyncio, importlib, time
def found(name):
    try: return importlib.import_module(name).__name__
    except ModuleNotFoundError: return None
async def one(): await asyncio.sleep(0.01); return 1
time.sleep(0.01)
seconds = sum(await asyncio.gather(one(), asyncio.create_task(one()), asyncio.wait_for(one(), 5)))
[[found(name) for name in ("js", "pyodide_js", "pyodide_js._api")], seconds]`;
    expect(await run(code)).toMatchObject({ result: [[null, null, null], 3], error: null });
    expect((await run("import js")).error?.message).toContain("No module named");
  });

  test("has its last expression as the result, with values unknown to JSON as text or list", async () => {
    const code = `
import asyncio, datetime, decimal
await asyncio.sleep(0)
{"a": {1}, "b": datetime.date(2024, 2, 29), "c": decimal.Decimal("0.10"), "d": (1, None, True), "e": "ü\\0"}`;
    const result = { a: [1], b: "2024-02-29", c: "0.10", d: [1, null, true], e: "ü\0" };
    expect(await run(code)).toMatchObject({ result, error: null });
  });

  test("has null for what is no number, and texts as keys, in its result", async () => {
    const code = `
import datetime, decimal
{"numbers": [float("nan"), float("inf"), -float("inf"), 0.5], ("a", 2): 1, datetime.date(2026, 1, 2): {None: True, 1.5: 2},
 frozenset(): [], "kept": {1: "a"}, "set": {float("nan")}}`;
    const { result, error } = await run(code);
    expect([error, result]).toEqual([
      null,
      {
        numbers: [null, null, null, 0.5],
        "('a', 2)": 1,
        "2026-01-02": { null: true, 1.5: 2 },
        "[]": [],
        kept: { 1: "a" },
        set: [null],
      },
    ]);
    const endless = ["a = [float('nan')]; a.append(a); a", "a = {(1, 2): 1}; a['a'] = a; a"];
    for (const code of endless) expect((await run(code)).error?.message).toContain("Circular reference detected");
    const deep = await run("a = [float('nan')]\nfor i in range(5000): a = [a]\na");
    expect(deep.error?.code).toBeOneOf(["code_error", "code_output_too_large"]);
  });

  test("gets integers of any length, and its result keeps their digits", async () => {
    const given = parseExact<Record<string, unknown>>('{"id":2512292042121000001,"of":[-9007199254740993]}');
    const { result, error } = await run("def main(args):\n    return {'next': args['id'] + 1, 'of': args['of']}", {
      arguments: given,
    });
    expect([JSON.stringify(result), error]).toEqual(['{"next":2512292042121000002,"of":[-9007199254740993]}', null]);
  });

  test("may be asynchronous", async () => {
    const code = "import asyncio\nasync def main(args):\n    await asyncio.sleep(0.01)\n    return args['x'] + 1";
    expect(await run(code, { arguments: { x: 41 } })).toMatchObject({ result: 42, error: null });
  });

  test("reports errors with its own lines only, and keeps its output and files", async () => {
    const code =
      "import json\nprint('so far')\nopen('a', 'w').write('x')\ndef parse(): return json.loads('{')\nparse()";
    const { error, stdout, files } = await run(code);
    expect(stdout).toBe("so far\n");
    expect(files.map(({ name }) => name)).toEqual(["a"]);
    expect(error?.code).toBe("code_error");
    expect(error?.message).toContain('File "program.py", line 4, in parse');
    expect(error?.message).toEndWith(
      "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    );
    expect(error?.message).not.toContain("driver.py");
    expect(error?.message).not.toContain("json/decoder.py");
  });

  test("that exceeds its time keeps its output", async () => {
    const outcome = await withEnoughTime(1000, async (timeout_ms) => {
      const ended = await run("print('so far')\nwhile True: pass", { timeout_ms });
      return ended.stdout && ended;
    });
    expect(outcome).toMatchObject({ error: { code: "code_timeout" }, stdout: "so far\n" });
  });

  test("is ended if it exceeds the interpreter's own memory limit", async () => {
    const code = `
from pyodide.ffi import to_js
to_js([1]).constructor.constructor("const all = []; for (;;) all.push(new Uint8Array(1 << 22).fill(1));")()`;
    expect(await runOpen(program(code))).toMatchObject({ error: { code: "code_out_of_memory" } });
  });

  test.each<[string, string]>([
    ["a text", "'x' * 10 ** 9"],
    [
      "an error that it made of that",
      "try:\n    bytearray(10 ** 9)\nexcept MemoryError:\n    raise ValueError('No room')",
    ],
    [
      "a group of errors",
      "import asyncio\nasync def grow(): bytearray(10 ** 9)\nasync with asyncio.TaskGroup() as group: group.create_task(grow())",
    ],
    ["a map of memory", "import mmap\nmmap.mmap(-1, 10 ** 9)"],
  ])("that exceeds its memory gets an error that says so, by %s", async (_, code) => {
    expect(await run(code)).toMatchObject({ error: { code: "code_out_of_memory" } });
  });

  test("that catches a refused allocation has its result, and one that exits has its own error", async () => {
    const caught = (then: string) => `import sys\ntry:\n    bytearray(10 ** 9)\nexcept MemoryError: ${then}\n1`;
    expect(await run(caught("pass"))).toMatchObject({ result: 1, error: null });
    expect(await run(caught("sys.exit(3)"))).toMatchObject({ error: { code: "code_error", message: "SystemExit: 3" } });
  });

  test("sees mounted files at their paths, and can change neither them nor their folders", async () => {
    const mounted = [
      { name: "/skills/pdf/scripts/add.py", bytes: bytes("def add(a, b):\n    return a + b\n") },
      { name: "/skills/pdf/SKILL.md", bytes: bytes("# How\n") },
    ];
    const code = `
import os, sys
sys.path.insert(0, "/skills/pdf/scripts")
from add import add

def refused(act):
    try:
        act()
        return False
    except OSError:
        return True

[add(2, 3), sorted(os.listdir("/skills/pdf")), open("/skills/pdf/SKILL.md").read(),
 refused(lambda: open("/skills/pdf/SKILL.md", "w")), refused(lambda: open("/skills/pdf/new", "w")),
 refused(lambda: os.remove("/skills/pdf/SKILL.md"))]`;
    const { result, error } = await run(code, { mounted });
    expect([result, error]).toEqual([[5, ["SKILL.md", "scripts"], "# How\n", true, true, true], null]);
    for (const name of ["/skills/../etc/x", "skills/a", "/skills/a\\b"])
      expect((await run("1", { mounted: [{ name, bytes: bytes("x") }] })).error).toMatchObject({
        code: "sandbox_failed",
      });
  });

  test("can use all of its memory limit", async () => {
    const code = "all = [bytearray(10 ** 6) for _ in range(900)]\nlen(all)";
    expect(await run(code, { memory_mb: 1024 })).toMatchObject({ result: 900, error: null });
  });

  test("has its own random numbers, and finds nothing of the build machine", async () => {
    const code = "import os, random, sys\n[random.random(), list(os.environ.values()), sys.executable, os.getcwd()]";
    const [one, other] = await Promise.all([run(code), run(code)]);
    const [[number, ...surroundings], [otherNumber]] = [one.result as unknown[], other.result as unknown[]];
    expect(number).not.toBe(otherNumber);
    expect(JSON.stringify(surroundings)).not.toContain(process.cwd());
  });

  test("is refused if the system does not enforce the sandbox", async () => {
    const loose = createSandbox({ level: () => "process" });
    const { error } = await loose.run(program("1"), never);
    expect(error).toMatchObject({
      code: "sandbox_failed",
      message: expect.stringMatching(/Python.*Landlock and seccomp/),
    });
  });
});

test("Python cannot reach the JavaScript around it, a library or a command by any gate", async () => {
  expect(await run(programOfRoads)).toMatchObject({ result: [], error: null });
});

test("closed gates do not restrict Python features that programs use", async () => {
  const code = `
import asyncio, ctypes, os, time, uuid
from pyodide.ffi import to_js
try: to_js([1]).constructor
except AttributeError: pass
copy = ctypes.create_string_buffer(8)
ctypes.memmove(copy, b"abc", 3)
add = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda number: number + 1)
time.sleep(0.01)
async def both(): return await asyncio.gather(asyncio.sleep(0.01, 5), asyncio.to_thread(lambda: 7))
[copy.value.decode(), add(41), await both(), asyncio.run(both()), len(os.urandom(4)), len(str(uuid.uuid4()))]`;
  const waited = [5, 7];
  expect(await run(code)).toMatchObject({ result: ["abc", 42, waited, waited, 4, 36], error: null });
});

test("hostile Python has no effect on time, memory, the answer or the system", async () => {
  let visits = 0;
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: () => void visits++, data() {} } });
  const outside = { port: listener.port, parent: process.pid };
  // The executable runs all of them in e2e/python.e2e.ts.
  const some = someOf(hostilePython(outside), [
    "a loop that catches all",
    "memory that is not there",
    "a large text as the result",
  ]);
  const run = (hostile: Program) => sandbox.run({ ...hostile, language: "python" }, never);
  expect(await hostileFaults(some, run)).toEqual([]);
  expect(await hostileFaults(someOf(escapedPython(outside), ["what the system denies"]), runOpen)).toEqual([]);
  const [noise] = someOf(breakingPython, ["noise in the answer"]);
  expect(await runOpen(program(noise?.code ?? ""))).toMatchObject({ error: { code: "sandbox_failed" } });
  expect(visits).toBe(0);
  expect(existsSync("/tmp/runnel-hostile")).toBe(false);
  listener.stop(true);
});

test("each hostile program has a unique name, and there are as many as promised", () => {
  const outside = { port: 1, parent: 1 };
  const names = [...hostilePython(outside), ...escapedPython(outside), ...breakingPython].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length + Object.keys(denied(outside)).length).toBeGreaterThanOrEqual(120);
});
