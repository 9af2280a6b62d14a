import { rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Beside the database: where vectors lie as they are searched, so that the next start need not make them again. */
export const vectorsFolder = (database: string): string => join(dirname(database), "vectors");

/**
 * To be called before another database comes in the place of this one: what was deleted and put in there, vectors that are
 * kept cannot tell. A row that they lack would never be found.
 */
export const forgetVectors = (database: string): void =>
  rmSync(vectorsFolder(database), { recursive: true, force: true });
