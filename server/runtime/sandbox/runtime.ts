import type { Program, ProgramError, ProgramFile } from "./program.ts";

/** Output of a program. Text above the limit is dropped and marked. */
export interface ProgramIo {
  stdout(text: string): void;
  stderr(text: string): void;
}

/** A runtime's report about a program that has ended, successfully or not. */
export interface ProgramEnd {
  /** JSON text; null if it failed. */
  result: string | null;
  error: ProgramError | null;
  files: readonly ProgramFile[];
  /** Number of files that were left out. */
  files_dropped: number;
  peak_memory_mb: number | null;
}

/** Runs one program, once, in the child. An exception becomes `sandbox_failed`. */
type Runtime = (program: Program, io: ProgramIo) => Promise<ProgramEnd>;

/** Loads everything that does not depend on the program, so that a spare child is ready. */
export type LoadRuntime = () => Promise<Runtime>;
