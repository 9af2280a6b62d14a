import { workspacePathFault } from "../../domain/workspace.ts";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { bounds } from "./bounds.ts";
import { isPlainName } from "./file-name.ts";
import type { ProgramError, ProgramFile } from "./program.ts";

const errorCodes = [
  "code_error",
  "code_timeout",
  "code_out_of_memory",
  "code_output_too_large",
  "sandbox_failed",
] as const;
const headLimit = 64 * 1024;
const most = 1e9;

/** Parses a child's last message; only its shape is validated, its values are untrusted. */
export function readEnd(bytes: Uint8Array) {
  if (bytes.length > headLimit) throw new Error("The child's last word is too long.");
  const said: Record<string, unknown> = Object(JSON.parse(new TextDecoder().decode(bytes)));
  return {
    error: said.error === null ? null : readError(Object(said.error)),
    files_dropped: readCount(said.files_dropped) ?? 0,
    shared: said.shared === undefined ? null : readShared(Object(said.shared)),
    peak_memory_mb: readCount(said.peak_memory_mb),
    stdout_truncated: said.stdout_truncated === true,
    stderr_truncated: said.stderr_truncated === true,
  };
}

function readError({ code, message }: Record<string, unknown>): ProgramError {
  const known = errorCodes.find((candidate) => candidate === code);
  if (!known || typeof message !== "string") throw new Error("The child's error is none.");
  return { code: known, message: message.slice(0, bounds.message) };
}

/** Reads the texts about a shared folder. They are the child's own, and so bounded. */
const readShared = ({ dropped, lost, notes }: Record<string, unknown>) => ({
  dropped: readCount(dropped) ?? 0,
  lost: readTexts(lost, workspaceLimits.lost_names, 100),
  notes: readTexts(notes, 8, 500),
});

const readTexts = (value: unknown, count: number, length: number): string[] =>
  Array.isArray(value)
    ? value.flatMap((text) => (typeof text === "string" ? [text.slice(0, length).toWellFormed()] : [])).slice(0, count)
    : [];

const readCount = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= most ? Math.ceil(value) : null;

/** Encodes a file: one byte for the length of the name, the name, the bytes. */
export function encodeFile({ name, bytes }: ProgramFile): Uint8Array {
  return Buffer.concat([Buffer.of(Buffer.byteLength(name)), Buffer.from(name), bytes]);
}

export function decodeFile(payload: Uint8Array<ArrayBuffer>): ProgramFile {
  const start = 1 + (payload[0] ?? 0);
  const name = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload.subarray(1, start));
  if (!isPlainName(name)) throw new Error("The child sent a file without a plain name.");
  return { name, bytes: payload.slice(start) };
}

/** Encodes a file of a shared folder: two bytes for the length of its path, the path, the bytes. */
export function encodeSharedFile({ name, bytes }: ProgramFile): Uint8Array {
  const path = Buffer.from(name);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(path.length);
  return Buffer.concat([length, path, bytes]);
}

export function decodeSharedFile(payload: Uint8Array<ArrayBuffer>): ProgramFile {
  const start = 2 + (payload[0] ?? 0) + 256 * (payload[1] ?? 0);
  if (payload.length < start) throw new Error("The child sent a file without its whole path.");
  const name = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload.subarray(2, start));
  if (workspacePathFault(name) !== null) throw new Error("The child sent a file with a path that cannot be.");
  return { name, bytes: payload.slice(start) };
}

/** Reads the paths that a program removed: only those of files that it was given. */
export function readRemoved(payload: Uint8Array, known: ReadonlySet<string>): string[] {
  const said: unknown = JSON.parse(new TextDecoder().decode(payload));
  if (!Array.isArray(said)) throw new Error("The child removed what is no list.");
  const paths = new Set(said.map(String));
  for (const path of paths) if (!known.has(path)) throw new Error("The child removed a file that it was not given.");
  return [...paths];
}
