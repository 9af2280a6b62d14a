import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * Gives this thread, and the processes that it starts, less of the processor than the main thread has, which everybody
 * waits for. Linux alone has priorities of threads (setpriority(2), "C library/kernel differences").
 */
export function giveWay(by: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(19, getPriority(0) + by));
  } catch {} // The system forbids it: then all are alike.
}

/** For how many milliseconds this thread could have worked so far and had no core; 0 where the system does not tell. */
export function waitedForCore(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
