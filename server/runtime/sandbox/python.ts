/// <reference path="./python-modules.d.ts" />

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { comparePaths } from "../../domain/workspace.ts";
import { workspaceFolder, workspaceLimits } from "../../domain/workspace-limits.ts";
import { pythonDir } from "../../lib/assets.ts";
import { type PackedFiles, unpackFiles } from "../../lib/file-pack.ts";
import { isShallow } from "../../lib/json-limits.ts";
import { bounds, variables_ms } from "./bounds.ts";
import { fileTaker } from "./file-taker.ts";
import { boundGrowth, outOfMemory } from "./memory-growth.ts";
import type { FolderChanges, Program, ProgramError, ProgramFile, SharedFile } from "./program.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import { type Interpreter, startInterpreter } from "./python-interpreter.ts";
import type { LoadRuntime, ProgramEnd, ProgramIo, SavedVariables } from "./runtime.ts";
import { restoredFile, savedFile, savedVariables, unsavedVariables, variablesRoom } from "./saved-variables.ts";
import { folderChanges, type LeftFile } from "./shared-folder.ts";

const [input, output] = ["/input", "/output"];
/** Folder in which programs written for other tools expect and leave files. */
const alternativeFolder = "/mnt/data";

/** The driver's answer, as JSON. */
interface DriverAnswer {
  result: string | null;
  code: ProgramError["code"] | null;
  message: string | null;
}

interface Driver {
  run(code: string, args: string | undefined, result: number, message: number): Promise<string>;
  /** Returns a note on the variables that are lost, or an empty text. */
  restore(): string;
  save(limit: number): string;
}

/**
 * Loads Python: CPython and its standard library. Needs a strict jail, because the interpreter is large, and a program
 * that breaks out of it reaches the runtime.
 */
export const loadPython = async ({ isOpen = false } = {}): ReturnType<LoadRuntime> => {
  // A rejected promise left behind by the program (or by the interpreter, looking for an optional file) must not end
  // the process.
  process.on("unhandledRejection", () => {});
  const folder = pythonDir();
  const inflated = (name: string) => Bun.zstdDecompressSync(readFileSync(join(folder, name)));
  const python = await startInterpreter({
    folder,
    wasm: inflated("pyodide.wasm.zst"),
    snapshot: inflated("snapshot.zst"),
  });
  layOutZones(python.FS, unpackFiles(inflated("zones.zst")));
  const driver = loadDriver(python);
  if (!isOpen) python.closeRealm();
  return (program, io) => runIn(python, driver, program, io);
};

function loadDriver(python: Interpreter): Driver {
  const names = python.toPy({});
  python.runPython(driverSource, { globals: names, filename: "driver.py" });
  const [run, restore, save] = ["run", "restore", "save"].map((name) => names.get(name));
  return { run, restore, save } as Driver;
}

async function runIn(python: Interpreter, driver: Driver, program: Program, io: ProgramIo): Promise<ProgramEnd> {
  const { memory } = python._module;
  // Taken now, because an interpreter that has failed no longer returns it.
  const files = python.FS;
  // A program beyond its limit gets a `MemoryError`; if it evades that, the parent kills it.
  const isRefused = boundGrowth(memory, memory.buffer.byteLength + program.memory_mb * 2 ** 20);
  layOut(files, program);
  const notes = restoreVariables(python, driver, program);
  printTo(python, io);
  io.started();
  const { result, code, message } = await endOf(python, driver, program);
  const isShort = code === "code_error" && isRefused() && !message?.startsWith("SystemExit: ");
  const end = {
    result,
    error: isShort ? outOfMemory(program.memory_mb, message ?? "") : code && { code, message: message ?? "" },
    peak_memory_mb: Math.ceil(memory.buffer.byteLength / 2 ** 20),
  };
  if (!program.shared) {
    const outputFiles = collect(files);
    return { ...end, files: outputFiles.files(), files_dropped: outputFiles.dropped() };
  }
  const shared = collectFolder(files, program.shared.files);
  return {
    ...end,
    files: [],
    files_dropped: 0,
    shared: { ...shared, notes: [...notes, ...shared.notes] },
    ...(program.shared.saves_variables && { saveVariables: () => saveVariables(python, driver, files) }),
  };
}

