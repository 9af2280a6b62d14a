import { join } from "node:path";

/** Path of the project's folder: scripts work from any folder. */
export const root = join(import.meta.dir, "..");

/** Returns a path inside the project. */
export const inProject = (...parts: string[]): string => join(root, ...parts);
