/// <reference path="./python-modules.d.ts" />

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { comparePaths } from "../../domain/workspace.ts";
import { workspaceFolder, workspaceLimits } from "../../domain/workspace-limits.ts";
import { dataPythonDir } from "../../lib/assets.ts";
import { unpackFiles } from "../../lib/file-pack.ts";
import { isShallow } from "../../lib/json-limits.ts";
import { requireValue } from "../../lib/require-value.ts";
import { bounds, packageVariables_ms } from "./bounds.ts";
import cloudpickleSource from "./cloudpickle.py" with { type: "text" };
import startSource from "./cpython-start.py" with { type: "text" };
import { fileTaker } from "./file-taker.ts";
import { createMemoryFiles, type Folder, type MemoryFiles } from "./memory-files.ts";
import type { FolderChanges, Program, ProgramError, SharedFile } from "./program.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import variablesSource from "./python-variables.py" with { type: "text" };
import type { LoadRuntime, ProgramEnd, ProgramIo, SavedVariables } from "./runtime.ts";
import { restoredFile, savedFile, savedVariables, unsavedVariables, variablesRoom } from "./saved-variables.ts";
import { folderChanges, type LeftFile } from "./shared-folder.ts";
import { createWasiHost, GuestExit, signalFile } from "./wasi-host.ts";

