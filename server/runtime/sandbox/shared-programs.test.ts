import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { bytesOf, sharedFile as file, programSession, textsOf as texts } from "../../testing/program-session.ts";
import type { SharedFile } from "./program.ts";
import { createSandbox } from "./sandbox.ts";

// Programs that share a folder and, in Python, their variables: each in a process of its own.

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 2, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(pythonFiles, 180_000);
afterAll(() => sandbox.stop());

const session = (start: SharedFile[] = []) => programSession(sandbox, start);

/** A loop inside the interpreter, at which it does not look for an interruption. */
const uninterruptible = "__import__('collections').deque(__import__('itertools').repeat(0), maxlen=0)";

describe("programs that share a folder", () => {
  test("see one another's files in both languages, with folders, and tell what they changed and removed", async () => {
    const { run, files } = session([file("in.csv", "1,2"), file("old.txt", "old")]);
    const first = await run(
      "import os\nos.makedirs('a/b')\nopen('a/b/c.txt', 'w').write('ü')\nos.remove('old.txt')\nopen('/output/x', 'w').write('x')\nsorted(os.listdir('/mnt/data'))",
    );
    expect([first.error, first.result]).toEqual([null, ["a", "in.csv", "x"]]);
    expect([texts(first.shared!.changed), first.shared!.removed]).toEqual([
      [
        ["a/b/c.txt", "ü"],
        ["x", "x"],
      ],
      ["old.txt"],
    ]);
    const second = await run(
      "workspace.write('in.csv', workspace.text('a/b/c.txt') + workspace.text('/workspace/in.csv')); workspace.remove('x'); output.write('y', 'y'); workspace.names()",
      { language: "javascript" },
    );
    expect(second).toMatchObject({ result: ["a/b/c.txt", "in.csv", "y"], error: null, files: [] });
    expect((await run("open('in.csv').read() + open('y').read()")).result).toBe("ü1,2y");
    expect(files().sort()).toEqual([
      ["a/b/c.txt", "ü"],
      ["in.csv", "ü1,2"],
      ["y", "y"],
    ]);
  });

  test("keep what does not fill the folder: above 32 MB or 500 files, the others are counted and named", async () => {
    const large = session([file("kept.txt", "kept")]);
    const { shared, error } = await large.run(
      "for i in range(36): open(f'f{i:02}', 'wb').write(bytes(10 ** 6))\nos = __import__('os'); len(os.listdir('.'))",
    );
    expect([error, shared?.changed.length, shared?.dropped]).toEqual([null, 33, 3]);
    expect(shared?.notes).toEqual([
      '3 files were not kept (exceeds the folder\'s 33554432 bytes): "f33", "f34", "f35".',
    ]);
    expect(large.files()).toContainEqual(["kept.txt", "kept"]);

    const many = session([file("kept.txt", "kept")]);
    const made = await many.run("for i in range(25_000): open(f'f{i:05}', 'w').close()");
    expect([made.error, made.shared?.changed.length, made.shared?.dropped]).toEqual([null, 499, 24_501]);
    expect(many.files()).toContainEqual(["kept.txt", "kept"]);
    const script = "try { for (let i = 0; ; i++) workspace.write('g' + i, 'x') } catch ({ message }) { message }";
    expect((await many.run(script, { language: "javascript" })).result).toBe("The workspace has 500 files.");
    const full =
      "try { for (const name of 'abcde') workspace.write(name, new Uint8Array(8e6)) } catch ({ message }) { message }";
    expect((await session().run(full, { language: "javascript" })).result).toBe(
      "The workspace is full: 33554432 bytes.",
    );
  });

  test("keep only plain files at plain paths: no links, devices, deep folders, unreadable or misnamed ones", async () => {
    const { run, files } = session([file("in.txt", "in"), file("gone.txt", "gone")]);
    const { shared, error } = await run(`
import os
os.symlink("/input", "link"); os.symlink("/nowhere", "dangling"); os.symlink(".", "circle")
os.remove("gone.txt"); os.symlink("/usr/share/zoneinfo/UTC", "gone.txt")
try: os.mkfifo("fifo")
except (OSError, AttributeError): pass
try: os.mknod("device", 0o20666, os.makedev(1, 5))
except (OSError, AttributeError): pass
os.makedirs("/".join(["d"] * 40))
open("/".join(["d"] * 40) + "/deep", "w").write("deep")
open(b"a\\xff", "w").write("not UTF-8")
open("a\\\\b", "w").write("backslash")
open("new\\nline", "w").write("control")
open("../outside", "w").write("outside")
open("secret", "w").write("secret"); os.chmod("secret", 0)
open("CON", "w").write("con"); open("ok ü.txt", "w").write("ok")`);
    expect(error).toBeNull();
    expect(shared?.removed).toEqual(["gone.txt"]);
    expect(shared?.notes.join()).toContain("were not kept");
    const names = files().map(([name]) => name);
    expect(names.filter((name) => name !== "secret").sort()).toEqual(["CON", "in.txt", "ok ü.txt"]);
    const refused = ["../a", "/a", "a/../b", "a//b", "a/.", "", "a\\b", "a\nb", "x".repeat(256), "in.txt/a", "\ud800"];
    for (const name of refused) {
      const script = `try { workspace.write(${JSON.stringify(name)}, "x"); "written" } catch (error) { "refused" }`;
      expect([name, (await run(script, { language: "javascript" })).result]).toEqual([name, "refused"]);
    }
  });

  test("leave the folder empty if they remove it or put a link in its place, and nothing else comes in", async () => {
    for (const code of ["os.rmdir('/workspace')", "os.rmdir('/workspace'); os.symlink('/usr', '/workspace')"]) {
      const { run, files } = session([file("a", "a")]);
      const { shared, error } = await run(`import os\nos.remove('a'); os.chdir('/')\n${code}`);
      expect([error, shared?.changed, shared?.removed]).toEqual([null, [], ["a"]]);
      expect(files()).toEqual([]);
    }
  });

  test("with a huge sparse file end in order, and leave no more than the folder may have", async () => {
    const { run, files } = session();
    for (const size of [10 ** 9, 10 ** 13]) {
      const { shared } = await run(
        `try:\n    open('sparse', 'wb').truncate(${size})\nexcept (OSError, MemoryError): pass`,
      );
      expect(shared?.changed.every(({ bytes }) => bytes.length <= workspaceLimits.bytes) ?? true).toBe(true);
    }
    await run("open('a', 'w').write('a')");
    expect(files()).toContainEqual(["a", "a"]);
  });

  test("keep the folder as it was if they are killed, and their files if they are interrupted", async () => {
    const { run, files } = session([file("a", "a")]);
    const killed = await withEnoughTime(1000, async (timeout_ms) => {
      const ended = await run(`open('b', 'w').write('b')\nprint('so far', flush=True)\n${uninterruptible}`, {
        timeout_ms,
      });
      return ended.stdout ? ended : null;
    });
    expect(killed).toMatchObject({ error: { code: "code_timeout" } });
    expect(killed.shared).toBeUndefined();
    const interrupted = await withEnoughTime(1000, async (timeout_ms) => {
      const ended = await run("kept = 5\nopen('c', 'w').write('c')\nprint('so far')\nwhile True: pass", { timeout_ms });
      // Killed: the machine was too busy for the end of the interpreter.
      return ended.stdout && ended.shared ? ended : null;
    });
    expect(interrupted).toMatchObject({ error: { code: "code_timeout" } });
    expect(files().sort()).toEqual([
      ["a", "a"],
      ["c", "c"],
    ]);
    expect((await run("kept")).result).toBe(5);
  });
});

