import { entryError } from "./skill-error.ts";

/** A file of an archive, under the name that it has there. */
export interface ArchiveFile {
  path: string;
  /** Unpacks it to at most `room` bytes. */
  read(room: number): Uint8Array;
}

/** Decodes a name. Programs write UTF-8 also where they do not say so; other encodings cannot be told apart. */
export function entryName(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw entryError(new TextDecoder().decode(bytes), "has a name that is not UTF-8");
  }
}
