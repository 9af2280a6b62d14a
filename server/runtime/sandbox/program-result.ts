import { parseExact } from "../../lib/exact-numbers.ts";
import { textFault } from "../../lib/json-limits.ts";
import { bounds } from "./bounds.ts";
import { decodeFile, readEnd } from "./end-message.ts";
import type { Packet } from "./packet.ts";
import type { ProgramError, ProgramFile, ProgramOutcome } from "./program.ts";

/** Collects the answer of a child. It is untrusted and bounded: a hostile program may have taken over the child. */
export function createResultCollector() {
  const [stdout, stderr] = [printedText(), printedText()];
  const files: ProgramFile[] = [];
  let result: unknown = null;
  let end: ReturnType<typeof readEnd> | null = null;

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
      if (kind === "stdout") stdout.add(payload);
      else if (kind === "stderr") stderr.add(payload);
      else if (kind === "result") takeResult(payload);
      else if (kind === "file") takeFile(payload);
      else if (kind === "ended") end = readEnd(payload);
      else throw new Error(`${kind} is none of a program's.`);
    },
    isComplete: (): boolean => end !== null,
    /** `error`: an error detected by the parent, which overrides the child's. */
    outcome(error: ProgramError | null, duration_ms: number): ProgramOutcome {
      const failure = error ?? end?.error ?? null;
      return {
        result: failure ? null : result,
        error: failure,
        stdout: stdout.text(),
        stderr: stderr.text(),
        stdout_truncated: stdout.isCut() || end?.stdout_truncated === true,
        stderr_truncated: stderr.isCut() || end?.stderr_truncated === true,
        // Discard the files of a child that misbehaved.
        files: failure?.code === "sandbox_failed" ? [] : files,
        files_dropped: end?.files_dropped ?? 0,
        duration_ms: Math.round(duration_ms),
        peak_memory_mb: end?.peak_memory_mb ?? null,
      };
    },
  };
}

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
