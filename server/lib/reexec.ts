import { isCompiled } from "./assets.ts";
import { platform } from "./platform.ts";

/** Runtime settings that are only read when a process starts. */
const runtimeFlags = {
  // Bun's default is 256 concurrent requests: as many slow tools of one project would block the model calls of all
  // others.
  BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
  // Ten times the default. The highest JIT tier costs more than thousands of requests gain by it: otherwise a quarter
  // of the processor time after each start is compilation. Long loops still reach it.
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "640000",
  BUN_JSC_thresholdForFTLOptimizeSoon: "10000",
  // 256 MB on every machine. Each thread has its own heap, which may double while it is below a quarter of this size;
  // it then grows by half, and above half of this size by a quarter.
  BUN_JSC_forceRAMSize: "268435456",
  // Growth of a worker's heap before its first collection. With the default, a run's loop spends a tenth of its time on
  // collections.
  BUN_JSC_smallHeapSize: "16777216",
  // Triples JIT thresholds during startup: a sixth of the start time was spent compiling code that runs once.
  BUN_JSC_startupJITDeferralScale: "3",
  // Milliseconds between two searches for freed memory to return to the system; default 100. A busy server needs that
  // memory again at once, and would use a twentieth more processor time.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "1000",
};

/** Set in a process that takes over from the server that started it, which tells it to continue unchanged. */
export const handoverVariable = "RUNNEL_HANDOVER";

/** True if a command line starts a server: only that needs the flags. */
export const startsServer = ([command = ""]: readonly string[]): boolean => ["serve", "dev"].includes(command);

/**
 * Re-executes this process (same pid) with the runtime flags above; flags set by the operator win. No-op from source,
 * off Linux, or if all are set.
 */
export function reexecWithFlags(): void {
  if (!platform.beginsAnew || !isCompiled) return;
  if (handoverVariable in process.env || Object.keys(runtimeFlags).every((name) => process.env[name] !== undefined))
    return;
  const environment = { ...runtimeFlags, ...process.env } as Record<string, string>;
  try {
    process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment);
  } catch {
    // The system forbids it: the server runs without the flags.
  }
}
