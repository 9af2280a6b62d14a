import type { ProgramError } from "./program.ts";

export const pageBytes = 65536;
/** Number of times that an interpreter tries one allocation: with spare room, with half of that, with a quarter. */
const attempts = 3;

/**
 * Limits a growing memory; returns a function that is true once an allocation was refused. The `reserve_bytes` are held
 * back until then, because the interpreter needs memory to report the error.
 */
export function boundGrowth(memory: WebAssembly.Memory, limit_bytes: number, reserve_bytes = 0): () => boolean {
  const grow = memory.grow.bind(memory);
  let most = limit_bytes - reserve_bytes;
  let refused = 0;
  let isRefused = false;
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * pageBytes > most) {
      refused++;
      if (refused === attempts) [refused, isRefused, most] = [0, true, limit_bytes];
      throw new RangeError("The program's memory is used up.");
    }
    const before = grow(pages);
    refused = 0;
    return before;
  };
  return () => isRefused;
}

/** Returns the error of a program that was refused memory, with the message of the resulting error. */
export function outOfMemory(memory_mb: number, error = ""): ProgramError {
  const message = `The program needed more than its ${memory_mb} MB of memory.`;
  return { code: "code_out_of_memory", message: error === "" ? message : `${message} It ended with: ${error}` };
}
