import { readFileSync } from "node:fs";
import { openAnswer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import { childCommand } from "./child-order.ts";
import { type Frame, frameReader } from "./frame.ts";
import { type ChildLanguage, languages } from "./languages.ts";
import type { Program, ProgramError, ProgramOutcome } from "./program.ts";
import { encodeProgram } from "./program-message.ts";

/** All that a child may ever say: what is bounded, with room for the heads of many small pieces. */
const totalLimit = bounds.output + bounds.result + 8 * 2 * bounds.printed + 2 ** 20;
const startLimit_ms = 10_000;
/** The interpreter ends its program itself where it can, and then still tells what it printed. */
const grace_ms = 500;
const watch_ms = 50;

export interface ChildOptions {
  language: ChildLanguage;
  /** Without: a process of its own and nothing more. */
  jailed: boolean;
  /** Starts something else in its place; for tests of what a child may answer. */
  command?: string[];
}

export type Child = ReturnType<typeof startChild>;

/** Starts a process for one program. Whatever it does, it is gone when `run` has ended, and at its deadline at the latest. */
export function startChild({ language, jailed, command }: ChildOptions) {
  const { load_ms, overhead_mb } = languages[language];
  const order = { language, parent: process.pid };
  const child = Bun.spawn(command ?? childCommand(jailed ? "jail" : "bare", order), {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    env: {},
    cwd: "/",
  });
  const answer = openAnswer();
  const ready = Promise.withResolvers<boolean>();
  let program: Program | null = null;
  let started: number | null = null;
  let ended = 0;
  let why: ProgramError | null = null;
  let diedEarly = false;

  const end = (reason: ProgramError | null) => {
    why ??= reason;
    if (ended === 0) ended = performance.now();
    clearTimeout(timer);
    clearInterval(watch);
    child.kill("SIGKILL");
  };
  const late = () => end(lateError(program, started));
  let timer = setTimeout(late, load_ms);
  let watch: ReturnType<typeof setInterval> | undefined;
  const arm = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(late, ms);
  };

  const hear = (frame: Frame) => {
    if (frame.kind === "ready" && program === null && started === null) {
      clearTimeout(timer);
      return ready.resolve(true);
    }
    if (program === null) throw new Error(`${frame.kind} is out of turn.`);
    if (frame.kind === "started" && started === null) {
      started = performance.now();
      return arm(program.timeout_ms + grace_ms);
    }
    if (started === null) throw new Error(`${frame.kind} is out of turn.`);
    answer.hear(frame);
    if (answer.isWhole()) end(null);
  };
  const gone = listen(child, hear, (error) => end(failure(`gave no valid answer: ${wordsOf(error)}`))).then(() => {
    diedEarly = started === null && ended === 0;
    end(answer.isWhole() ? null : failure(`ended without an answer (${child.signalCode ?? child.exitCode})`));
    ready.resolve(false);
  });
  child.unref();

  return {
    pid: child.pid,
    /** True once it waits for its program, false once it never will. */
    ready: ready.promise,
    gone,
    /** Whether it ended by itself before it began with its program: nothing has happened then. */
    diedEarly: (): boolean => diedEarly,
    isAlive: (): boolean => child.exitCode === null && child.signalCode === null && ended === 0,
    kill: (): void => end({ code: "sandbox_failed", message: "The sandbox was stopped." }),
    /** Runs the program, or waits until this process has ended over it. */
    async run(given: Program, signal: AbortSignal): Promise<ProgramOutcome> {
      child.ref();
      const stop = () => end({ code: "sandbox_failed", message: "Stopped." });
      signal.addEventListener("abort", stop);
      try {
        if (signal.aborted) stop();
        if (await ready.promise) {
          program = given;
          arm(startLimit_ms);
          watch = setInterval(() => {
            if (residentMb(child.pid) > given.memory_mb + overhead_mb) end(memoryError(given));
          }, watch_ms);
          send(child.stdin, given);
        }
        await gone;
        signal.throwIfAborted();
        return answer.outcome(why, ended - (started ?? ended));
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
}

/** Runs a program; a child that dies before it has begun with it (of a full process table, say) is replaced once. */
export async function runReplacing(
  start: () => Child | Promise<Child>,
  program: Program,
  signal: AbortSignal,
): Promise<ProgramOutcome> {
  const child = await start();
  const outcome = await child.run(program, signal);
  return child.diedEarly() ? (await start()).run(program, signal) : outcome;
}

/** Reads what the child says until its pipe and the process itself have ended. Never more than one piece is waiting. */
async function listen(
  child: Bun.Subprocess<"pipe", "pipe", "ignore">,
  hear: (frame: Frame) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  const read = frameReader(bounds.output + 1024);
  let total = 0;
  try {
    for await (const piece of child.stdout) {
      total += piece.length;
      if (total > totalLimit) throw new Error("The child says too much.");
      for (const frame of read(piece)) hear(frame);
    }
  } catch (error) {
    fail(error);
  }
  await child.exited;
}

/** A child that does not read, or is gone, is found out by the timer and by its end; not here. */
function send(stdin: Bun.FileSink, program: Program): void {
  const ignore = () => {};
  const wait = (pending: unknown) => void Promise.resolve(pending).catch(ignore);
  try {
    for (const bytes of encodeProgram(program)) wait(stdin.write(bytes));
    wait(stdin.end());
  } catch {}
}

/** Memory in use, in MB; 0 where the system does not tell. */
function residentMb(pid: number): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ");
    return (Number(pages) * 4096) / 2 ** 20;
  } catch {
    return 0;
  }
}

function lateError(program: Program | null, started: number | null): ProgramError {
  if (program === null || started === null)
    return { code: "sandbox_failed", message: "The sandbox did not start in time." };
  return { code: "code_timeout", message: `The program was ended after ${program.timeout_ms} ms.` };
}

const memoryError = ({ memory_mb }: Program): ProgramError => ({
  code: "code_out_of_memory",
  message: `The program needed more than its ${memory_mb} MB of memory.`,
});

const failure = (what: string): ProgramError => ({
  code: "sandbox_failed",
  message: `The program's process ${what}.`,
});

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : "unreadable").replace(/\.$/, "");
