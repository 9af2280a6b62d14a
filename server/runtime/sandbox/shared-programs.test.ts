import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { workspaceLimits } from "../../domain/workspace.ts";
import { sha256 } from "../../lib/hash.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { bounds } from "./bounds.ts";
import type { Program, ProgramFile, SharedFile, SharedFolder } from "./program.ts";
import { createSandbox } from "./sandbox.ts";

// Programs that share a folder and, in Python, their variables: each in a process of its own.

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 2, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(pythonFiles, 180_000);
afterAll(() => sandbox.stop());

const never = new AbortController().signal;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const sharedFile = ({ name, bytes }: ProgramFile): SharedFile => ({ name, bytes, sha256: sha256(bytes) });
const file = (name: string, text: string): SharedFile => sharedFile({ name, bytes: bytesOf(text) });
const texts = (files: readonly ProgramFile[]) => files.map(({ name, bytes }) => [name, textOf(bytes)]);

type More = Partial<Program> & { language?: Program["language"] };

/** Runs programs one after the other, each with the folder and the variables that the one before left. */
function session(start: SharedFile[] = []) {
  let shared: SharedFolder = { files: start, saves_variables: true, variables: null };
  const run = async (code: string, { language = "python", ...more }: More = {}) => {
    const isPython = language === "python";
    const program: Program = {
      language,
      code,
      arguments: null,
      files: [],
      timeout_ms: isPython ? 50_000 : 30_000,
      memory_mb: isPython ? 128 : 64,
      shared: { ...shared, saves_variables: isPython, variables: isPython ? shared.variables : null },
      ...more,
    };
    const outcome = await sandbox.run(program, never);
    const { changed = [], removed = [], variables } = outcome.shared ?? {};
    const names = new Set([...removed, ...changed.map(({ name }) => name)]);
    const files = [...shared.files.filter(({ name }) => !names.has(name)), ...changed.map(sharedFile)];
    shared = { ...shared, files, ...(variables !== undefined && { variables }) };
    return outcome;
  };
  return { run, variables: () => shared.variables, files: () => texts(shared.files) };
}

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
  test("debug", async () => {
    const { run, variables } = session();
    console.log(await run("import math\nx = [1]\ny = x\ndef f(): return x, math.pi\nclass A:\n    def g(self): return f()\na = A()\nx"));
    console.log(variables()?.length);
    console.log(await run("x.append(2)\nx2 = 5\n[y, f(), a.g()]"));
  });
});
