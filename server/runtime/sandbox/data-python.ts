/// <reference path="./python-modules.d.ts" />

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dataPythonDir } from "../../lib/assets.ts";
import { unpackFiles } from "../../lib/file-pack.ts";
import { isShallow } from "../../lib/json-limits.ts";
import { requireValue } from "../../lib/require-value.ts";
import { bounds } from "./bounds.ts";
import startSource from "./cpython-start.py" with { type: "text" };
import { fileTaker } from "./file-taker.ts";
import { createMemoryFiles, type Folder, type MemoryFiles } from "./memory-files.ts";
import type { Program, ProgramError } from "./program.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import type { LoadRuntime, ProgramEnd, ProgramIo } from "./runtime.ts";
import { createWasiHost, GuestExit } from "./wasi-host.ts";

/** Folder in which the interpreter looks for modules; by its name it could be an archive. */
const library = "/usr/local/lib/python315.zip";
const [input, output] = ["/input", "/output"];
/** Folder in which programs written for other tools expect and leave files. */
const alternativeFolder = "/mnt/data";
const answerFile = "/run/answer";
const environment = [
  "HOME=/home",
  "TMPDIR=/tmp",
  "TZ=UTC",
  "PYTHONTZPATH=",
  "PYTHON_COLORS=0",
  // Charts are drawn into files. Its own settings and its list of fonts go to the temporary folder.
  "MPLBACKEND=Agg",
  "MPLCONFIGDIR=/tmp",
];
const order = `
import json, os, sys
order = json.load(sys.stdin)
exec(order["start"])
os.chdir(${JSON.stringify(output)})
sys.argv = ["program.py"]
answer = start(order["driver"], order["source"], order["arguments"], order["result_limit"], order["message_limit"])
open(${JSON.stringify(answerFile)}, "w").write(answer)
`;

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  run(): number;
}

/** Thrown in the guest's calls after its deadline. */
class Late extends Error {}

/**
 * Loads CPython with packages such as numpy and pandas: a WebAssembly module whose only contact with the machine is
 * {@link createWasiHost}. Packages stay compressed until the program imports them.
 */
export async function loadDataPython(
  folder: string = requireValue(dataPythonDir(), "The folder of Python with packages"),
): ReturnType<LoadRuntime> {
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, name)));
  const module = await WebAssembly.compile(Bun.zstdDecompressSync(read("python.wasm.zst")));
  const base = unpack(read("base.zst"));
  const temporary = existsSync(join(folder, "temporary.zst")) ? unpack(read("temporary.zst")) : {};
  const packages = readdirSync(folder).flatMap((file): [string, Uint8Array<ArrayBuffer>][] => {
    const [, name] = /^package-(.*)\.zst$/.exec(file) ?? [];
    return name === undefined ? [] : [[name, read(file)]];
  });
  const layLibrary = (files: MemoryFiles) => {
    for (const [name, bytes] of Object.entries(base)) files.layFile(`${library}/${name}`, bytes);
    for (const [name, packed] of packages)
      files.layLazily(`${library}/${name}`, () => withoutFolder(name, unpack(packed)));
    // Lists that packages would otherwise make at their first import.
    for (const [name, bytes] of Object.entries(temporary)) files.layFile(`/tmp/${name}`, bytes);
  };
  return async (program, io) => run(module, layLibrary, program, io);
}

type Unpacked = Record<string, Uint8Array<ArrayBuffer>>;

const unpack = (packed: Uint8Array<ArrayBuffer>) => unpackFiles(Bun.zstdDecompressSync(packed)) as Unpacked;

const withoutFolder = (folder: string, files: Unpacked): Unpacked =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path.slice(folder.length + 1), bytes]));

