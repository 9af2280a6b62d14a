import { CommanderError } from "commander";

/** Exit codes of the process, for scripts and service managers. */
export const exitCodes = { done: 0, failed: 1, usage: 2, differs: 3, in_use: 75, too_new: 78, unread: 141 } as const;

/** An error of usage, or news for the person at the command line: shown without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly code: number = exitCodes.failed,
  ) {
    super(message);
    this.name = "CliError";
  }
}

/**
 * Thrown if the reader of a command's output has closed it. The command then ends silently, as SIGPIPE ends other
 * programs.
 */
export class OutputClosed extends Error {}

export const usageError = (message: string): CliError => new CliError(message, exitCodes.usage);

/**
 * Thrown for a setting that requires another one. A check of one file cannot know if a variable or a flag sets that.
 */
export class SettingLacking extends CliError {
  constructor(message: string, code: number = exitCodes.usage) {
    super(message, code);
  }
}

// By name: comparing classes would load the database for "runnel version" too.
const byName: Record<string, number> = {
  DataDirInUse: exitCodes.in_use,
  DatabaseTooNew: exitCodes.too_new,
  ClusterError: exitCodes.too_new,
  EgressError: exitCodes.usage, // An invalid rule of `--egress-allow`.
};

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.code;
  if (error instanceof OutputClosed) return exitCodes.unread;
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  return (error instanceof Error && byName[error.name]) || exitCodes.failed;
}

const foreseen = new Set([
  "CliError",
  "AppError",
  "CertificateUnusable",
  "ClusterError",
  "ConnectionLost",
  "CopyRefused",
  "DataDirInUse",
  "DataDirRefused",
  "DatabaseTooNew",
  "DatabaseUnusable",
  "EgressError",
  "MasterKeyUnusable",
]);

/**
 * Returns the message for an error; null if it was printed already. A bug shows its stack, an expected error does not.
 */
export function explain(error: unknown): string | null {
  if (error instanceof CommanderError || error instanceof OutputClosed) return null;
  if (!(error instanceof Error)) return String(error);
  if (foreseen.has(error.name) || "code" in error) return error.message || null;
  return error.stack ?? error.message;
}
