/** Writes `all.ts` of the folders whose modules are kinds. */
export function writeKinds(root: string): void;
