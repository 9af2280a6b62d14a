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
  timeout_ms: number;
  memory_mb: number;
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
  duration_ms: number;
  peak_memory_mb: number | null;
}

export interface ProgramError {
  code: "code_error" | "code_timeout" | "code_out_of_memory" | "code_output_too_large" | "sandbox_failed";
  /** Message for the model, from the interpreter, with limited length. */
  message: string;
}
