import { closeSync } from "node:fs";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { processTable } from "../../lib/process-table.ts";
import { describeSpawnError, spawnWithRetry } from "../../lib/spawn-with-retry.ts";
import { lowerThreadPriority, setIdlePriority } from "../../lib/thread-priority.ts";
import { bounds } from "./bounds.ts";
import { childCommand } from "./child-order.ts";
import { type ChildLanguage, languages } from "./languages.ts";
import { type Packet, packetReader } from "./packet.ts";
import { parentSocket } from "./parent-socket.ts";
import type { Program, ProgramOutcome } from "./program.ts";
import { programTask } from "./program-task.ts";
import type { SystemPython } from "./system-python.ts";
import { type StopReason, startLimit_ms, type Task } from "./task.ts";

/** Maximum bytes of any packet from a child. */
const packetLimit = Math.max(bounds.output, workspaceLimits.bytes) + 1024;
/** Maximum bytes from a child before it has a task: it only reports that it is ready. */
const startupOutputMax = 1024;
/**
 * Extra milliseconds after the timeout, in which the interpreter can end the program itself and report its output. On a
 * busy machine half a second is too short: files and variables of the program would be lost.
 */
const grace_ms = 2000;
const watch_ms = 50;
// Processor time in ms after which a program's priority is lowered, so that it delays neither the server nor short
// programs; waiting does not count. If its owner runs others, it gets idle time only.
const short_ms = 250;
// An owner's only program gets a tenth of a core beside a busy process (sched(7): each step is a factor of 1.25), so
// that it ends within `wallClockFactor` times its timeout. At 19 it would get a seventieth, and time out.
const longNiceness = 10;
// Niceness steps per program that its owner already runs, applied from the start.
const nicenessStep = 3;
/** Maximum wall-clock time of a task timed by processor, as a multiple of its timeout. */
const wallClockFactor = 10;

export interface ChildOptions {
  language: ChildLanguage;
  /** False: a separate process without a jail. */
  jailed: boolean;
  /** The interpreter of `system-python`. */
  python?: SystemPython | null;
  /** Command started instead of a child; for tests. */
  command?: string[];
}

export type Child = ReturnType<typeof startChild>;

/** Starts a process for one task. The process is gone when `run` settles, at the latest at its deadline. */
export function startChild({ language, jailed, python, command }: ChildOptions) {
  const { load_ms, overhead_mb } = languages[language];
  const order = { language, parent: process.pid, ...(python && { python }) };
  const child = Bun.spawn(command ?? childCommand(jailed ? "jail" : "bare", order), {
    stdio: jailed ? ["pipe", "pipe", "ignore", "pipe"] : ["pipe", "pipe", "ignore"],
    env: {},
    cwd: "/",
  });
  // A requested extra pipe must be closed by us.
  const ownEnd = jailed ? child.stdio[parentSocket] : null;
  const ready = Promise.withResolvers<boolean>();
  let task: Task<unknown> | null = null;
  let started: number | null = null;
  // Processor time used before the task started.
  let loaded_ms = 0;
  let computed: number | null = null;
  let ended = 0;
  let why: StopReason | null = null;
  let diedEarly = false;
  let isLong = false;

  const end = (reason: StopReason | null) => {
    why ??= reason;
    if (ended === 0) ended = performance.now();
    clearTimeout(timer);
    clearInterval(watch);
    child.kill("SIGKILL");
  };
  const late = () => {
    const figures = processTable.figures(child.pid);
    const more_ms =
      task && started !== null && figures ? remaining_ms(task, started, figures.computed_ms - loaded_ms) : 0;
    if (more_ms > 0) startTimer(more_ms);
    else end(lateError(task, started));
  };
  let timer = setTimeout(late, load_ms);
  let watch: ReturnType<typeof setInterval> | undefined;
  const startTimer = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(late, ms);
  };

  const onPacket = (packet: Packet) => {
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
      return startTimer(task.timeout_ms + grace_ms);
    }
    if (started === null) throw new Error(`${packet.kind} is out of turn.`);
    task.onPacket(packet);
    if (packet.kind === "saving") startTimer(task.save_ms ?? 0);
    if (task.isComplete()) end(null);
  };
  const gone: Promise<void> = listen(
    child,
    onPacket,
    () => task?.output_max_bytes ?? startupOutputMax,
    (error) => end(failure(`gave no valid answer: ${wordsOf(error)}`)),
  ).then(() => {
    diedEarly = started === null && ended === 0;
    const exit = failure(`ended without an answer (${child.signalCode ?? child.exitCode})`);
    end(task?.isComplete() ? null : { ...exit, kind: started === null ? "failed" : "ended" });
    ready.resolve(false);
    letGo(child.stdin);
    if (typeof ownEnd === "number") closeSync(ownEnd);
  });
  child.unref();

  /** Performs the task. Settles after the process has ended. */
  const perform = async <Outcome>(newTask: Task<Outcome>, signal: AbortSignal, ownerPrograms = 0): Promise<Outcome> => {
    child.ref();
    if (ownerPrograms > 0) lowerThreadPriority(child.pid, nicenessStep * ownerPrograms);
    const stop = () => end({ kind: "failed", message: "Stopped." });
    signal.addEventListener("abort", stop);
    try {
      if (signal.aborted) stop();
      if (await ready.promise) {
        task = newTask;
        startTimer(newTask.start_ms ?? startLimit_ms);
        watch = setInterval(() => {
          const figures = processTable.figures(child.pid);
          if (figures === null) return;
          const { resident_mb, computed_ms } = figures;
          if (resident_mb > newTask.memory_mb + overhead_mb) end({ kind: "memory", message: newTask.memory_message });
          computed = computed_ms;
          if (started === null) loaded_ms = computed_ms;
          else if (!isLong && computed_ms - loaded_ms > short_ms) {
            isLong = true;
            if (ownerPrograms > 0) setIdlePriority(child.pid);
            else lowerThreadPriority(child.pid, longNiceness);
          }
        }, watch_ms);
        send(child.stdin, newTask.order);
      }
      await gone;
      signal.throwIfAborted();
      const duration_ms = ended - (started ?? ended);
      const reason = why && started === null ? { ...why, unstarted: true as const } : why;
      return newTask.outcome(reason, duration_ms, computed === null ? duration_ms : computed - loaded_ms);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };

  return {
    pid: child.pid,
    /** Resolves to true when the child waits for its task, to false if it ends before. */
    ready: ready.promise,
    gone,
    /** True if it ended by itself before the task started, so that a retry is safe. */
    diedEarly: (): boolean => diedEarly,
    isAlive: (): boolean => child.exitCode === null && child.signalCode === null && ended === 0,
    kill: (): void => end({ kind: "failed", message: "The sandbox was stopped." }),
    perform,
    run: (program: Program, signal: AbortSignal): Promise<ProgramOutcome> => perform(programTask(program), signal),
  };
}

