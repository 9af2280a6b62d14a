import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from "quickjs-emscripten-core";
import { mark, maskedValue } from "../../lib/exact-masks.ts";
import { bounds } from "./bounds.ts";
import type { fileTaker } from "./file-taker.ts";
import { guestLibrary } from "./guest-library.ts";
import type { Program } from "./program.ts";
import type { ProgramIo } from "./runtime.ts";
import type { openFolder } from "./shared-folder.ts";

/** End of a program in the interpreter; `text` is the result as JSON, or the error message. */
export interface GuestEnd {
  kind: "result" | "error" | "memory" | "large" | "late";
  text: string;
}

type Files = ReturnType<typeof fileTaker>;
type Folder = ReturnType<typeof openFolder>;

/** Stack limit: deeper recursion would overflow the stack of the WebAssembly machine, which is a crash. */
const stackBytes = 256 * 1024;
/** Flag that allows `await` at top level; the value is then a promise of `{ value }`. */
const topLevelAwaitFlag = 128;
const jobsAtOnce = 100;
const neverSettles = "The program waits for a promise that never settles.";

/** Creates a fresh interpreter with the library and one program. */
export function openGuest(
  machine: QuickJSWASMModule,
  program: Program,
  io: ProgramIo,
  files: Files,
  folder: Folder | undefined,
) {
  let deadline = Number.POSITIVE_INFINITY;
  const isLate = () => performance.now() > deadline;
  const runtime = machine.newRuntime();
  runtime.setMaxStackSize(stackBytes);
  // Called within regular expressions and sorts too, but not within every built-in loop, so the parent has its own
  // timer.
  runtime.setInterruptHandler(isLate);
  const context = runtime.newContext();
  let end: GuestEnd | null = null;
  const library = install(context, program, io, { files, folder }, (kind, text) => {
    end ??= { kind, text };
  });

  const start = () => {
    const source = program.arguments === null ? program.code : `(${withoutSemicolon(program.code)}\n)`;
    const flags = program.arguments === null ? topLevelAwaitFlag : 0;
    const compiled = context.evalCode(source, "program.js", flags as never);
    if (compiled.error) return call(context, library, "fail", compiled.error);
    if (program.arguments === null) return call(context, library, "awaitValue", compiled.value);
    return call(
      context,
      library,
      "call",
      compiled.value,
      context.newString(JSON.stringify(maskedValue(program.arguments))),
    );
  };

  return {
    /** Runs the program until all its promises are settled, or until its deadline. */
    run(): GuestEnd {
      deadline = performance.now() + program.timeout_ms;
      let isRunning = start();
      while (isRunning && end === null && !isLate() && runtime.hasPendingJob()) {
        isRunning = !runtime.executePendingJobs(jobsAtOnce).error;
      }
      // An end after the deadline is caused by the interruption.
      if (isLate()) return { kind: "late", text: "" };
      if (end) return end;
      // The library catches all that a program throws, unless memory does not even suffice to catch.
      return isRunning ? { kind: "error", text: neverSettles } : { kind: "memory", text: "" };
    },
  };
}

/** Drops a trailing semicolon, which is not part of an expression but often written. */
function withoutSemicolon(code: string): string {
  const trimmed = code.trimEnd();
  return trimmed.endsWith(";") ? trimmed.slice(0, -1) : trimmed;
}

function call(context: QuickJSContext, library: QuickJSHandle, name: string, ...values: QuickJSHandle[]): boolean {
  return !context.callFunction(context.getProp(library, name), context.undefined, ...values).error;
}

/** Installs the few host functions, which programs see only through the library. */
function install(
  context: QuickJSContext,
  { files: ownFiles, mounted = [], memory_mb }: Program,
  io: ProgramIo,
  { files, folder }: { files: Files; folder: Folder | undefined },
  end: (kind: GuestEnd["kind"], text: string) => void,
): QuickJSHandle {
  const inputFiles = [...ownFiles, ...mounted];
  const json = (handle: QuickJSHandle | undefined) => JSON.parse(context.getString(handle ?? context.undefined));
  const toHandle = (value: unknown) => context.newString(JSON.stringify(value));
  const fitting = (name: string, bytes: Uint8Array<ArrayBuffer> | undefined, kind: string) => {
    if (!bytes) throw new Error(`There is no ${kind} ${name}.`);
    // The interpreter does not check whether it has room for the data that it is given.
    if (bytes.length * 4 > memory_mb * 2 ** 20) throw new Error(`${name} is too large for ${memory_mb} MB of memory.`);
    return bytes;
  };
  const find = (handle: QuickJSHandle | undefined) => {
    const name: string = json(handle);
    return fitting(name, inputFiles.find((candidate) => candidate.name === name)?.bytes, "input file");
  };
  const findShared = (handle: QuickJSHandle | undefined) => {
    const path = pathOf(json(handle));
    return fitting(path, folder?.find(path), "file in the workspace:");
  };
  const write = (name: string, bytes: Uint8Array<ArrayBuffer>) =>
    folder ? folder.write(pathOf(name), bytes) : files.take(name, bytes);
  const functions: Record<string, (a: QuickJSHandle, b: QuickJSHandle) => QuickJSHandle | undefined> = {
    print: (kind, text) => void io[context.getString(kind) === "stderr" ? "stderr" : "stdout"](json(text)),
    names: () => toHandle(inputFiles.map(({ name }) => name)),
    text: (name) => toHandle(new TextDecoder().decode(find(name))),
    bytes: (name) => context.newArrayBuffer(find(name).slice().buffer),
    writeText: (name, text) => void write(json(name), new TextEncoder().encode(json(text))),
    writeBytes: (name, bytes) => void write(json(name), context.getArrayBuffer(bytes).value.slice()),
    drop: () => void (folder ?? files).drop(),
    sharedNames: () => toHandle(folder?.names() ?? []),
    sharedText: (path) => toHandle(new TextDecoder().decode(findShared(path))),
    sharedBytes: (path) => context.newArrayBuffer(findShared(path).slice().buffer),
    sharedRemove: (path) => toHandle(folder?.remove(pathOf(json(path))) ?? false),
    end: (kind, text) => {
      const how = context.getString(kind) as GuestEnd["kind"];
      end(how, how === "error" ? json(text) : context.getString(text));
      return undefined;
    },
  };
  const host = context.newObject();
  for (const [name, act] of Object.entries(functions)) context.setProp(host, name, context.newFunction(name, act));
  const make = context.unwrapResult(context.evalCode(guestLibrary, "library.js"));
  const limits = context.unwrapResult(
    context.evalCode(`(${JSON.stringify({ ...bounds, mark, isShared: folder !== undefined })})`, "limits.js"),
  );
  return context.unwrapResult(context.callFunction(make, context.undefined, host, limits));
}

/** Returns a path relative to the shared folder: programs also give the whole one, as Python does. */
const pathOf = (path: string): string => (path.startsWith("/workspace/") ? path.slice("/workspace/".length) : path);