async function run(
  module: WebAssembly.Module,
  layLibrary: (files: MemoryFiles) => void,
  program: Program,
  io: ProgramIo,
): Promise<ProgramEnd> {
  const deadline = performance.now() + program.timeout_ms;
  const before = process.cpuUsage();
  // Like its parent, it counts what the program computes, and the clock only while it sleeps.
  const check = () => {
    if (performance.now() < deadline) return;
    const { user, system } = process.cpuUsage(before);
    if (user + system > program.timeout_ms * 1000) throw new Late();
  };
  const files = createMemoryFiles(program.memory_mb * 2 ** 20);
  layLibrary(files);
  layOut(files, program);
  const host = createWasiHost({
    files,
    args: ["python", "-c", order],
    environment,
    stdin: Buffer.from(JSON.stringify(orderOf(program))),
    stdout: printer(io.stdout),
    stderr: printer(io.stderr),
    check,
    sleep(ms) {
      const left_ms = Math.max(0, deadline - performance.now());
      Bun.sleepSync(Math.min(ms, left_ms));
      if (ms > left_ms) throw new Late();
    },
  });
  // The door of the module to functions of its host: there are none.
  const imports = { wasi_snapshot_preview1: host.imports, host: { call: () => -1 } };
  const instance = await WebAssembly.instantiate(module, imports as never);
  const guest = instance.exports as unknown as Exports;
  host.use(guest.memory);
  const { result, code, message } = endOf(guest, files, program);
  const outputFiles = collect(files);
  return {
    result,
    error: code && { code, message: message ?? "" },
    files: outputFiles.files(),
    files_dropped: outputFiles.dropped(),
    peak_memory_mb: Math.ceil(guest.memory.buffer.byteLength / 2 ** 20),
  };
}

const orderOf = ({ code, arguments: args }: Program) => ({
  start: startSource,
  driver: driverSource,
  source: code,
  arguments: args === null ? null : JSON.stringify(args),
  result_limit: bounds.result,
  message_limit: bounds.message,
});

function layOut(files: MemoryFiles, { files: given, mounted = [] }: Program): void {
  for (const folder of [input, output, "/home", "/tmp", "/run", "/mnt"]) files.layFolder(folder);
  for (const { name, bytes } of given) files.layFile(`${input}/${name}`, bytes);
  for (const { name, bytes } of mounted) files.layFile(name, bytes);
  files.makeLink(output, files.root, alternativeFolder);
  for (const folder of [input, ...new Set(mounted.map(({ name }) => `/${name.split("/")[1]}`))]) files.fix(folder);
}

/** The driver's answer, as JSON. */
interface DriverAnswer {
  result: string | null;
  code: ProgramError["code"] | null;
  message: string | null;
}

const failed = (code: ProgramError["code"], message: string): DriverAnswer => ({ result: null, code, message });

function endOf(guest: Exports, files: MemoryFiles, { timeout_ms }: Program): DriverAnswer {
  try {
    guest._initialize();
    guest.run();
    return readAnswer(files);
  } catch (error) {
    if (error instanceof Late) return failed("code_timeout", `The program was ended after ${timeout_ms} ms.`);
    const exit = error instanceof GuestExit ? `it ended with ${error.code}` : String(error);
    return failed("code_error", `The interpreter failed: ${exit}`);
  }
}

function readAnswer(files: MemoryFiles): DriverAnswer {
  const file = files.find(files.root, answerFile, false);
  if (file.kind !== "file") throw new Error("it left no answer");
  const said: DriverAnswer = JSON.parse(new TextDecoder().decode(file.buffer.subarray(0, file.size)));
  if (said.result === null || isShallow(new TextEncoder().encode(said.result), bounds.depth)) return said;
  return failed("code_output_too_large", `The result nests deeper than ${bounds.depth}.`);
}

function printer(print: (text: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  return (bytes) => print(decoder.decode(bytes, { stream: true }));
}

/** Collects regular files only, not links. */
function collect(files: MemoryFiles) {
  const taker = fileTaker();
  for (const [name, file] of outputOf(files).entries) {
    try {
      if (file.kind !== "file" || file.size > bounds.output) taker.drop();
      else taker.take(name, file.buffer.slice(0, file.size));
    } catch {
      taker.drop(); // Its name is not allowed.
    }
  }
  return taker;
}

/** Returns an empty folder if the program has removed it. */
function outputOf(files: MemoryFiles): Folder {
  try {
    const folder = files.find(files.root, output, false);
    if (folder.kind === "folder") return folder;
  } catch {}
  return createMemoryFiles(0).root;
}
