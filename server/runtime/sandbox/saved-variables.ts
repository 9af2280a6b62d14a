import { workspaceLimits } from "../../domain/workspace-limits.ts";
import type { SavedVariables } from "./runtime.ts";

/** Files by which the driver takes the variables of earlier programs, and gives those of its program. */
export const [restoredFile, savedFile] = ["/tmp/restored-variables", "/tmp/saved-variables"] as const;

/** Maximum bytes of the variables, without the head of their file, which has their names. */
export const variablesRoom = workspaceLimits.variables_bytes - 256 * 1024;

/** Start of the variables that the interpreter with packages saved: its layout, and its name of the platform. */
const packagesHead = Buffer.from("2 wasi ");

/** True if the interpreter with packages saved them, so that only it can read all of them. */
export const areFromPackages = (variables: Uint8Array): boolean =>
  packagesHead.equals(variables.subarray(0, packagesHead.length));

/** Reads the driver's JSON about the variables that it saved. `read` returns them; null if there are none. */
export function savedVariables(said: string, read: () => Uint8Array<ArrayBuffer> | null): SavedVariables {
  const { lost, note }: { lost: string[]; note: string | null } = JSON.parse(said);
  return note === null ? { variables: read(), lost, notes: [] } : { variables: null, lost, notes: [note] };
}

export const unsavedVariables: SavedVariables = {
  variables: null,
  lost: [],
  notes: ["No variable is left for the next program, because they could not be saved: the interpreter failed."],
};
