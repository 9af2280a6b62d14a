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
