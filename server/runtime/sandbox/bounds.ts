/**
 * Limits for data into and out of a child, in bytes except for `files` and `depth`. Both sides check them, because the
 * child is not trusted.
 */
export const bounds = {
  source: 256 * 1024,
  input: 32 * 2 ** 20,
  result: 256 * 1024,
  /** Standard output and standard error, each. */
  printed: 64 * 1024,
  message: 4 * 1024,
  files: 16,
  /** Total of all output files. */
  output: 8 * 2 ** 20,
  /** Nesting depth of the result. */
  depth: 64,
} as const;

/** Time for restoring variables, and for saving them, beside that of the program. */
export const variables_ms = 5000;
/** The same of processor time where tables and arrays also load their packages. */
export const packageVariables_ms = 30_000;
