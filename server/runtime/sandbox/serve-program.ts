import { isShallow } from "../../lib/json-limits.ts";
import { bounds } from "./bounds.ts";
import { writeMessage } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";
import { encodeFile, encodeSharedFile } from "./end-message.ts";
import { encodePacket } from "./packet.ts";
import { readInput, writeOutput } from "./pipes.ts";
import { decodeProgram } from "./program-message.ts";
import type { LoadRuntime, ProgramEnd } from "./runtime.ts";
import { unsavedVariables } from "./saved-variables.ts";

/** Runs a child that loads a language, runs one program, writes the answer and exits. */
export async function serveProgram(load: LoadRuntime, dropPrivileges: DropPrivileges): Promise<never> {
  const run = await load();
  dropPrivileges();
  writeMessage("ready");
  const program = decodeProgram(readInput);
  if (program === null) process.exit(0);
  let isStarted = false;
  const started = () => {
    if (!isStarted) writeMessage("started");
    isStarted = true;
  };
  // Variables are restored before the program's own time begins.
  if (!program.shared?.variables) started();
  const [stdout, stderr] = [printer("stdout"), printer("stderr")];
  let told: ReturnType<typeof tell> | null = null;
  const saving = (end: ProgramEnd) => {
    if (told) return;
    const truncated = { stdout_truncated: stdout.end(), stderr_truncated: stderr.end() };
    started();
    told = tell(limitResult(end), truncated);
  };
  const end = await run(program, { stdout: stdout.print, stderr: stderr.print, started, saving }).catch(failed);
  saving(end);
  finish(end, told);
  process.exit(0);
}

/** Sends everything but the variables. Returns the last message for after those; null if it was sent. */
function tell(end: ProgramEnd, truncated: object) {
  const { result, error, files, files_dropped, shared, saveVariables, peak_memory_mb } = end;
  if (result !== null) writeOutput(encodePacket("result", encode(result)));
  for (const file of files) writeOutput(encodePacket("file", encodeFile(file)));
  const short = error && { ...error, message: error.message.slice(0, bounds.message) };
  const last = { error: short, files_dropped, peak_memory_mb, ...truncated };
  if (!shared) {
    writeMessage("ended", last);
    return null;
  }
  const { changed, removed, dropped, lost, notes } = shared;
  for (const file of changed) writeOutput(encodePacket("changed", encodeSharedFile(file)));
  if (removed.length > 0) writeMessage("removed", removed);
  const ended = { ...last, shared: { dropped, lost, notes } };
  if (!saveVariables) {
    writeMessage("ended", ended);
    return null;
  }
  writeMessage("saving", ended);
  return ended;
}

/** Saves the variables, if they are awaited, and ends the answer. */
function finish({ saveVariables }: ProgramEnd, last: ReturnType<typeof tell>): void {
  if (!last) return;
  const saved = saveVariables?.() ?? unsavedVariables;
  if (saved.variables) writeOutput(encodePacket("variables", saved.variables));
  const { dropped, notes } = last.shared;
  writeMessage("ended", { ...last, shared: { dropped, lost: saved.lost, notes: [...notes, ...saved.notes] } });
}

/** Enforces the parent's limits of a result, because the parent rejects a larger one. */
function limitResult(end: ProgramEnd): ProgramEnd {
  if (end.result === null) return end;
  const json = encode(end.result);
  if (json.length <= bounds.result && isShallow(json, bounds.depth)) return end;
  const message = `The result is more than ${bounds.result} bytes of JSON, or nests deeper than ${bounds.depth}.`;
  return { ...end, result: null, error: { code: "code_output_too_large", message } };
}

const encode = (text: string) => new TextEncoder().encode(text);

const failed = (error: unknown): ProgramEnd => ({
  result: null,
  error: { code: "sandbox_failed", message: String(error) },
  files: [],
  files_dropped: 0,
  peak_memory_mb: null,
});

const piece = 4096;
const pause_ms = 50;

/**
 * Sends what a program prints: the first part at once, so that it is known even if the program is killed, the rest in
 * pieces. `end` sends the rest and returns true if anything was dropped. Nothing is sent afterwards: code that prints while
 * variables are saved is no part of the program, and the parent refuses a packet out of turn.
 */
function printer(kind: "stdout" | "stderr") {
  let room = bounds.printed;
  let dropped = false;
  let chunks: Uint8Array[] = [];
  let size = 0;
  let sent = Number.NEGATIVE_INFINITY;
  const send = () => {
    if (size > 0) writeOutput(encodePacket(kind, Buffer.concat(chunks)));
    [chunks, size, sent] = [[], 0, performance.now()];
  };
  return {
    print(text: string): void {
      // A UTF-16 unit has at most three bytes: encode at most that much.
      const bytes = new TextEncoder().encode(text.slice(0, room));
      const fitting = bytes.subarray(0, room);
      dropped ||= text.length > room || bytes.length > room;
      if (fitting.length === 0) return;
      chunks.push(fitting);
      size += fitting.length;
      room -= fitting.length;
      if (size >= piece || performance.now() - sent > pause_ms) send();
    },
    end(): boolean {
      send();
      room = 0;
      return dropped;
    },
  };
}
