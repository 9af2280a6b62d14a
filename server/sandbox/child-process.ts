import { closeSync } from "node:fs";
import { letComputeLast, letGiveWay } from "../lib/give-way.ts";
import { processTable } from "../lib/process-table.ts";
import { startFault, startPatiently } from "../lib/start-patiently.ts";
import { bounds } from "./bounds.ts";
import { childCommand } from "./child-order.ts";
import { type ChildLanguage, languages } from "./languages.ts";
import { type Packet, packetReader } from "./packet.ts";
import { parentSocket } from "./parent-socket.ts";
import type { Program, ProgramOutcome } from "./program.ts";
import { programTask } from "./program-task.ts";
import type { Stop, Task } from "./task.ts";

/** The largest piece in which any child may speak. */
const packetLimit = bounds.output + 1024;
/** Until it has its task a child says that it is ready, and nothing more. */
const silence = 1024;
const startLimit_ms = 10_000;
/** The interpreter ends its program itself where it can, and then still tells what it printed. */
const grace_ms = 500;
const watch_ms = 50;
// A program that has computed for longer gives way: neither the server nor short programs should wait for it. One that has
// only waited for its turn keeps its place. Where its owner has others at work it gets only what everybody else leaves: an
// owner's only one goes on slowly beside other work of the machine too, or its time would end first.
const short_ms = 250;
// And each that its owner has at work already costs it some of its own from the start, in steps of setpriority(2).
const yieldForEach = 3;
/** So many times its time may pass while a task that is timed by the processor waits for its turn. */
const clockMost = 10;

export interface ChildOptions {
  language: ChildLanguage;
  /** Without: a process of its own and nothing more. */
  jailed: boolean;
  /** Starts something else in its place; for tests of what a child may answer. */
  command?: string[];
}

export type Child = ReturnType<typeof startChild>;

/** Starts a process for one task. Whatever it does, it is gone when `run` has ended, and at its deadline at the latest. */
export function startChild({ language, jailed, command }: ChildOptions) {
  const { load_ms, overhead_mb } = languages[language];
  const order = { language, parent: process.pid };
  const child = Bun.spawn(command ?? childCommand(jailed ? "jail" : "bare", order), {
    stdio: jailed ? ["pipe", "pipe", "ignore", "pipe"] : ["pipe", "pipe", "ignore"],
    env: {},
    cwd: "/",
  });
  // Whoever asks for it has to close it.
  const ownEnd = jailed ? child.stdio[parentSocket] : null;
  const ready = Promise.withResolvers<boolean>();
  let task: Task<unknown> | null = null;
  let started: number | null = null;
  // Processor time until it began with its task.
  let loaded_ms = 0;
  let ended = 0;
  let why: Stop | null = null;
  let diedEarly = false;
  let isLong = false;

  const end = (reason: Stop | null) => {
    why ??= reason;
    if (ended === 0) ended = performance.now();
    clearTimeout(timer);
    clearInterval(watch);
    child.kill("SIGKILL");
  };
  const late = () => {
    const figures = processTable.figures(child.pid);
    const more_ms = task && started !== null && figures ? owed_ms(task, started, figures.computed_ms - loaded_ms) : 0;
    if (more_ms > 0) arm(more_ms);
    else end(lateError(task, started));
  };
  let timer = setTimeout(late, load_ms);
  let watch: ReturnType<typeof setInterval> | undefined;
  const arm = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(late, ms);
  };

  const hear = (packet: Packet) => {
    if (packet.kind === "ready" && task === null && started === null) {
      clearTimeout(timer);
      return ready.resolve(true);
    }
    if (task === null) throw new Error(`${packet.kind} is out of turn.`);
    if (packet.kind === "started" && started === null) {
      started = performance.now();
      void sendContent(child.stdin, task, gone, () => ended > 0).catch((error) =>
        end(failure(`could not be given all: ${wordsOf(error)}`)),
      );
      return arm(task.timeout_ms + grace_ms);
    }
    if (started === null) throw new Error(`${packet.kind} is out of turn.`);
    task.hear(packet);
    if (task.isWhole()) end(null);
  };
  const gone: Promise<void> = listen(
    child,
    hear,
    () => task?.said_max ?? silence,
    (error) => end(failure(`gave no valid answer: ${wordsOf(error)}`)),
  ).then(() => {
    diedEarly = started === null && ended === 0;
    end(task?.isWhole() ? null : failure(`ended without an answer (${child.signalCode ?? child.exitCode})`));
    ready.resolve(false);
    letGo(child.stdin);
    if (typeof ownEnd === "number") closeSync(ownEnd);
  });
  child.unref();

  /** Does the task, or waits until this process has ended over it. */
  const perform = async <Outcome>(given: Task<Outcome>, signal: AbortSignal, beside = 0): Promise<Outcome> => {
    child.ref();
    if (beside > 0) letGiveWay(child.pid, yieldForEach * beside);
    const stop = () => end({ kind: "failed", message: "Stopped." });
    signal.addEventListener("abort", stop);
    try {
      if (signal.aborted) stop();
      if (await ready.promise) {
        task = given;
        arm(startLimit_ms);
        watch = setInterval(() => {
          const figures = processTable.figures(child.pid);
          if (figures === null) return;
          const { resident_mb, computed_ms } = figures;
          if (resident_mb > given.memory_mb + overhead_mb) end({ kind: "memory", message: given.memory_message });
          if (started === null) loaded_ms = computed_ms;
          else if (!isLong && computed_ms - loaded_ms > short_ms) {
            isLong = true;
            if (beside > 0) letComputeLast(child.pid);
            else letGiveWay(child.pid, 19);
          }
        }, watch_ms);
        send(child.stdin, given.order);
      }
      await gone;
      signal.throwIfAborted();
      return given.outcome(why, ended - (started ?? ended));
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };

  return {
    pid: child.pid,
    /** True once it waits for its task, false once it never will. */
    ready: ready.promise,
    gone,
    /** Whether it ended by itself before it began with its task: nothing has happened then. */
    diedEarly: (): boolean => diedEarly,
    isAlive: (): boolean => child.exitCode === null && child.signalCode === null && ended === 0,
    kill: (): void => end({ kind: "failed", message: "The sandbox was stopped." }),
    perform,
    run: (program: Program, signal: AbortSignal): Promise<ProgramOutcome> => perform(programTask(program), signal),
  };
}

