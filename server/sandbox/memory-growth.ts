import type { ProgramError } from "./program.ts";

export const pageBytes = 65536;
/** How often an interpreter asks for one allocation: with some room for others, with half of that, and with a quarter. */
const attempts = 3;

/**
 * Bounds a memory that an interpreter grows, and tells whether an allocation of its program was refused. The `reserve` is
 * kept back until then, because the interpreter needs room to say so.
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

/** What a program is told that was refused memory, with the words of the error that came of that. */
export function outOfMemory(memory_mb: number, error = ""): ProgramError {
  const message = `The program needed more than its ${memory_mb} MB of memory.`;
  return { code: "code_out_of_memory", message: error === "" ? message : `${message} It ended with: ${error}` };
}