/** Restores the variables of earlier programs, or returns a note that they are lost. */
function restoreVariables(python: Interpreter, driver: Driver, { shared }: Program): string[] {
  if (!shared?.variables) return [];
  python.FS.writeFile(restoredFile, shared.variables);
  const stop = interruptAfter(python, variables_ms);
  try {
    const note = driver.restore();
    return note === "" ? [] : [note];
  } catch {
    // They have broken the interpreter: the server tries again without them, because the program has not started.
    process.exit(1);
  } finally {
    stop();
  }
}

function saveVariables(python: Interpreter, driver: Driver, files: Interpreter["FS"]): SavedVariables {
  const stop = interruptAfter(python, variables_ms);
  try {
    return savedVariables(driver.save(variablesRoom), () => readIfThere(files, savedFile));
  } catch {
    return unsavedVariables;
  } finally {
    stop();
  }
}

/** Returns null if there is no such file. */
function readIfThere(fs: Interpreter["FS"], path: string): Uint8Array<ArrayBuffer> | null {
  try {
    return fs.readFile(path);
  } catch {
    return null;
  }
}

/** Writes the time zones where the standard library looks for them. */
function layOutZones(fs: Interpreter["FS"], zones: PackedFiles): void {
  for (const [name, bytes] of Object.entries(zones)) {
    const path = `/usr/share/zoneinfo/${name}`;
    fs.mkdirTree(dirname(path));
    fs.writeFile(path, bytes, { canOwn: true });
  }
}

function layOut(fs: Interpreter["FS"], { files, mounted = [], shared }: Program): void {
  const folder = shared ? workspaceFolder : output;
  for (const each of [input, folder]) fs.mkdir(each);
  if (shared) layOutFolder(fs, shared.files);
  for (const { name, bytes } of files) {
    fs.writeFile(`${input}/${name}`, bytes);
    fs.chmod(`${input}/${name}`, 0o444);
  }
  fs.chmod(input, 0o555);
  layOutMounted(fs, mounted);
  fs.mkdirTree("/mnt");
  if (shared) fs.symlink(folder, output);
  fs.symlink(folder, alternativeFolder);
  fs.chdir(folder);
}

/** Writes the files of the shared folder. The interpreter may change the bytes in place. */
function layOutFolder(fs: Interpreter["FS"], files: readonly SharedFile[]): void {
  for (const { name, bytes } of files) {
    const path = `${workspaceFolder}/${name}`;
    fs.mkdirTree(dirname(path));
    fs.writeFile(path, bytes, { canOwn: true });
  }
}

