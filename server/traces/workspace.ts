import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Workspace = ReturnType<typeof createWorkspace>;

/**
 * A folder for files that are too large for memory and live as long as one request. `given` is nobody else's; without
 * one they are among the system's temporary files.
 */
export function createWorkspace(given: string | null) {
  if (given !== null && existsSync(given)) clear(given);
  let path = given;
  const folder = (): string => {
    path ??= mkdtempSync(join(tmpdir(), "runnel-"));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };

  return {
    /** A name for a new file; whoever made it removes it. */
    name: (kind: "capsule" | "upload"): string => join(folder(), `${crypto.randomUUID()}.${kind}`),
    remove,
    /** Ends it: a folder of its own goes. */
    close(): void {
      if (given === null && path !== null) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** What a process that was killed has left behind. */
function clear(path: string): void {
  for (const name of readdirSync(path)) if (/\.(capsule|upload)(-journal)?$/.test(name)) remove(join(path, name));
}

const remove = (file: string): void => {
  for (const part of ["", "-journal"]) rmSync(file + part, { force: true });
};

/** Opens a file whose name goes at once where the system lets it: then not even a crash leaves it behind. */
export function openUnnamed(file: string): number {
  const handle = openSync(file, "r");
  try {
    unlinkSync(file);
  } catch {} // On some systems an open file keeps its name; it goes when it is closed.
  return handle;
}

const pieceBytes = 256 * 1024;

/** What is in an open file, piece by piece. */
export function* piecesOf(handle: number): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let at = 0; ; ) {
    const piece = new Uint8Array(pieceBytes);
    const count = readSync(handle, piece, 0, pieceBytes, at);
    if (count === 0) return;
    at += count;
    yield piece.subarray(0, count);
  }
}
