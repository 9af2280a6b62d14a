import { isCompiled } from "./assets.ts";
import { platform } from "./platform.ts";

/** What the runtime reads when a process begins, and never again. */
const wanted = {
  // It sends 256 requests at once otherwise and lets the rest wait: that many slow tools of one project would hold up the
  // model calls of all the others.
  BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
  // Ten times the usual. The highest optimisation of a function costs more than thousands of requests gain by it: without
  // this a server spends a quarter of its processor time compiling after each start. Long loops still reach it.
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "640000",
  BUN_JSC_thresholdForFTLOptimizeSoon: "10000",
  // 256 MB, whatever the machine has. Each thread has a heap of its own, which may grow by as much as is in use while
  // that is less than a quarter of the memory; from there on by half, and beyond a half of the memory by a quarter.
  BUN_JSC_forceRAMSize: "268435456",
  // What a worker's heap may grow by before it is first looked at. With the usual one a run's loop spends a tenth of its time
  // on collections that find nothing but garbage.
  BUN_JSC_smallHeapSize: "16777216",
  // Thresholds of the JIT are three times as high while the process starts: a sixth of a start was the compiling of code
  // that runs once.
  BUN_JSC_startupJITDeferralScale: "3",
  // Milliseconds between two searches for freed memory to give back to the system; 100 by default. A busy server needs that memory
  // again at once, and a run takes a twentieth more processor time.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "1000",
};

/** Set for a process that takes over from the server that started it, and hears from that one while it stays as it is. */
export const handoverVariable = "RUNNEL_HANDOVER";

/** Whether a command line may be one that starts the server, which is the default; only those need these settings. */
export const serves = ([first = "serve"]: readonly string[]): boolean => first === "serve" || first.startsWith("-");

/**
 * Begins this process anew, under the same id, with the settings of the runtime that a server needs; what the operator
 * has set stays. Does nothing where that cannot be done (another system than Linux, a run from source), or where nothing
 * is missing.
 */
export function beginAnew(): void {
  if (!platform.beginsAnew || !isCompiled) return;
  if (handoverVariable in process.env || Object.keys(wanted).every((name) => process.env[name] !== undefined)) return;
  const environment = { ...wanted, ...process.env } as Record<string, string>;
  try {
    process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment);
  } catch {
    // A system that forbids it: the server works with what it has.
  }
}
