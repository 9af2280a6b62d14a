import type { CodeLanguage } from "../core/agent-snapshot.ts";

/** A file that goes in (read-only) or comes out. Its name is plain: no folders. */
export interface ProgramFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What a jailed child runs, once. */
export interface Program {
  language: CodeLanguage;
  code: string;
  /** Given: `code` is a function of them (JavaScript: an expression `(args) => …`; Python: `def main(args)`). Null: its last expression is the result. */
  arguments: Record<string, unknown> | null;
  files: readonly ProgramFile[];
  timeout_ms: number;
  memory_mb: number;
}

/** What came of it. Texts are bounded, and cut ones are marked; a program that failed still has what it printed and wrote. */
export interface ProgramOutcome {
  /** JSON; null when it failed. */
  result: unknown;
  error: ProgramError | null;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  files: ProgramFile[];
  /** Files that were not taken: too many, or too large. */
  files_dropped: number;
  duration_ms: number;
  peak_memory_mb: number | null;
}

export interface ProgramError {
  code: "code_error" | "code_timeout" | "code_out_of_memory" | "code_output_too_large" | "sandbox_failed";
  /** For the model: the interpreter's own words, bounded. */
  message: string;
}