/**
 * Does a task in a child that `start` gives. One that the system does not start now is asked for again for a while, and one
 * that dies before it has begun is replaced once: nothing has happened then. `beside` is how many others of its owner are
 * at work: it gives way to whoever has fewer.
 */
export async function performReplacing<Outcome>(
  start: () => Child | Promise<Child>,
  task: () => Task<Outcome>,
  signal: AbortSignal,
  beside = 0,
): Promise<Outcome> {
  const once = async () => {
    const child = await startPatiently(start, signal).catch(unstarted);
    if ("kind" in child) return { outcome: task().outcome(child, 0), diedEarly: false };
    return { outcome: await child.perform(task(), signal, beside), diedEarly: child.diedEarly() };
  };
  const first = await once();
  return first.diedEarly ? (await once()).outcome : first.outcome;
}

function unstarted(error: unknown): Stop {
  const fault = startFault(error);
  if (fault === null) throw error;
  return failure(`could not be started (${fault})`);
}

/** Reads what the child says until its pipe and the process itself have ended. Never more than one piece is waiting. */
async function listen(
  child: Bun.Subprocess<"pipe", "pipe", "ignore">,
  hear: (packet: Packet) => void,
  limit: () => number,
  fail: (error: unknown) => void,
): Promise<void> {
  const read = packetReader(packetLimit);
  let total = 0;
  try {
    for await (const piece of child.stdout) {
      total += piece.length;
      if (total > limit()) throw new Error("The child says too much.");
      for (const packet of read(piece)) hear(packet);
    }
  } catch (error) {
    fail(error);
  }
  await child.exited;
}

/** A child that does not read, or is gone, is found out by the timer and by its end; not here. */
function send(stdin: Bun.FileSink, pieces: readonly Uint8Array[]): void {
  const ignore = () => {};
  const wait = (pending: unknown) => void Promise.resolve(pending).catch(ignore);
  try {
    for (const bytes of pieces) wait(stdin.write(bytes));
    wait(stdin.flush());
  } catch {}
}

/** Nobody reads any more. */
function letGo(stdin: Bun.FileSink): void {
  try {
    void Promise.resolve(stdin.end()).catch(() => {});
  } catch {}
}

/**
 * Piece by piece, as the child reads: no more than one is in memory. Whoever gives the pieces is told of an early end.
 */
async function sendContent(
  stdin: Bun.FileSink,
  { content, content_bytes }: Task<unknown>,
  gone: Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  let left = content_bytes;
  for (const piece of content) {
    if (isOver()) return;
    left -= piece.length;
    if (left < 0) break;
    await Promise.race([flushed(stdin, piece), gone]);
  }
  if (left !== 0) throw new Error("its content is not as long as was said");
}

async function flushed(stdin: Bun.FileSink, piece: Uint8Array): Promise<void> {
  try {
    await stdin.write(piece);
    await stdin.flush();
  } catch {}
}

/**
 * How long a task that is over its time may still go on. On a busy machine one that is timed by the processor has got
 * little of it, and would be done on any other day; the clock bounds it all the same.
 */
function owed_ms({ timed_by, timeout_ms }: Task<unknown>, started: number, computed_ms: number): number {
  if (timed_by === "clock" || computed_ms >= timeout_ms) return 0;
  const left_ms = clockMost * timeout_ms - (performance.now() - started);
  return Math.min(left_ms, Math.max(watch_ms, timeout_ms - computed_ms));
}

function lateError(task: Task<unknown> | null, started: number | null): Stop {
  if (task === null || started === null) return { kind: "failed", message: "The sandbox did not start in time." };
  return { kind: "late", message: task.late_message };
}

const failure = (what: string): Stop => ({ kind: "failed", message: `The sandbox's process ${what}.` });

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : "unreadable").replace(/\.$/, "");
