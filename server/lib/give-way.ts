import { getPriority, setPriority } from "node:os";
import { lazy } from "./lazy.ts";
import { native, openCLibrary } from "./native.ts";
import { platform } from "./platform.ts";
import { processTable } from "./process-table.ts";

/**
 * Gives this thread, and the processes that it starts, less of the processor than the main thread has, which everybody
 * waits for. Linux alone has priorities of threads (setpriority(2), "C library/kernel differences").
 */
export function giveWay(by: number): void {
  if (!platform.threadPriorities) return;
  try {
    setPriority(0, Math.min(19, getPriority(0) + by));
  } catch {} // The system forbids it: then all are alike.
}

/** The same for another process, with all threads that it has. */
export function letGiveWay(pid: number, by: number): void {
  ofThreads(pid, (thread) => setPriority(thread, Math.min(19, getPriority() + by)));
}

/**
 * Lets another process compute only where nobody else wants the core (SCHED_IDLE, sched(7)): whoever wakes up has the core
 * at once, and not when a turn has ended, which is what the lowest priority comes to. Nobody but root takes that back.
 */
export function letComputeLast(pid: number): void {
  letGiveWay(pid, 19);
  if (platform.threadPriorities) ofThreads(pid, (thread) => setIdle()(thread));
}

function ofThreads(pid: number, act: (thread: number) => void): void {
  try {
    for (const thread of processTable.threads(pid)) act(thread);
  } catch {} // It is gone, or the system forbids it.
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

/** For how many milliseconds this thread could have worked so far and had no core; 0 where the system does not tell. */
export const waitedForCore = (): number => processTable.waitedForCore_ms() ?? 0;
