/** What goes into a child and comes out of it at most, in bytes. Both sides look: the child cannot be believed. */
export const bounds = {
  source: 256 * 1024,
  input: 32 * 2 ** 20,
  result: 256 * 1024,
  /** Of standard output, and again of standard error. */
  printed: 64 * 1024,
  message: 4 * 1024,
  files: 16,
  /** Of all files that come out. */
  output: 8 * 2 ** 20,
  /** How deep the result nests. */
  depth: 64,
} as const;
