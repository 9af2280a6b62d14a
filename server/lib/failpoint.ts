/** Passes a point by its name; the process, or the worker thread, ends there when it is the one that was asked for. */
type Failpoint = (name: string) => void;

const killed = "failpoint";

const actions = {
  kill: () => {
    if (Bun.isMainThread) return void process.kill(process.pid, "SIGKILL");
    // A model is asked while the main thread commits: that ends first, so that what was recorded is certain.
    new BroadcastChannel(killed).postMessage(null);
    Bun.sleepSync(600_000);
  },
  // Outside of the caller, which would catch it: what is meant is the mistake that nobody catches.
  throw: () => void setImmediate(fail),
  reject: () => void Promise.reject(new Error("A failpoint was reached.")),
  exit: () => process.exit(7),
  hold: () => Bun.sleepSync(600_000),
} satisfies Record<string, () => void>;

/**
 * Reads `<name>[:N][:action]`: at the N-th passing (1) of the point the process kills itself as a power cut would, or
 * a worker thread ends by `throw`, `reject` or `exit`, or the thread stays there (`hold`) for somebody to kill it. Null without a setting, so that `failpoint?.(…)` costs nothing.
 */
export function createFailpoint(setting: string | undefined): Failpoint | null {
  if (!setting) return null;
  const [, point, count = "1", action = "kill"] = /^([\w.]+)(?::([1-9]\d*))?(?::([a-z]+))?$/.exec(setting) ?? [];
  if (!point || !(action in actions))
    throw new Error(`RUNNEL_FAILPOINT is <name>[:N][:${Object.keys(actions).join("|")}], not "${setting}".`);
  let left = Number(count);
  return (name) => {
    if (name === point && --left === 0) actions[action as keyof typeof actions]();
  };
}

/** Each thread reads the setting for itself, and counts for itself. */
export const failpoint = createFailpoint(process.env.RUNNEL_FAILPOINT);
if (failpoint && Bun.isMainThread) {
  const channel = new BroadcastChannel(killed) as BroadcastChannel & { unref(): void }; // Bun has it, and the DOM's type has not.
  channel.onmessage = actions.kill;
  channel.unref();
}

function fail(): never {
  throw new Error("A failpoint was reached.");
}
