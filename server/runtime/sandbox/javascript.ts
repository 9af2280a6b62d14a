/// <reference path="./quickjs-wasm.d.ts" />
import variant from "@jitl/quickjs-wasmfile-release-sync";
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { newQuickJSWASMModuleFromVariant, newVariant } from "quickjs-emscripten-core";
import { bounds } from "./bounds.ts";
import { fileTaker } from "./file-taker.ts";
import { type GuestEnd, openGuest } from "./guest.ts";
import { boundGrowth, outOfMemory, pageBytes } from "./memory-growth.ts";
import type { Program, ProgramError } from "./program.ts";
import type { LoadRuntime } from "./runtime.ts";
import { openFolder } from "./shared-folder.ts";

const megabyte = 2 ** 20;
const firstPages = 256;
const usual_mb = 64;
/**
 * Share of memory reserved for the interpreter itself after the program has used up the rest; a large memory grows in
 * larger steps.
 */
const reserve = 1 / 16;

/** Loads JavaScript: an interpreter in a WebAssembly memory that cannot grow beyond the program's limit. */
export const loadJavaScript: LoadRuntime = async () => {
  const wasmModule = await WebAssembly.compile(await Bun.file(wasmFile).arrayBuffer());
  const open = (memory_mb: number) => openMachine(wasmModule, memory_mb);
  // Most programs use this size: prepare it, so that a spare child is ready.
  const prepared = await open(usual_mb);
  return async (program, io) => {
    const { machine, memory, isRefused } = program.memory_mb === usual_mb ? prepared : await open(program.memory_mb);
    const files = fileTaker();
    const folder = program.shared && openFolder(program.shared.files);
    const end = runGuest(() => openGuest(machine, program, io, files, folder));
    return {
      result: end.kind === "result" ? end.text : null,
      error: errorOf(end, program, isRefused()),
      files: files.files(),
      files_dropped: files.dropped(),
      ...(folder && { shared: folder.changes() }),
      peak_memory_mb: Math.ceil(memory.buffer.byteLength / megabyte),
    };
  };
};

async function openMachine(wasmModule: WebAssembly.Module, memory_mb: number) {
  const maximum = Math.max(firstPages, Math.floor((memory_mb * megabyte) / pageBytes));
  const memory = new WebAssembly.Memory({ initial: firstPages, maximum });
  const bytes = maximum * pageBytes;
  const isRefused = boundGrowth(memory, bytes, bytes * reserve);
  const machine = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory: memory }));
  return { machine, memory, isRefused };
}

/** A crash of the interpreter itself (stack overflow, corrupt memory) is also blamed on the program. */
function runGuest(open: () => { run(): GuestEnd }): GuestEnd {
  try {
    return open().run();
  } catch (error) {
    const deep = error instanceof RangeError;
    return { kind: deep ? "error" : "memory", text: deep ? "RangeError: the program nests too deep." : "" };
  }
}

/**
 * Maps an end to an error. Any error after a refused allocation counts as out of memory: if memory does not even
 * suffice for that error, the interpreter throws null or leaves a promise unsettled.
 */
function errorOf(
  { kind, text }: GuestEnd,
  { timeout_ms, memory_mb }: Program,
  isRefused: boolean,
): ProgramError | null {
  if (kind === "late") return { code: "code_timeout", message: `The program was ended after ${timeout_ms} ms.` };
  if (kind === "memory" || (kind === "error" && isRefused))
    return outOfMemory(memory_mb, /^(?!InternalError: out of memory)\w*Error: /.test(text) ? text : "");
  if (kind === "error") return { code: "code_error", message: text };
  if (kind === "result") return null;
  return { code: "code_output_too_large", message: `The result is larger than ${bounds.result} bytes of JSON.` };
}
