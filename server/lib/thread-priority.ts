import { getPriority, setPriority } from "node:os";
import { lazy } from "./lazy.ts";
import { native, openCLibrary } from "./native.ts";
import { platform } from "./platform.ts";
import { processTable } from "./process-table.ts";

/**
 * Lowers this thread's priority (and its children's) below the main thread's, which serves requests. Linux only: other
 * systems have no thread priorities (setpriority(2), "C library/kernel differences").
 */
export function lowerPriority(by: number): void {
  if (!platform.threadPriorities) return;
  try {
    setPriority(0, Math.min(19, getPriority(0) + by));
  } catch {} // The system forbids it: priorities stay equal.
}

const background = 10;

/**
 * Gives a process the priority of work in the background, so that a server on this machine takes precedence: at least a
 * niceness of 10, because only root can raise a priority again.
 */
export function setBackgroundPriority(pid = process.pid): void {
  try {
    setPriority(pid, Math.max(background, getPriority(pid)));
  } catch {} // The process is gone, or the system forbids it.
}

/** Lowers the priority of all threads of another process. */
export function lowerThreadPriority(pid: number, by: number): void {
  forEachThread(pid, (thread) => setPriority(thread, Math.min(19, getPriority() + by)));
}

/**
 * Sets SCHED_IDLE (sched(7)): the process runs only on an idle core. Nice 19 would still delay a waking thread by a
 * time slice. Only root can undo it.
 */
export function setIdlePriority(pid: number): void {
  lowerThreadPriority(pid, 19);
  if (platform.threadPriorities) forEachThread(pid, (thread) => setIdle()(thread));
}

function forEachThread(pid: number, act: (thread: number) => void): void {
  try {
    for (const thread of processTable.threads(pid)) act(thread);
  } catch {} // The process is gone, or the system forbids it.
}

const setIdle = lazy((): ((thread: number) => void) => {
  const { FFIType, ptr } = native();
  const [schedSetScheduler, idle] = [process.arch === "x64" ? 144 : 119, 5];
  const { symbols } = openCLibrary({
    syscall: { args: [FFIType.u64, FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i64 },
  });
  const noPriority = new Int32Array(1);
  return (thread) => void symbols.syscall(BigInt(schedSetScheduler), thread, idle, ptr(noPriority));
});

/** Milliseconds that this thread was ready to run but had no core; 0 if unknown. */
export const runQueueDelay = (): number => processTable.waitedForCore_ms() ?? 0;
