import { CommanderError } from "commander";

/** How the process ends; scripts and service managers tell the cases apart by it. */
export const exitCodes = { done: 0, failed: 1, usage: 2, in_use: 75, too_new: 78, unread: 141 } as const;

/** What the person at the command line did wrong, or must know: shown without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly code: number = exitCodes.failed,
  ) {
    super(message);
    this.name = "CliError";
  }
}

/** Nobody reads what a command prints any more. It ends as other programs do then, which SIGPIPE ends: without a word. */
export class OutputClosed extends Error {}

export const usageError = (message: string): CliError => new CliError(message, exitCodes.usage);

/** A setting requires another one that is not set. A check of one file cannot know whether a variable or a flag sets it. */
export class SettingLacking extends CliError {
  constructor(message: string, code: number = exitCodes.usage) {
    super(message, code);
  }
}

// By name: to compare classes would load the database for "runnel version" too.
const byName: Record<string, number> = {
  DataDirInUse: exitCodes.in_use,
  DatabaseTooNew: exitCodes.too_new,
  ClusterError: exitCodes.too_new,
  EgressError: exitCodes.usage, // A rule of `--egress-allow` that cannot be read.
};

/** The code that an error ends the process with. */
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

/** What to say of an error; null when it has been said. A bug shows its stack, what was foreseen does not. */
export function explain(error: unknown): string | null {
  if (error instanceof CommanderError || error instanceof OutputClosed) return null;
  if (!(error instanceof Error)) return String(error);
  if (foreseen.has(error.name) || "code" in error) return error.message || null;
  return error.stack ?? error.message;
}
