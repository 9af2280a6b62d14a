import { rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Beside the database: the vectors in the form in which they are searched, kept for the next start. */
export const vectorsFolder = (database: string): string => join(dirname(database), "vectors");

/** Call this before another database replaces this one: rows that the kept vectors lack would never be found. */
export const forgetVectors = (database: string): void =>
  rmSync(vectorsFolder(database), { recursive: true, force: true });
