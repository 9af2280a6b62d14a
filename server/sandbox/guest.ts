import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from "quickjs-emscripten-core";
import { mark, maskedValue } from "../lib/exact-masks.ts";
import { bounds } from "./bounds.ts";
import type { fileTaker } from "./file-taker.ts";
import { guestLibrary } from "./guest-library.ts";
import type { Program } from "./program.ts";
import type { ProgramIo } from "./runtime.ts";

/** How a program in the interpreter ended; `text` is JSON of the result, or the error in words. */
export interface GuestEnd {
  kind: "result" | "error" | "memory" | "large" | "late";
  text: string;
}

type Files = ReturnType<typeof fileTaker>;

/** Deeper, and the recursion of a program would use up the machine's own stack, which is a crash. */
const stackBytes = 256 * 1024;
/** Allows `await` outside of functions; the value is then a promise of `{ value }`. */
const awaitable = 128;
const jobsAtOnce = 100;
const never = "The program waits for a promise that never settles.";

/** A fresh interpreter with the library and one program in it. */
export function openGuest(machine: QuickJSWASMModule, program: Program, io: ProgramIo, files: Files) {
  let deadline = Number.POSITIVE_INFINITY;
  const isLate = () => performance.now() > deadline;
  const runtime = machine.newRuntime();
  runtime.setMaxStackSize(stackBytes);
  // Also asked within a regular expression and a sort; not within every built-in loop, so the parent has its own timer.
  runtime.setInterruptHandler(isLate);
  const context = runtime.newContext();
  let end: GuestEnd | null = null;
  const library = install(context, program, io, files, (kind, text) => {
    end ??= { kind, text };
  });

  const start = () => {
    const source = program.arguments === null ? program.code : `(${withoutSemicolon(program.code)}\n)`;
    const flags = program.arguments === null ? awaitable : 0;
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
    /** To the end of all that it promised, or to its deadline. */
    run(): GuestEnd {
      deadline = performance.now() + program.timeout_ms;
      let going = start();
      while (going && end === null && !isLate() && runtime.hasPendingJob()) {
        going = !runtime.executePendingJobs(jobsAtOnce).error;
      }
      // What came after the deadline is what the interruption looks like from within.
      if (isLate()) return { kind: "late", text: "" };
      if (end) return end;
      // The library catches all that a program throws, but not that there is no memory left to catch with.
      return going ? { kind: "error", text: never } : { kind: "memory", text: "" };
    },
  };
}

/** An expression has none, but people write one. */
function withoutSemicolon(code: string): string {
  const trimmed = code.trimEnd();
  return trimmed.endsWith(";") ? trimmed.slice(0, -1) : trimmed;
}

function call(context: QuickJSContext, library: QuickJSHandle, name: string, ...values: QuickJSHandle[]): boolean {
  return !context.callFunction(context.getProp(library, name), context.undefined, ...values).error;
}

/** Gives the interpreter the few functions that reach out of it; the program sees them only through the library. */
function install(
  context: QuickJSContext,
  { files: given, memory_mb }: Program,
  io: ProgramIo,
  files: Files,
  end: (kind: GuestEnd["kind"], text: string) => void,
): QuickJSHandle {
  const json = (handle: QuickJSHandle | undefined) => JSON.parse(context.getString(handle ?? context.undefined));
  const say = (value: unknown) => context.newString(JSON.stringify(value));
  const find = (handle: QuickJSHandle | undefined) => {
    const name: string = json(handle);
    const file = given.find((candidate) => candidate.name === name);
    if (!file) throw new Error(`There is no input file ${name}.`);
    // The interpreter does not look whether there was room for what it is given.
    if (file.bytes.length * 4 > memory_mb * 2 ** 20)
      throw new Error(`${name} is too large for ${memory_mb} MB of memory.`);
    return file.bytes;
  };
  const functions: Record<string, (a: QuickJSHandle, b: QuickJSHandle) => QuickJSHandle | undefined> = {
    print: (kind, text) => void io[context.getString(kind) === "stderr" ? "stderr" : "stdout"](json(text)),
    names: () => say(given.map(({ name }) => name)),
    text: (name) => say(new TextDecoder().decode(find(name))),
    bytes: (name) => context.newArrayBuffer(find(name).slice().buffer),
    writeText: (name, text) => void files.take(json(name), new TextEncoder().encode(json(text))),
    writeBytes: (name, bytes) => void files.take(json(name), context.getArrayBuffer(bytes).value.slice()),
    drop: () => void files.drop(),
    end: (kind, text) => {
      const how = context.getString(kind) as GuestEnd["kind"];
      end(how, how === "error" ? json(text) : context.getString(text));
      return undefined;
    },
  };
  const host = context.newObject();
  for (const [name, act] of Object.entries(functions)) context.setProp(host, name, context.newFunction(name, act));
  const make = context.unwrapResult(context.evalCode(guestLibrary, "library.js"));
  const limits = context.unwrapResult(context.evalCode(`(${JSON.stringify({ ...bounds, mark })})`, "limits.js"));
  return context.unwrapResult(context.callFunction(make, context.undefined, host, limits));
}
