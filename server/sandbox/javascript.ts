/// <reference path="./quickjs-wasm.d.ts" />
import variant from "@jitl/quickjs-wasmfile-release-sync";
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { newQuickJSWASMModuleFromVariant, newVariant } from "quickjs-emscripten-core";
import { bounds } from "./bounds.ts";
import { fileTaker } from "./file-taker.ts";
import { type GuestEnd, openGuest } from "./guest.ts";
import type { Program, ProgramError } from "./program.ts";
import type { LoadRuntime } from "./runtime.ts";

const megabyte = 2 ** 20;
const page = 65536;
const firstPages = 256;
const usual_mb = 64;

/** JavaScript in an interpreter of its own, in a WebAssembly memory that cannot grow over the program's limit. */
export const loadJavaScript: LoadRuntime = async () => {
  const wasmModule = await WebAssembly.compile(await Bun.file(wasmFile).arrayBuffer());
  const open = (memory_mb: number) => openMachine(wasmModule, memory_mb);
  // Most programs ask for no other size: a spare child has this behind itself.
  const prepared = await open(usual_mb);
  return async (program, io) => {
    const { machine, memory } = program.memory_mb === usual_mb ? prepared : await open(program.memory_mb);
    const files = fileTaker();
    const end = runGuest(() => openGuest(machine, program, io, files));
    return {
      result: end.kind === "result" ? end.text : null,
      error: errorOf(end, program),
      files: files.files(),
      files_dropped: files.dropped(),
      peak_memory_mb: Math.ceil(memory.buffer.byteLength / megabyte),
    };
  };
};

async function openMachine(wasmModule: WebAssembly.Module, memory_mb: number) {
  const maximum = Math.max(firstPages, Math.floor((memory_mb * megabyte) / page));
  const memory = new WebAssembly.Memory({ initial: firstPages, maximum });
  const machine = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory: memory }));
  return { machine, memory };
}

/** A fault in the interpreter itself (its stack ran into ours, its memory is broken) is the program's doing too. */
function runGuest(open: () => { run(): GuestEnd }): GuestEnd {
  try {
    return open().run();
  } catch (error) {
    const deep = error instanceof RangeError;
    return { kind: deep ? "error" : "memory", text: deep ? "RangeError: the program nests too deep." : "" };
  }
}

function errorOf({ kind, text }: GuestEnd, { timeout_ms, memory_mb }: Program): ProgramError | null {
  if (kind === "late") return { code: "code_timeout", message: `The program was ended after ${timeout_ms} ms.` };
  if (kind === "memory") {
    return { code: "code_out_of_memory", message: `The program needed more than its ${memory_mb} MB of memory.` };
  }
  if (kind === "error") return { code: "code_error", message: text };
  if (kind === "result") return null;
  return { code: "code_output_too_large", message: `The result is larger than ${bounds.result} bytes of JSON.` };
}
