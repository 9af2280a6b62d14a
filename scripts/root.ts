import { join } from "node:path";

/** The project's folder: scripts work from anywhere. */
export const root = join(import.meta.dir, "..");

/** A path inside the project. */
export const inProject = (...parts: string[]): string => join(root, ...parts);
