import type { FolderChanges, Program, ProgramError, ProgramFile } from "./program.ts";

/** Output of a program. Text above the limit is dropped and marked. */
export interface ProgramIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** To be called before the program itself, once its variables are restored. */
  started(): void;
  /** To be called by a runtime that saves the variables before it returns: gives everything else to the server. */
  saving(end: ProgramEnd): void;
}

/** A runtime's report about a program that has ended, successfully or not. */
export interface ProgramEnd {
  /** JSON text; null if it failed. */
  result: string | null;
  error: ProgramError | null;
  files: readonly ProgramFile[];
  /** Number of files that were left out. */
  files_dropped: number;
  /** Changes of the shared folder, without its variables. */
  shared?: FolderChanges;
  /** Saves the variables, once everything else was sent: it may take as long again. */
  saveVariables?: () => SavedVariables;
  peak_memory_mb: number | null;
}

export type SavedVariables = Required<Pick<FolderChanges, "variables" | "lost" | "notes">>;

/** Runs one program, once, in the child. An exception becomes `sandbox_failed`. */
type Runtime = (program: Program, io: ProgramIo) => Promise<ProgramEnd>;

/** Loads everything that does not depend on the program, so that a spare child is ready. */
export type LoadRuntime = () => Promise<Runtime>;
