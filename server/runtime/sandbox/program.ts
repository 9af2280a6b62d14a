import type { CodeLanguage } from "../../domain/agent-snapshot.ts";

/** An input file (read-only) or an output file. Its name has no folders. */
export interface ProgramFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A program that a child runs once. */
export interface Program {
  language: CodeLanguage;
  code: string;
  /**
   * If given, `code` is a function of them (JavaScript: an expression `(args) => …`; Python: `def main(args)`). If
   * null, the result is the last expression.
   */
  arguments: Record<string, unknown> | null;
  files: readonly ProgramFile[];
  /** Read-only files outside of the folder of input files, by their whole path, such as `/skills/pdf/SKILL.md`. */
  mounted?: readonly ProgramFile[];
  /** Folder and variables that it shares with other programs; absent: none. */
  shared?: SharedFolder;
  timeout_ms: number;
  memory_mb: number;
}

/** A file of a shared folder; its name is its path there. */
export interface SharedFile extends ProgramFile {
  sha256: string;
}

/** Folder of several programs, as one of them finds it. */
export interface SharedFolder {
  files: readonly SharedFile[];
  /** True if the variables of the program are saved. Only Python has them. */
  saves_variables: boolean;
  /** Variables that an earlier program saved; null if there are none. */
  variables: Uint8Array<ArrayBuffer> | null;
}

/** Changes of a shared folder by a program. */
export interface FolderChanges {
  /** New and changed files. */
  changed: ProgramFile[];
  /** Paths of files that are gone. */
  removed: string[];
  /** Number of files that were left out: too many, too large, or with a name that cannot be kept. */
  dropped: number;
  /** Variables for the next program; null if there are none to keep, absent if they were not to be saved. */
  variables?: Uint8Array<ArrayBuffer> | null;
  /** Names of variables that could not be saved. */
  lost: string[];
  /** Sentences for the model about what it would miss without a word. */
  notes: string[];
}

/**
 * Outcome of a program. Texts are limited, and marked if truncated. A failed program still has its output and files.
 */
export interface ProgramOutcome {
  /** JSON; null if it failed. */
  result: unknown;
  error: ProgramError | null;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  files: ProgramFile[];
  /** Number of files that were left out: too many, or too large. */
  files_dropped: number;
  /** Changes of the shared folder; absent if it has none, or if the program did not end in order. */
  shared?: FolderChanges;
  /** True if the program itself has not begun. */
  unstarted?: true;
  duration_ms: number;
  peak_memory_mb: number | null;
}

export interface ProgramError {
  code: "code_error" | "code_timeout" | "code_out_of_memory" | "code_output_too_large" | "sandbox_failed";
  /** Message for the model, from the interpreter, with limited length. */
  message: string;
}
