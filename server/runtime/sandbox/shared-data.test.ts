import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dataPythonFiles } from "../../../scripts/data-python-files.ts";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { bytesOf, programSession, sharedFile, textsOf } from "../../testing/program-session.ts";
import { childLanguageOf } from "./child-language.ts";
import type { SharedFile } from "./program.ts";
import { createSandbox } from "./sandbox.ts";

// Programs that share a folder and variables in the interpreter with packages, and across both.

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(300_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 2, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(async () => {
  await pythonFiles();
  if ((await dataPythonFiles()) === null) throw new Error("Python's packages need python3 with venv, and PyPI.");
}, 300_000);
afterAll(() => sandbox.stop());

const session = (start: SharedFile[] = []) => programSession(sandbox, start);
const more = { memory_mb: 256, timeout_ms: 60_000 };

describe("programs with packages", () => {
  test("leave their variables to programs that import nothing, in the same interpreter", async () => {
    const { run, variables } = session();
    const first = await run(
      `
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3], "b": list("xyz")})
class Shape:
    def of(self, table): return table.shape
def total(): return int(df.a.sum())
rows = [1]; same = rows
df.to_excel("table.xlsx")`,
      more,
    );
    expect([first.error, first.shared?.lost, first.shared?.notes]).toEqual([null, [], []]);
    expect(variables()).not.toBeNull();
    const second = await run("same.append(2)\nprint(df.shape)\n[Shape().of(df), total(), rows, pd.__name__]", more);
    expect([second.error, second.stdout, second.shared?.notes]).toEqual([null, "(3, 2)\n", []]);
    expect(second.result).toEqual([[3, 2], 6, [1, 2], "pandas"]);
    expect((await run("1 / 0", more)).error?.message).toContain("ZeroDivisionError");
    expect((await run("df.a.tolist()", more)).result).toEqual([1, 2, 3]);
  });

  test("see the folder as others do, and tell what they changed, removed and could not keep", async () => {
    const { run, files } = session([sharedFile("in.csv", "a\n1\n"), sharedFile("old.txt", "old")]);
    const first = await run(
      `
import os, pandas as pd
table = pd.read_csv("in.csv")
os.makedirs("out/deep")
table.to_json("out/deep/t.json")
os.remove("old.txt")
os.symlink("in.csv", "link")
open("/output/x", "w").write("x"); open("in.csv", "a").write("2\\n")
[os.getcwd(), os.path.realpath("/mnt/data"), os.path.realpath("/output"), sorted(os.listdir("/workspace"))]`,
      more,
    );
    expect([first.error, first.result]).toEqual([
      null,
      ["/workspace", "/workspace", "/workspace", ["in.csv", "link", "out", "x"]],
    ]);
    expect(first.shared).toMatchObject({ removed: ["old.txt"], dropped: 1, lost: [] });
    expect(first.shared?.notes).toEqual(['1 file was not kept (is not a plain file): "link".']);
    expect(textsOf(first.shared!.changed)).toEqual([
      ["in.csv", "a\n1\n2\n"],
      ["out/deep/t.json", '{"a":{"0":1}}'],
      ["x", "x"],
    ]);
    // JavaScript and the interpreter without packages find them.
    expect((await run("workspace.text('x')", { language: "javascript" })).result).toBe("x");
    const variables = { files: [], saves_variables: true, variables: null };
    expect(childLanguageOf({ language: "python", code: "1", shared: variables })).toBe("python");
    expect(files().map(([name]) => name)).toEqual(["in.csv", "out/deep/t.json", "x"]);
  });

  test("that are ended keep their files, and the variables are those from before", async () => {
    const { run, files } = session();
    await run("import six\nkept = 5", more);
    const ended = await withEnoughTime(2000, async (timeout_ms) => {
      const outcome = await run("import time\nkept = 6\nopen('c', 'w').write('c')\nprint('so far')\ntime.sleep(1000)", {
        ...more,
        timeout_ms,
      });
      return outcome.stdout && outcome.shared ? outcome : null;
    });
    expect(ended.error?.code).toBe("code_timeout");
    expect(ended.shared?.notes.join()).toContain("from before this program");
    expect(files()).toEqual([["c", "c"]]);
    expect((await run("kept", more)).result).toBe(5);
  });

  test("name variables that cannot be saved, and the others stay", async () => {
    const { run } = session();
    const { shared, result } = await run(
      "import numpy as np\nnumbers = (n for n in [1]); kept = np.arange(3); out = open('f', 'w')\n'done'",
      more,
    );
    expect([result, shared?.lost.sort()]).toEqual(["done", ["numbers", "out"]]);
    expect((await run("kept", more)).result).toEqual([0, 1, 2]);
  });

  test("get the plain values of programs without them, and are told by name what is lost", async () => {
    const { run } = session();
    await run("import json\nrows = [{'a': 1, 'b': (2, 'x')}]; again = rows\ndef double(n): return 2 * n");
    const { result, error, shared } = await run(
      "import pandas as pd\nagain.append({'a': 2})\ndf = pd.DataFrame(rows)\ndf.shape",
      more,
    );
    expect([error, result]).toEqual([null, [2, 2]]);
    expect(shared?.notes).toEqual([
      "Variables of the earlier programs could not be restored (another version of Python saved them). These are lost: json, double.",
    ]);
    expect(shared?.lost).toEqual(["json", "double"]);
    const later = await run("[df.shape, 'double' in globals()]", more);
    expect([later.result, later.shared?.notes, later.shared?.lost]).toEqual([[[2, 2], false], [], []]);
  });
});

test("files that one interpreter writes are there for the other, in both directions", async () => {
  const alone = (files: SharedFile[]) => ({ ...more, shared: { files, saves_variables: false, variables: null } });
  const { run } = session();
  const version = "import sys\nopen('version', 'a').write('%d.%d ' % sys.version_info[:2])\nopen('version').read()";
  const first = await run(version, alone([]));
  const [written] = first.shared!.changed;
  const second = await run(`import six\n${version}`, alone([sharedFile("version", textsOf([written!])[0]![1]!)]));
  const [again] = second.shared!.changed;
  const third = await run(version, alone([sharedFile("version", textsOf([again!])[0]![1]!)]));
  expect([first.result, second.result, third.result]).toEqual(["3.14 ", "3.14 3.15 ", "3.14 3.15 3.14 "]);
});

test("variables that the interpreter with packages saved choose it, and nothing else of them is trusted", async () => {
  const languageWith = (head: string, code = "x") =>
    childLanguageOf({
      language: "python",
      code,
      shared: { files: [], saves_variables: true, variables: bytesOf(head) },
    });
  expect(languageWith("2 wasi 3.15.0\n[]\n0\n")).toBe("data-python");
  for (const head of ["2 emscripten 3.14.0\n", "2 linux 3.13.0\n", "1 3.14", "", "3 wasi "]) {
    expect(languageWith(head)).toBe("python");
  }
  const shared = { files: [], saves_variables: true, variables: bytesOf('2 wasi 0.0\n["df", 7]\n3\nbad') };
  const outcome = await session().run("x = 1\nx", { ...more, shared });
  expect(outcome).toMatchObject({ result: 1, error: null });
  expect(outcome.shared?.notes.join()).toContain("These are lost: df, 7.");
});
