import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Workspace = ReturnType<typeof createWorkspace>;

/**
 * Folder for files that are too large for memory and live as long as one request. `given` must not be shared; default:
 * a temporary folder.
 */
export function createWorkspace(configuredPath: string | null) {
  if (configuredPath !== null && existsSync(configuredPath)) clear(configuredPath);
  let path = configuredPath;
  const folder = (): string => {
    path ??= mkdtempSync(join(tmpdir(), "runnel-"));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };

  return {
    /** Path of a new file, which the caller removes. */
    name: (kind: "capsule" | "upload"): string => join(folder(), `${crypto.randomUUID()}.${kind}`),
    remove,
    /** Deletes the folder if it is temporary. */
    close(): void {
      if (configuredPath === null && path !== null) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Deletes files of a killed process. */
function clear(path: string): void {
  for (const name of readdirSync(path)) if (/\.(capsule|upload)(-journal)?$/.test(name)) remove(join(path, name));
}

const remove = (file: string): void => {
  for (const part of ["", "-journal"]) rmSync(file + part, { force: true });
};

/** Opens a file and unlinks it at once if the system allows, so that a crash leaves nothing behind. */
export function openUnnamed(file: string): number {
  const handle = openSync(file, "r");
  try {
    unlinkSync(file);
  } catch {} // Some systems cannot unlink an open file; it is deleted when closed.
  return handle;
}

const pieceBytes = 256 * 1024;

/** Reads an open file in pieces. */
export function* piecesOf(handle: number): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let at = 0; ; ) {
    const piece = new Uint8Array(pieceBytes);
    const count = readSync(handle, piece, 0, pieceBytes, at);
    if (count === 0) return;
    at += count;
    yield piece.subarray(0, count);
  }
}