describe("variables of Python", () => {
  test("stay for the next program: values, imports, functions, classes and what they share", async () => {
    const { run } = session();
    await run(`
import math, dataclasses, asyncio
from collections import Counter as Count
x = [1]; y = x; counter = 0
def count():
    global counter
    counter += 1
    return counter
def adder(n): return lambda m: n + m
add = adder(2)
@dataclasses.dataclass
class Point:
    x: int
    def far(self): return math.hypot(self.x, counter)
p = Point(3)
async def later(): return await asyncio.sleep(0, "later")
__ignored__ = 1`);
    const { result, error } = await run(`
x.append(2); counter = 3; q = Point(4)
[y, count(), counter, add(5), p.far(), isinstance(p, Point), await later(), Count("aa")["a"], p == Point(3)]`);
    expect(error).toBeNull();
    expect(result).toEqual([[1, 2], 4, 4, 7, 5, true, "later", 2, true]);
    expect((await run("[counter, q.far()]")).result).toEqual([4, Math.hypot(4, 4)]);
    const failed = await run("z = 1\ndef boom(): return 1 / 0\nraise SystemExit('no')");
    expect(failed.error?.message).toBe("SystemExit: no");
    const { error: traced } = await run("\n\nz += 1; boom()");
    expect(traced?.message).toContain('File "program_5.py", line 3');
    expect(traced?.message).toContain('File "program_4.py", line 2, in boom');
    expect((await run("z")).result).toBe(2);
  });

  test("that cannot be saved are named, and the others stay", async () => {
    const { run } = session();
    const { shared } = await run(
      "import sqlite3\ndb = sqlite3.connect(':memory:'); numbers = (n for n in [1]); kept = {1}\ndef query(): return db.execute('select 1')",
    );
    expect(shared?.lost.sort()).toEqual(["db", "numbers", "query"]);
    expect((await run("kept")).result).toEqual([1]);
    const large = await run(`small = 7\nhuge = bytearray(${workspaceLimits.variables_bytes})`);
    expect(large.shared?.lost).toEqual(["huge"]);
    expect(large.shared!.variables!.length).toBeLessThan(10_000);
    expect((await run("[small, sorted(kept)]")).result).toEqual([7, [1]]);
  });

  test("change no interpreter: neither patched builtins nor modules nor random numbers last", async () => {
    const { run } = session();
    await run(
      "import builtins, json, random, sys\nbuiltins.len = lambda _: 42\njson.dumps = lambda *_: 'patched'\nsys.path.clear()\nrandom.seed(1); draw = random.random()\nimport pickle; pickle.loads = lambda _: (1, {'x': 'patched'})",
    );
    const { result, error } = await run(
      "import json, random, statistics\n[len([1]), json.dumps([1]), random.random() == draw, pickle.loads(pickle.dumps(3))]",
    );
    expect([error, result]).toEqual([null, [1, "[1]", false, 3]]);
  });

  test("that loop while they are saved or restored are lost with a note, and the program's result is not", async () => {
    const { run, variables } = session();
    const stuck = (loop: string) => `
class Stuck:
    def __reduce__(self):
        ${loop}
stuck = Stuck()
"done"`;
    const interrupted = await run(stuck("while True: pass"));
    expect(interrupted).toMatchObject({
      result: "done",
      error: null,
      shared: { variables: null },
    });
    expect(interrupted.shared?.notes).toHaveLength(1);
    const killed = await run(stuck(uninterruptible));
    expect(killed).toMatchObject({ result: "done", error: null, shared: { variables: null } });
    expect(killed.shared?.notes).toEqual(["Its variables could not be saved in time: none is left."]);
    await run(stuck('return (exec, ("while True: pass",))'));
    expect(variables()).not.toBeNull();
    const { result, shared } = await run("after = 1\n'went on'");
    expect(result).toBe("went on");
    expect(shared?.notes.join()).toContain("could not be restored (KeyboardInterrupt");
    expect((await run("after")).result).toBe(1);
  });

  test("that break the interpreter keep the program from starting, and it says so", async () => {
    const { run } = session();
    await run("import os\nclass Bomb:\n    def __reduce__(self): return (os.abort, ())\nbomb = Bomb()");
    expect(await run("1")).toMatchObject({ unstarted: true, error: { code: "sandbox_failed" } });
    const broken = await run("import os\nclass Bomb:\n    def __reduce__(self): os.abort()\nbomb = Bomb()\n'done'", {
      shared: { files: [], saves_variables: true, variables: null },
    });
    expect(broken).toMatchObject({ result: "done", shared: { variables: null } });
    expect(broken.shared?.notes.join()).toContain("could not be saved");
  });

  test("that print while they are saved do not cost the program its result", async () => {
    const { run } = session();
    const slow = "import time\nclass Slow:\n    def __reduce__(self):\n        time.sleep(0.2)";
    const printed = `${slow}\n        print('late', flush=True)\n        return (str, ())\nslow = Slow()\n'done'`;
    expect(await run(printed)).toMatchObject({ result: "done", error: null, stdout: "" });
    expect((await run("slow")).result).toBe("");
  });

  test("that another version of Python saved, or nobody, are lost with a note", async () => {
    for (const variables of [bytesOf("1 3.99.0\nnonsense"), bytesOf(""), new Uint8Array(100)]) {
      const shared = { files: [], saves_variables: true, variables };
      const outcome = await session().run("x = 1\nx", { shared });
      expect(outcome).toMatchObject({ result: 1, error: null });
      expect(outcome.shared?.notes.join()).toContain("another version of Python saved them");
    }
    const { run } = session();
    await run("import program_variables\nx = 1\nprogram_variables.FORMAT = b'mine'");
    expect((await run("'x' in globals()")).result).toBe(false);
  });

  test("are saved after a program whose tasks and exit handlers would never end", async () => {
    const { run } = session();
    const first = await run(`
import asyncio, atexit
def forever():
    while True: pass
atexit.register(forever)
async def wait():
    while True: await asyncio.sleep(0.01)
task = asyncio.create_task(wait())
await asyncio.sleep(0.05)
x = 1`);
    expect([first.error, first.shared?.lost]).toEqual([null, ["task"]]);
    expect((await run("x")).result).toBe(1);
  });

  test("count towards the memory of the next program", async () => {
    const { run } = session();
    await run("x = bytearray(15 * 10 ** 6)", { memory_mb: 128 });
    expect((await run("len(x)", { memory_mb: 128 })).result).toBe(15e6);
    const { shared } = await run("1", { memory_mb: 4 });
    expect(shared?.notes.join()).toContain("could not be restored (MemoryError");
  });
});
