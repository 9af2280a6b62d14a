import type { Program, ProgramError, ProgramFile } from "./program.ts";

/** Where a program prints. What goes over the bound is dropped and marked. */
export interface ProgramIo {
  stdout(text: string): void;
  stderr(text: string): void;
}

/** What a runtime says of a program that has ended, well or not. */
export interface ProgramEnd {
  /** JSON text; null when it failed. */
  result: string | null;
  error: ProgramError | null;
  files: readonly ProgramFile[];
  /** How many files were not taken. */
  files_dropped: number;
  peak_memory_mb: number | null;
}

/** Runs one program, once, in the child. What it throws becomes `sandbox_failed`. */
type Runtime = (program: Program, io: ProgramIo) => Promise<ProgramEnd>;

/** Loads all that does not depend on the program, so that a spare child has it behind itself. */
export type LoadRuntime = () => Promise<Runtime>;
