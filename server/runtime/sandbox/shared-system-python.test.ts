import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pythonWith } from "../../../scripts/python-tool.ts";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { bytesOf, programSession, sharedFile, textsOf } from "../../testing/program-session.ts";
import type { SharedFile } from "./program.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";
import { findSystemPython } from "./system-python.ts";

// Programs that share a folder and variables in the operator's interpreter.

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(240_000);

const python = ["/usr/bin/python3", Bun.which("python3") ?? ""].find(existsSync);
if (python === undefined)
  console.warn("Not tested: shared folders of an installed CPython, because there is no python3.");
else
  describe("programs of an installed CPython", () => {
    let sandbox: Sandbox;
    const session = (start: SharedFile[] = []) => programSession(sandbox, start);
    beforeAll(async () => {
      sandbox = createSandbox({ level: () => "strict", python: await findSystemPython(python), spares: 1 });
    });
    afterAll(() => sandbox.stop());

    test("share a folder with JavaScript, and tell what they changed and removed", async () => {
      const input = { name: "in.csv", bytes: bytesOf("1,2") };
      const { run, files } = session([
        { ...sharedFile("in.csv", "1,2"), bytes: input.bytes },
        sharedFile("old", "old"),
      ]);
      const code = `
import os
os.makedirs("a/b"); open("a/b/c.txt", "w").write("ü"); os.remove("old"); open("/output/x", "w").write("x")
[os.getcwd(), os.path.realpath("/mnt/data"), os.path.realpath("/output"), sorted(os.listdir("/mnt/data")),
 open("/input/in.csv").read()]`;
      const { result, error, shared } = await run(code, { files: [input] });
      const folder = "/workspace";
      expect([error, result]).toEqual([null, [folder, folder, folder, ["a", "in.csv", "x"], "1,2"]]);
      expect(textsOf(shared!.changed)).toEqual([
        ["a/b/c.txt", "ü"],
        ["x", "x"],
      ]);
      expect([shared!.removed, shared!.dropped, shared!.notes]).toEqual([["old"], 0, []]);
      const script = "workspace.write('in.csv', workspace.text('a/b/c.txt')); workspace.names()";
      expect((await run(script, { language: "javascript" })).result).toEqual(["a/b/c.txt", "in.csv", "x"]);
      expect((await run("open('in.csv').read()")).result).toBe("ü");
      expect(files()).toContainEqual(["in.csv", "ü"]);
    });

    test("keep what does not fill the folder, and only plain files at plain paths", async () => {
      const large = session([sharedFile("kept.txt", "kept")]);
      const { shared, error } = await large.run("for i in range(36): open(f'f{i:02}', 'wb').write(bytes(10 ** 6))");
      expect([error, shared?.changed.length, shared?.dropped]).toEqual([null, 33, 3]);
      expect(shared?.notes).toEqual([
        `3 files were not kept (exceeds the folder's ${workspaceLimits.bytes} bytes): "f33", "f34", "f35".`,
      ]);
      const many = session([sharedFile("kept.txt", "kept")]);
      const made = await many.run("for i in range(2000): open(f'f{i:05}', 'w').close()");
      expect([made.error, made.shared?.changed.length, made.shared?.dropped]).toEqual([null, 499, 1501]);
      expect(many.files()).toContainEqual(["kept.txt", "kept"]);
      const odd = session([sharedFile("in.txt", "in"), sharedFile("gone.txt", "gone")]);
      const left = await odd.run(`
import os
os.symlink("/usr", "link"); os.symlink("/nowhere", "dangling"); os.symlink(".", "circle")
os.remove("gone.txt"); os.symlink("/etc", "gone.txt")
os.makedirs("/".join(["d"] * 40)); open("/".join(["d"] * 40) + "/deep", "w").write("deep")
open(b"a\\xff", "w").write("not UTF-8"); open("a\\\\b", "w").write("x"); open("new\\nline", "w").write("x")
open("secret", "w").write("secret"); os.chmod("secret", 0); os.mkdir("shut"); open("shut/f", "w").write("f")
os.chmod("shut", 0); open("CON", "w").write("con"); open("ok ü.txt", "w").write("ok")`);
      expect([left.error, left.shared?.removed]).toEqual([null, ["gone.txt"]]);
      expect(left.shared?.dropped).toBe(8);
      const names = odd.files().map(([name]) => name);
      expect(names.sort()).toEqual(["CON", "in.txt", "ok ü.txt", "secret", "shut/f"]);
    });

    test("leave their variables to the next program, and name those that they cannot", async () => {
      const { run } = session();
      const first = await run(`
import math, dataclasses
counter = 0; x = [1]; y = x; numbers = (n for n in x)
def count():
    global counter
    counter += 1
    return counter
@dataclasses.dataclass
class Point:
    x: int
    def far(self): return math.hypot(self.x, counter)
p = Point(3)`);
      expect([first.error, first.shared?.lost]).toEqual([null, ["numbers"]]);
      const { result, error } = await run("x.append(2); counter = 3\n[y, count(), counter, p.far(), p == Point(3)]");
      expect([error, result]).toEqual([null, [[1, 2], 4, 4, 5, true]]);
      const failed = await run("z = 1\nraise SystemExit('no')");
      expect([failed.error?.message, (await run("[z, counter]")).result]).toEqual(["SystemExit: no", [1, 4]]);
    });

    test("whose variables break the interpreter do not start, and those of another one are read as far as they can be", async () => {
      const { run } = session();
      await run("import os\nclass Bomb:\n    def __reduce__(self): return (os._exit, (3,))\nbomb = Bomb()");
      expect(await run("1")).toMatchObject({ unstarted: true });
      const plain = '2 emscripten 3.14\n["rows", "f"]\n';
      // A pickle of `(4, {"rows": [1, 2]})`.
      const pickle = Buffer.from("gASVFwAAAAAAAABLBH2UjARyb3dzlF2UKEsBSwJlc4aULg==", "base64");
      const variables = new Uint8Array(Buffer.concat([Buffer.from(`${plain}${pickle.length}\n`), pickle]));
      const { result, shared } = await run("rows", { shared: { files: [], saves_variables: true, variables } });
      expect(result).toEqual([1, 2]);
      expect(shared?.notes.join()).toContain("These are lost: f.");
      expect(shared?.lost).toEqual(["f"]);
    });

    test("that are interrupted keep their files and variables, and the folder is as it was if they are killed", async () => {
      const { run, files } = session([sharedFile("a", "a")]);
      const interrupted = await withEnoughTime(1000, async (timeout_ms) => {
        const ended = await run("kept = 5\nopen('c', 'w').write('c')\nprint('so far')\nwhile True: pass", {
          timeout_ms,
        });
        return ended.stdout && ended.shared ? ended : null;
      });
      expect(interrupted.error?.code).toBe("code_timeout");
      const killed = await run("kept = 6\nopen('b', 'w').write('b')\nimport os\nos._exit(1)");
      expect([killed.error?.code, killed.shared]).toEqual(["code_error", undefined]);
      expect(files().sort()).toEqual([
        ["a", "a"],
        ["c", "c"],
      ]);
      expect((await run("kept")).result).toBe(5);
    });
  });

test("a table of pandas that an installed CPython loads from a workbook is there without an import", async () => {
  const packages = ["pandas==2.3.3", "numpy==2.2.6", "matplotlib==3.10.7", "openpyxl==3.1.5"];
  const programs = python === undefined ? null : await pythonWith("data-packages", packages, python);
  if (programs === null)
    return console.warn("Not tested: tables in an installed CPython, because PyPI or python3 is missing.");
  const sandbox = createSandbox({ level: () => "strict", python: await findSystemPython(join(programs, "python3")) });
  const { run } = programSession(sandbox);
  const more = { memory_mb: 512, timeout_ms: 60_000 };
  const made = await run(
    "import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']}).to_excel('t.xlsx', index=False)",
    more,
  );
  expect(made.error).toBeNull();
  expect((await run("import pandas as pd\ndf = pd.read_excel('t.xlsx')", more)).error).toBeNull();
  const { stdout, error, shared } = await run("print(df.shape)", more);
  sandbox.stop();
  expect([error, stdout, shared?.notes]).toEqual([null, "(2, 2)\n", []]);
});
