import { comparePaths } from "../../domain/workspace.ts";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { textFault } from "../../lib/json-limits.ts";
import { bounds } from "./bounds.ts";
import { decodeFile, decodeSharedFile, readEnd, readRemoved } from "./end-message.ts";
import type { Packet } from "./packet.ts";
import type { FolderChanges, ProgramError, ProgramFile, ProgramOutcome, SharedFolder } from "./program.ts";

/**
 * Collects the answer of a child. It is untrusted and bounded: a hostile program may have taken over the child.
 * `folder`: what the program shares, if it does.
 */
export function createResultCollector(folder?: SharedFolder) {
  const [stdout, stderr] = [printedText(), printedText()];
  const files: ProgramFile[] = [];
  let result: unknown = null;
  let end: ReturnType<typeof readEnd> | null = null;
  // The end of the program itself, before its variables are saved.
  let saving: ReturnType<typeof readEnd> | null = null;
  const shared = folder && createFolderCollector(folder);

  const takeResult = (bytes: Uint8Array) => {
    if (bytes.length > bounds.result) throw new Error("The result is too large.");
    // Deeper JSON can be parsed, but serializing it again overflows the stack.
    const fault = textFault(bytes, bounds.depth);
    if (fault) throw new Error(fault);
    result = parseExact(new TextDecoder().decode(bytes));
  };
  const takeFile = (bytes: Uint8Array<ArrayBuffer>) => {
    const file = decodeFile(bytes);
    const size = files.reduce((sum, other) => sum + other.bytes.length, file.bytes.length);
    const known = files.some(({ name }) => name === file.name);
    if (known || files.length >= bounds.files || size > bounds.output) throw new Error("The files are too many.");
    files.push(file);
  };

  return {
    /** Throws if the packet is not valid at this point. */
    receive({ kind, payload }: Packet): void {
      if (end !== null || kind === "ready" || kind === "started") throw new Error(`${kind} is out of turn.`);
      if (saving !== null && kind !== "variables" && kind !== "ended") throw new Error(`${kind} is out of turn.`);
      if (kind === "stdout") stdout.add(payload);
      else if (kind === "stderr") stderr.add(payload);
      else if (kind === "result") takeResult(payload);
      else if (kind === "file") takeFile(payload);
      else if (kind === "ended") end = readEnd(payload);
      else if (kind === "saving" && folder?.saves_variables) saving = readEnd(payload);
      else if (kind === "variables" && saving !== null) shared?.saved(payload);
      else if (kind === "changed" && shared) shared.changed(payload);
      else if (kind === "removed" && shared) shared.removed(payload);
      else throw new Error(`${kind} is none of a program's.`);
    },
    isComplete: (): boolean => end !== null,
    /** `error`: an error detected by the parent, which overrides the child's. */
    outcome(error: ProgramError | null, duration_ms: number): ProgramOutcome {
      const said = end ?? saving;
      // A child that is ended while it saves variables has given everything else.
      const failure = (saving && error?.code !== "sandbox_failed" ? null : error) ?? said?.error ?? null;
      const changes = said && failure?.code !== "sandbox_failed" ? shared?.changes(said, end !== null) : null;
      return {
        result: failure ? null : result,
        error: failure,
        stdout: stdout.text(),
        stderr: stderr.text(),
        stdout_truncated: stdout.isCut() || said?.stdout_truncated === true,
        stderr_truncated: stderr.isCut() || said?.stderr_truncated === true,
        // Discard the files of a child that misbehaved.
        files: failure?.code === "sandbox_failed" ? [] : inOrder(files),
        files_dropped: said?.files_dropped ?? 0,
        ...(changes && { shared: changes }),
        duration_ms: Math.round(duration_ms),
        peak_memory_mb: said?.peak_memory_mb ?? null,
      };
    },
  };
}

/** Collects the changes of a shared folder, within its limits. */
function createFolderCollector({ files, saves_variables }: SharedFolder) {
  const known = new Map(files.map(({ name, bytes }) => [name, bytes.length]));
  const changed = new Map<string, ProgramFile>();
  let removed: string[] = [];
  let variables: Uint8Array<ArrayBuffer> | null = null;
  let left: number = workspaceLimits.bytes;
  return {
    changed(payload: Uint8Array<ArrayBuffer>): void {
      const file = decodeSharedFile(payload);
      left -= file.bytes.length;
      if (changed.has(file.name) || changed.size >= workspaceLimits.files || left < 0)
        throw new Error("The files of the folder are too many.");
      changed.set(file.name, file);
    },
    removed(payload: Uint8Array): void {
      removed = readRemoved(payload, new Set(known.keys()));
    },
    saved(payload: Uint8Array<ArrayBuffer>): void {
      if (variables !== null || payload.length > workspaceLimits.variables_bytes)
        throw new Error("The variables are too large.");
      variables = payload.slice();
    },
    /** `isWhole`: false if the child was ended while it saved the variables. Throws nothing. */
    changes({ shared }: ReturnType<typeof readEnd>, isWhole: boolean): FolderChanges | null {
      const sizes = new Map(known);
      for (const path of removed) sizes.delete(path);
      for (const { name, bytes } of changed.values()) sizes.set(name, bytes.length);
      const size = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
      // Only a child that was taken over leaves more.
      if (sizes.size > workspaceLimits.files || size > workspaceLimits.bytes) return null;
      const { dropped, lost, notes } = shared ?? { dropped: 0, lost: [], notes: [] };
      return {
        changed: inOrder([...changed.values()]),
        removed,
        dropped,
        ...(saves_variables && { variables: isWhole ? variables : null }),
        lost,
        notes:
          isWhole || !saves_variables ? notes : [...notes, "Its variables could not be saved in time: none is left."],
      };
    },
  };
}

/** By name, so that the order of a call's files depends on no file system. */
const inOrder = (files: readonly ProgramFile[]): ProgramFile[] =>
  files.toSorted((a, b) => comparePaths(a.name, b.name));

/** Collects what a program printed, up to the limit. */
function printedText() {
  const pieces: Uint8Array[] = [];
  let room: number = bounds.printed;
  let cut = false;
  return {
    add(piece: Uint8Array): void {
      cut ||= piece.length > room;
      if (room > 0 && piece.length > 0) pieces.push(piece.subarray(0, room));
      room -= Math.min(room, piece.length);
    },
    isCut: (): boolean => cut,
    /** Decoded as a stream, so that a character cut at the limit is left out. */
    text: (): string => new TextDecoder().decode(Buffer.concat(pieces), { stream: true }),
  };
}
