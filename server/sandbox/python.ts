/// <reference path="./python-modules.d.ts" />

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pythonDir } from "../lib/assets.ts";
import { isShallow } from "../lib/json-limits.ts";
import { bounds } from "./bounds.ts";
import { fileTaker } from "./file-taker.ts";
import { boundGrowth, outOfMemory } from "./memory-growth.ts";
import type { Program, ProgramError } from "./program.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import { type Interpreter, startInterpreter } from "./python-interpreter.ts";
import type { LoadRuntime, ProgramEnd, ProgramIo } from "./runtime.ts";
import { decodeZones, type ZoneFiles } from "./time-zones.ts";

const [input, output] = ["/input", "/output"];
/** Where programs that were written for other tools leave their files. */
const elsewhere = "/mnt/data";

/** What the driver answers, as JSON. */
interface Said {
  result: string | null;
  code: ProgramError["code"] | null;
  message: string | null;
}

type Driver = (code: string, args: string | undefined, result: number, message: number) => Promise<string>;

/**
 * Python: CPython and its standard library. Only in a strict jail: the interpreter is large, and a program that breaks out
 * of it reaches the runtime around it, as one of an open interpreter does.
 */
export const loadPython = async ({ isOpen = false } = {}): ReturnType<LoadRuntime> => {
  // A promise that the program (or the interpreter, looking for a file that it does not need) leaves behind ends nothing.
  process.on("unhandledRejection", () => {});
  const folder = pythonDir();
  const inflated = (name: string) => Bun.zstdDecompressSync(readFileSync(join(folder, name)));
  const python = await startInterpreter({
    folder,
    wasm: inflated("pyodide.wasm.zst"),
    snapshot: inflated("snapshot.zst"),
  });
  layOutZones(python.FS, decodeZones(inflated("zones.zst")));
  const driver = loadDriver(python);
  if (!isOpen) python.closeRealm();
  return (program, io) => runIn(python, driver, program, io);
};

function loadDriver(python: Interpreter): Driver {
  const names = python.toPy({});
  python.runPython(driverSource, { globals: names, filename: "driver.py" });
  return names.get("run") as Driver;
}

async function runIn(python: Interpreter, driver: Driver, program: Program, io: ProgramIo): Promise<ProgramEnd> {
  const { memory } = python._module;
  // Taken now: an interpreter that has failed gives nothing away any more.
  const files = python.FS;
  // A program that grows over its limit reads of it as a `MemoryError`; one that gets around this is ended from outside.
  const isRefused = boundGrowth(memory, memory.buffer.byteLength + program.memory_mb * 2 ** 20);
  layOut(files, program);
  printTo(python, io);
  const { result, code, message } = await endOf(python, driver, program);
  const isShort = code === "code_error" && isRefused() && !message?.startsWith("SystemExit: ");
  const taken = collect(files);
  return {
    result,
    error: isShort ? outOfMemory(program.memory_mb, message ?? "") : code && { code, message: message ?? "" },
    files: taken.files(),
    files_dropped: taken.dropped(),
    peak_memory_mb: Math.ceil(memory.buffer.byteLength / 2 ** 20),
  };
}

/** Where the standard library looks for them. */
function layOutZones(fs: Interpreter["FS"], zones: ZoneFiles): void {
  for (const [name, bytes] of Object.entries(zones)) {
    const path = `/usr/share/zoneinfo/${name}`;
    fs.mkdirTree(dirname(path));
    fs.writeFile(path, bytes, { canOwn: true });
  }
}

function layOut(fs: Interpreter["FS"], { files }: Program): void {
  for (const folder of [input, output]) fs.mkdir(folder);
  for (const { name, bytes } of files) {
    fs.writeFile(`${input}/${name}`, bytes);
    fs.chmod(`${input}/${name}`, 0o444);
  }
  fs.chmod(input, 0o555);
  fs.mkdirTree("/mnt");
  fs.symlink(output, elsewhere);
  fs.chdir(output);
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

async function endOf(python: Interpreter, driver: Driver, program: Program): Promise<Said> {
  const { code, timeout_ms } = program;
  const late = failed("code_timeout", `The program was ended after ${timeout_ms} ms.`);
  const wasInterrupted = interruptAfter(python, timeout_ms);
  const args = program.arguments === null ? undefined : JSON.stringify(program.arguments);
  const said = await Promise.race([
    driver(code, args, bounds.result, bounds.message).then(readSaid).catch(broken),
    python.failure.then(broken),
    // A program that waits has no line at which it could be interrupted.
    Bun.sleep(timeout_ms + 100).then(() => late),
  ]);
  return wasInterrupted() && said.code !== null ? late : said;
}

/** Out of stack or of memory where Python cannot catch that, or by the program's own hand. */
const broken = (error: unknown): Said => failed("code_error", `The interpreter failed: ${String(error)}`);

const failed = (code: ProgramError["code"], message: string): Said => ({ result: null, code, message });

function readSaid(text: string): Said {
  const said: Said = JSON.parse(text);
  if (said.result === null || isShallow(new TextEncoder().encode(said.result), bounds.depth)) return said;
  return failed("code_output_too_large", `The result nests deeper than ${bounds.depth}.`);
}

/** Only plain files, and not through links: what else lies in the folder is not taken. */
function collect(fs: Interpreter["FS"]) {
  const taker = fileTaker();
  for (const name of namesIn(fs, output)) {
    try {
      const path = `${output}/${name}`;
      const { mode, size }: { mode: number; size: number } = fs.lstat(path);
      if (!fs.isFile(mode) || size > bounds.output) taker.drop();
      else taker.take(name, fs.readFile(path));
    } catch {
      // Made unreadable by its program, or with a name that no file may have.
      taker.drop();
    }
  }
  return taker;
}

/** None where the program took the folder away. */
function namesIn(fs: Interpreter["FS"], folder: string): string[] {
  try {
    const names: string[] = fs.readdir(folder);
    return names.filter((name) => name !== "." && name !== "..");
  } catch {
    return [];
  }
}

const SIGINT = 2;
const again_ms = 100;

/**
 * Interrupts the program at its deadline, as Ctrl-C would, and again should it catch that: what it printed and wrote
 * before is then not lost, as it is when its process is killed. The answer stops this, and tells whether it happened.
 */
function interruptAfter(python: Interpreter, timeout_ms: number): () => boolean {
  let next = performance.now() + timeout_ms;
  let interrupted = false;
  // The interpreter reads this between the program's instructions, where others let a second thread write to it.
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