/** Writes files and then makes them and their folders read-only. */
function layOutMounted(fs: Interpreter["FS"], files: readonly ProgramFile[]): void {
  const folders = new Set<string>();
  for (const { name, bytes } of files) {
    fs.mkdirTree(dirname(name));
    fs.writeFile(name, bytes);
    fs.chmod(name, 0o444);
    for (let folder = dirname(name); folder !== "/"; folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of folders) fs.chmod(folder, 0o555);
}

function printTo(python: Interpreter, io: ProgramIo): void {
  const writer = (print: (text: string) => void) => {
    const decoder = new TextDecoder();
    return {
      isatty: false,
      write(bytes: Uint8Array): number {
        print(decoder.decode(bytes, { stream: true }));
        return bytes.length;
      },
    };
  };
  python.setStdout(writer(io.stdout));
  python.setStderr(writer(io.stderr));
}

async function endOf(python: Interpreter, driver: Driver, program: Program): Promise<DriverAnswer> {
  const { code, timeout_ms } = program;
  const late = failed("code_timeout", `The program was ended after ${timeout_ms} ms.`);
  const wasInterrupted = interruptAfter(python, timeout_ms);
  const args = program.arguments === null ? undefined : JSON.stringify(program.arguments);
  const answer = await Promise.race([
    driver.run(code, args, bounds.result, bounds.message).then(readDriverAnswer).catch(interpreterFailure),
    python.failure.then(interpreterFailure),
    // A program that waits executes no instruction at which it could be interrupted.
    Bun.sleep(timeout_ms + 100).then(() => late),
  ]);
  return wasInterrupted() && answer.code !== null ? late : answer;
}

/** The interpreter failed: out of stack or memory where Python cannot catch it, or ended by the program itself. */
const interpreterFailure = (error: unknown): DriverAnswer =>
  failed("code_error", `The interpreter failed: ${String(error)}`);

const failed = (code: ProgramError["code"], message: string): DriverAnswer => ({ result: null, code, message });

function readDriverAnswer(text: string): DriverAnswer {
  const said: DriverAnswer = JSON.parse(text);
  if (said.result === null || isShallow(new TextEncoder().encode(said.result), bounds.depth)) return said;
  return failed("code_output_too_large", `The result nests deeper than ${bounds.depth}.`);
}

/** Collects regular files only, not links, and above the limits the first ones by name. */
function collect(fs: Interpreter["FS"]) {
  const taker = fileTaker();
  for (const name of namesIn(fs, output)) {
    try {
      const path = `${output}/${name}`;
      const { mode, size } = fs.lstat(path);
      if (!fs.isFile(mode) || size > bounds.output) taker.drop();
      else taker.take(name, fs.readFile(path));
    } catch {
      // The program made it unreadable, or its name is not allowed.
      taker.drop();
    }
  }
  return taker;
}

/** Entries of the folder that are looked at; the others are only counted. */
const entriesMost = 20_000;

/** Collects the regular files in the shared folder and its folders. Links and devices are not followed. */
function collectFolder(fs: Interpreter["FS"], before: readonly SharedFile[]): FolderChanges {
  const left: LeftFile[] = [];
  const refused: string[] = [];
  let uncounted = 0;
  const known = new Set(before.flatMap(({ name }) => withFolders(name)));
  const waiting = isFolder(fs, workspaceFolder) ? [""] : [];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const paths = namesIn(fs, `${workspaceFolder}/${folder}`).map((name) =>
      folder === "" ? name : `${folder}/${name}`,
    );
    // A file that was there before is looked at in any case: new ones must not push it out.
    const inOrder = [...paths.filter((path) => known.has(path)), ...paths.filter((path) => !known.has(path))];
    const room = Math.max(0, entriesMost - left.length - refused.length - waiting.length);
    uncounted += Math.max(0, paths.length - room);
    for (const path of inOrder.slice(0, room)) {
      const whole = `${workspaceFolder}/${path}`;
      try {
        const { mode, size } = fs.lstat(whole);
        if (fs.isFile(mode)) left.push({ path, size, read: () => readIfThere(fs, whole) });
        else if (!fs.isDir(mode)) refused.push(path);
        else if (path.split("/").length <= workspaceLimits.folders) waiting.push(path);
        else uncounted++;
      } catch {
        refused.push(path);
      }
    }
  }
  return folderChanges(before, left, refused, uncounted);
}

/** Returns the path and those of its folders: `a/b/c`, `a/b` and `a`. */
const withFolders = (path: string): string[] => {
  const names = path.split("/");
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
};

/** False if the program has removed the folder, or put a link in its place. */
function isFolder(fs: Interpreter["FS"], path: string): boolean {
  try {
    return fs.isDir(fs.lstat(path).mode);
  } catch {
    return false;
  }
}

/** Returns the names in order; none if the program has removed the folder. */
function namesIn(fs: Interpreter["FS"], folder: string): string[] {
  try {
    const names = fs.readdir(folder).filter((name) => name !== "." && name !== "..");
    return names.sort(comparePaths);
  } catch {
    return [];
  }
}

const SIGINT = 2;
const again_ms = 100;

/**
 * Interrupts the program at its deadline like Ctrl-C, repeatedly if it catches that. Its output and files are then
 * kept, unlike when its process is killed. The returned function stops this, and returns true if the program was
 * interrupted.
 */
function interruptAfter(python: Interpreter, timeout_ms: number): () => boolean {
  let next = performance.now() + timeout_ms;
  let interrupted = false;
  // The interpreter reads this between instructions; usually a second thread writes to it.
  const signals = {
    get 0(): number {
      if (performance.now() < next) return 0;
      next += again_ms;
      interrupted = true;
      return SIGINT;
    },
    set 0(_: number) {},
  };
  python.setInterruptBuffer(signals as unknown as Uint8Array);
  return () => {
    next = Number.POSITIVE_INFINITY;
    return interrupted;
  };
}