/** Folder in which the interpreter looks for modules; by its name it could be an archive. */
const library = "/usr/local/lib/python315.zip";
const [input, output] = ["/input", "/output"];
/** Folder in which programs written for other tools expect and leave files. */
const alternativeFolder = "/mnt/data";
/** Files of the driver's answer, and of what it says about the variables that it saved. */
const [answerFile, savedAnswerFile] = ["/run/answer", "/run/saved"];
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
const [startedSignal, savingSignal] = ["started", "saving"];
const order = `
import json, os, sys
order = json.load(sys.stdin)
exec(order["start"])
def signal(text, write=os.write):
    write(${signalFile}, text.encode("utf-8", "replace"))
def leave(path, text, open=open):
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
driver = load(order["driver"], order["modules"])
os.chdir(order["folder"])
sys.argv = ["program.py"]
if order["restores"]:
    signal("${startedSignal}" + driver["restore"]())
answer = start(driver, order["source"], order["arguments"], order["result_limit"], order["message_limit"])
leave("${answerFile}", answer)
if order["saves"]:
    sys.stdout.flush()
    sys.stderr.flush()
    signal("${savingSignal}")
    leave("${savedAnswerFile}", driver["save"](order["variables_limit"]))
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
  const restores = (program.shared?.variables ?? null) !== null;
  const clock = startClock(restores ? packageVariables_ms : program.timeout_ms);
  const files = createMemoryFiles(program.memory_mb * 2 ** 20);
  layLibrary(files);
  layOut(files, program);
  const notes: string[] = [];
  let stage: "restoring" | "running" | "saving" = restores ? "restoring" : "running";
  let end: ProgramEnd | null = null;
  const signal = (text: string) => {
    if (stage === "restoring" && text.startsWith(startedSignal)) {
      const note = text.slice(startedSignal.length);
      if (note !== "") notes.push(note);
      stage = "running";
      io.started();
      clock.restart(program.timeout_ms);
    } else if (stage === "running" && text === savingSignal) {
      stage = "saving";
      end = endWith(readAnswer(files));
      // Now, because the guest does not return before the variables are saved.
      io.saving(end);
      clock.restart(packageVariables_ms);
    }
  };
  const host = createWasiHost({
    files,
    args: ["python", "-c", order],
    environment,
    stdin: Buffer.from(JSON.stringify(orderOf(program))),
    stdout: printer(io.stdout),
    stderr: printer(io.stderr),
    signal: (bytes) => signal(new TextDecoder().decode(bytes)),
    check: clock.check,
    sleep: clock.sleep,
  });
  // The door of the module to functions of its host: there are none.
  const imports = { wasi_snapshot_preview1: host.imports, host: { call: () => -1 } };
  const instance = await WebAssembly.instantiate(module, imports as never);
  const guest = instance.exports as unknown as Exports;
  host.use(guest.memory);
  let saved: SavedVariables = unsavedVariables;
  const endWith = ({ result, code, message }: DriverAnswer): ProgramEnd => ({
    result,
    error: code && { code, message: message ?? "" },
    ...collectedFiles(files, program, notes),
    peak_memory_mb: Math.ceil(guest.memory.buffer.byteLength / 2 ** 20),
    ...(program.shared?.saves_variables && { saveVariables: () => saved }),
  });

  const failure = runGuest(guest, program);
  // They have broken the interpreter: the server tries again without them, because the program has not started.
  if (isAt("restoring")) process.exit(1);
  if (isAt("saving")) {
    if (!failure) saved = readSaved(files);
    return end as unknown as ProgramEnd;
  }
  if (program.shared?.saves_variables) saved = earlierVariables(program);
  return endWith(failure ?? readAnswer(files));

  function isAt(one: typeof stage): boolean {
    return stage === one;
  }
}

/** Like the parent, it counts what the guest computes, and the clock only while it sleeps. */
function startClock(timeout_ms: number) {
  let [deadline, room_ms, before] = [0, 0, process.cpuUsage()];
  const restart = (ms: number) => {
    [deadline, room_ms, before] = [performance.now() + ms, ms, process.cpuUsage()];
  };
  restart(timeout_ms);
  return {
    restart,
    check(): void {
      if (performance.now() < deadline) return;
      const { user, system } = process.cpuUsage(before);
      if (user + system > room_ms * 1000) throw new Late();
    },
    sleep(ms: number): void {
      const left_ms = Math.max(0, deadline - performance.now());
      Bun.sleepSync(Math.min(ms, left_ms));
      if (ms > left_ms) throw new Late();
    },
  };
}

/** An interpreter that was ended cannot save anything: those of the earlier programs stay. */
const earlierVariables = ({ shared }: Program): SavedVariables => ({
  variables: shared?.variables?.slice() ?? null,
  lost: [],
  notes: ["The variables are those from before this program, because it did not end by itself."],
});

const orderOf = ({ code, arguments: args, shared }: Program) => ({
  start: startSource,
  driver: driverSource,
  modules: { cloudpickle: cloudpickleSource, program_variables: variablesSource },
  folder: folderOf(shared),
  restores: (shared?.variables ?? null) !== null,
  saves: shared?.saves_variables === true,
  variables_limit: variablesRoom,
  source: code,
  arguments: args === null ? null : JSON.stringify(args),
  result_limit: bounds.result,
  message_limit: bounds.message,
});

function layOut(files: MemoryFiles, { files: given, mounted = [], shared }: Program): void {
  const folder = folderOf(shared);
  for (const each of [input, folder, "/home", "/tmp", "/run", "/mnt"]) files.layFolder(each);
  for (const { name, bytes } of given) files.layFile(`${input}/${name}`, bytes);
  for (const { name, bytes } of mounted) files.layFile(name, bytes);
  for (const { name, bytes } of shared?.files ?? []) files.layFile(`${folder}/${name}`, bytes, false);
  // A copy: it is returned as it is if the program is ended.
  if (shared?.variables) files.layFile(restoredFile, shared.variables.slice(), false);
  if (shared) files.makeLink(folder, files.root, output);
  files.makeLink(folder, files.root, alternativeFolder);
  for (const each of [input, ...new Set(mounted.map(({ name }) => `/${name.split("/")[1]}`))]) files.fix(each);
}

const folderOf = (shared: Program["shared"]): string => (shared ? workspaceFolder : output);

/** The driver's answer, as JSON. */
interface DriverAnswer {
  result: string | null;
  code: ProgramError["code"] | null;
  message: string | null;
}

const failed = (code: ProgramError["code"], message: string): DriverAnswer => ({ result: null, code, message });

/** Runs the interpreter to its end. Returns why it failed; null if it did not. */
function runGuest(guest: Exports, { timeout_ms }: Program): DriverAnswer | null {
  try {
    guest._initialize();
    guest.run();
    return null;
  } catch (error) {
    if (error instanceof Late) return failed("code_timeout", `The program was ended after ${timeout_ms} ms.`);
    const exit = error instanceof GuestExit ? `it ended with ${error.code}` : String(error);
    return failed("code_error", `The interpreter failed: ${exit}`);
  }
}

function readAnswer(files: MemoryFiles): DriverAnswer {
  const bytes = readIfThere(files, answerFile);
  if (bytes === null) return failed("code_error", "The interpreter failed: it left no answer");
  try {
    const said: DriverAnswer = JSON.parse(new TextDecoder().decode(bytes));
    if (said.result === null || isShallow(new TextEncoder().encode(said.result), bounds.depth)) return said;
    return failed("code_output_too_large", `The result nests deeper than ${bounds.depth}.`);
  } catch (error) {
    return failed("code_error", `The interpreter failed: ${String(error)}`);
  }
}

function readSaved(files: MemoryFiles): SavedVariables {
  const said = readIfThere(files, savedAnswerFile);
  if (said === null) return unsavedVariables;
  try {
    return savedVariables(new TextDecoder().decode(said), () => readIfThere(files, savedFile));
  } catch {
    return unsavedVariables;
  }
}

function readIfThere(files: MemoryFiles, path: string): Uint8Array<ArrayBuffer> | null {
  try {
    const file = files.find(files.root, path, false);
    return file.kind === "file" ? file.buffer.slice(0, file.size) : null;
  } catch {
    return null;
  }
}

function printer(print: (text: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  return (bytes) => print(decoder.decode(bytes, { stream: true }));
}

function collectedFiles(files: MemoryFiles, { shared }: Program, notes: readonly string[]) {
  if (!shared) {
    const outputFiles = collect(files);
    return { files: outputFiles.files(), files_dropped: outputFiles.dropped() };
  }
  const changes = collectFolder(files, shared.files);
  return { files: [], files_dropped: 0, shared: { ...changes, notes: [...notes, ...changes.notes] } };
}

/** Collects regular files only, not links, and above the limits the first ones by name. */
function collect(files: MemoryFiles) {
  const taker = fileTaker();
  const entries = [...entriesOf(files, output)].sort(([a], [b]) => comparePaths(a, b));
  for (const [name, file] of entries) {
    try {
      if (file.kind !== "file" || file.size > bounds.output) taker.drop();
      else taker.take(name, file.buffer.slice(0, file.size));
    } catch {
      taker.drop(); // Its name is not allowed.
    }
  }
  return taker;
}

/** Collects the regular files in the shared folder and its folders, not links. */
function collectFolder(files: MemoryFiles, before: readonly SharedFile[]): FolderChanges {
  const left: LeftFile[] = [];
  const refused: string[] = [];
  let uncounted = 0;
  const waiting: [string, Folder["entries"]][] = [["", entriesOf(files, workspaceFolder)]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [folder, entries] = next;
    for (const [name, file] of entries) {
      const path = folder + name;
      if (file.kind === "file") left.push({ path, size: file.size, read: () => file.buffer.slice(0, file.size) });
      else if (file.kind === "link") refused.push(path);
      else if (path.split("/").length <= workspaceLimits.folders) waiting.push([`${path}/`, file.entries]);
      else uncounted++;
    }
  }
  return folderChanges(before, left, refused, uncounted);
}

/** Returns no entries if the program has removed the folder, or put a link in its place. */
function entriesOf(files: MemoryFiles, path: string): Folder["entries"] {
  try {
    const folder = files.find(files.root, path, false);
    if (folder.kind === "folder") return folder.entries;
  } catch {}
  return new Map();
}
