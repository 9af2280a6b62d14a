/** Passes a point by its name; the configured action runs if it is the configured point. */
type Failpoint = (name: string) => void;

const killed = "failpoint";

const actions = {
  kill: () => {
    if (Bun.isMainThread) return void process.kill(process.pid, "SIGKILL");
    // The main thread may be committing while a worker calls a model: the kill waits for the commit, so that the
    // recorded state is certain.
    new BroadcastChannel(killed).postMessage(null);
    Bun.sleepSync(600_000);
  },
  // Throws outside of the caller, which would catch it: the action simulates an uncaught error.
  throw: () => void setImmediate(fail),
  reject: () => void Promise.reject(new Error("A failpoint was reached.")),
  exit: () => process.exit(7),
  hold: () => Bun.sleepSync(600_000),
} satisfies Record<string, () => void>;

/**
 * Parses `<name>[:N][:action]`: at the N-th passing (default 1) of the point the process kills itself as in a power
 * cut, a worker thread ends by `throw`, `reject` or `exit`, or the thread blocks (`hold`) until a test kills it. Null
 * without a setting, so that `failpoint?.(…)` costs nothing.
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

/** Failpoint of this thread; each thread reads the setting and counts for itself. */
export const failpoint = createFailpoint(process.env.RUNNEL_FAILPOINT);
if (failpoint && Bun.isMainThread) {
  const channel = new BroadcastChannel(killed) as BroadcastChannel & { unref(): void }; // Bun has `unref`, and the DOM's type lacks it.
  channel.onmessage = actions.kill;
  channel.unref();
}

function fail(): never {
  throw new Error("A failpoint was reached.");
}
