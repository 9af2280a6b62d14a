import nodeCrypto from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packFiles } from "../server/lib/file-pack.ts";
import { inProject } from "./root.ts";
import { zoneFiles } from "./time-zones.ts";

/** Modules loaded before the snapshot, because programs use them most. */
const preloaded = [
  "collections, csv, dataclasses, datetime, decimal, functools, io, itertools, json, linecache, math, pathlib, random",
  "re, sqlite3, statistics, string, textwrap, traceback, zipfile, zoneinfo",
].join(", ");

/** Modules that programs find beside the standard library: how their variables are saved. */
const ownModules = {
  cloudpickle: "server/runtime/sandbox/cloudpickle.py",
  program_variables: "server/runtime/sandbox/python-variables.py",
};

const moduleMaker = `
import sys, types
module = sys.modules[name] = types.ModuleType(name)
exec(compile(source, name + ".py", "exec"), module.__dict__)`;

/**
 * Creates the sandbox's Python files in `dist/python`, and returns that folder: the interpreter, its standard library,
 * and a memory snapshot of a started interpreter, which saves each child two seconds.
 */
export async function pythonFiles(): Promise<string> {
  const folder = inProject("dist/python");
  const recipe = recipeOf();
  const stamp = join(folder, "recipe");
  const isMade = () => existsSync(stamp) && readFileSync(stamp, "utf8") === recipe;
  if (isMade()) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    await make(making);
    writeFileSync(join(making, "recipe"), recipe);
    if (isMade()) return folder; // Two test files may begin at once, and the other's folder is in use by now.
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Runs in another process, because an interpreter cannot be stopped, and keeps its memory. */
async function make(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, folder], { stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("Python's files could not be made.");
}

/**
 * Makes the snapshot deterministic: the interpreter seeds its hashes and records times. Inside the executable, which
 * every user has, no seed is a secret; each child generates its own random numbers.
 */
function makeDeterministic(): void {
  let state = 1;
  const byte = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  Math.random = () => byte() / 256;
  Date.now = () => Date.UTC(2026, 0);
  performance.now = () => 1000;
  const fill = (view: ArrayBufferView) => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).forEach((_, at, bytes) => {
      bytes[at] = byte();
    });
    return view;
  };
  crypto.getRandomValues = fill as typeof crypto.getRandomValues;
  Object.assign(nodeCrypto, { randomFillSync: fill, randomBytes: (size: number) => fill(Buffer.alloc(size)) });
}

async function picture(folder: string): Promise<void> {
  makeDeterministic();
  const { takeSnapshot: pictureOf, startInterpreter } = await import("../server/runtime/sandbox/python-interpreter.ts");
  const source = dirname(fileURLToPath(import.meta.resolve("pyodide/package.json")));
  const [wasm, library, script] = ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide.asm.mjs"].map((name) =>
    readFileSync(join(source, name)),
  ) as [Buffer, Buffer, Buffer];
  const interpreter = await startInterpreter({ wasm, folder: source, snapshot: null });
  interpreter.runPython(`import ${preloaded}`);
  for (const [name, file] of Object.entries(ownModules))
    interpreter.runPython(moduleMaker, {
      globals: interpreter.toPy({ name, source: readFileSync(inProject(file), "utf8") }),
    });
  // Higher levels take twenty times as long for a tenth of the size.
  const level = { level: 9 };
  writeFileSync(join(folder, "snapshot.zst"), Bun.zstdCompressSync(pictureOf(interpreter), level));
  writeFileSync(join(folder, "pyodide.wasm.zst"), Bun.zstdCompressSync(wasm, level));
  writeFileSync(join(folder, "zones.zst"), Bun.zstdCompressSync(packFiles(zoneFiles()), level));
  writeFileSync(join(folder, "python_stdlib.zip"), library);
  writeFileSync(join(folder, "pyodide.asm.mjs"), script);
}

/** Returns the inputs of the files: the package's version, the interpreter's start, and the preloaded modules. */
function recipeOf(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of [
    "node_modules/pyodide/package.json",
    "server/runtime/sandbox/python-interpreter.ts",
    "server/runtime/sandbox/python-realm.ts",
    "server/lib/file-pack.ts",
    "node_modules/moment-timezone/package.json",
    ...Object.values(ownModules),
    "scripts/python-files.ts",
    "scripts/time-zones.ts",
  ])
    hash.update(readFileSync(inProject(path)));
  return hash.digest("hex");
}

const [, , target] = process.argv;
if (import.meta.main && target) {
  await picture(target);
  process.exit(0);
}