/**
 * Performs a task in a child from `start`. Retries for a while if the system cannot start a process. Replaces a child
 * once that dies before the task has started, which is safe. `ownerPrograms` is the number of programs that the owner
 * already runs: each lowers the priority.
 */
export async function performWithRestart<Outcome>(
  start: () => Child | Promise<Child>,
  task: () => Task<Outcome>,
  signal: AbortSignal,
  ownerPrograms = 0,
): Promise<Outcome> {
  const once = async () => {
    const child = await spawnWithRetry(start, signal).catch(unstarted);
    if ("kind" in child) return { outcome: task().outcome(child, 0, 0), diedEarly: false };
    return { outcome: await child.perform(task(), signal, ownerPrograms), diedEarly: child.diedEarly() };
  };
  const first = await once();
  return first.diedEarly ? (await once()).outcome : first.outcome;
}

function unstarted(error: unknown): StopReason {
  const fault = describeSpawnError(error);
  if (fault === null) throw error;
  return failure(`could not be started (${fault})`);
}

/** Reads packets until the pipe and the process have ended. At most one packet is buffered. */
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

/** Errors are ignored: a child that does not read, or is gone, is detected by the timer and by its exit. */
function send(stdin: Bun.FileSink, pieces: readonly Uint8Array[]): void {
  const ignore = () => {};
  const wait = (pending: unknown) => void Promise.resolve(pending).catch(ignore);
  try {
    for (const bytes of pieces) wait(stdin.write(bytes));
    wait(stdin.flush());
  } catch {}
}

/** Closes standard input, which is no longer read. */
function letGo(stdin: Bun.FileSink): void {
  try {
    void Promise.resolve(stdin.end()).catch(() => {});
  } catch {}
}

/**
 * Sends the content piece by piece as the child reads, so that only one is in memory. The iterator is closed if the
 * child ends early.
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
 * Returns the additional milliseconds for a task past its timeout. On a busy machine a task timed by processor has got
 * little of it, and would otherwise be done; the wall clock limits it nevertheless.
 */
function remaining_ms({ timed_by, timeout_ms }: Task<unknown>, started: number, computed_ms: number): number {
  if (timed_by === "clock" || computed_ms >= timeout_ms) return 0;
  const left_ms = wallClockFactor * timeout_ms - (performance.now() - started);
  return Math.min(left_ms, Math.max(watch_ms, timeout_ms - computed_ms));
}

function lateError(task: Task<unknown> | null, started: number | null): StopReason {
  if (task === null || started === null) return { kind: "failed", message: "The sandbox did not start in time." };
  return { kind: "late", message: task.late_message };
}

const failure = (what: string): StopReason => ({ kind: "failed", message: `The sandbox's process ${what}.` });

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : "unreadable").replace(/\.$/, "");
