import { describeSpawnError } from "../../lib/spawn-with-retry.ts";
import { type Child, type ChildOptions, performWithRestart, startChild } from "./child-process.ts";
import { languages } from "./languages.ts";
import type { Task } from "./task.ts";

export interface Spares {
  /** Number of spare children with their language loaded, kept after a task of that language. */
  spares?: number;
  /** Milliseconds that spares are kept, so that an idle server has none. */
  idle_ms?: number;
}

/** Performs each task in a fresh child process that is never reused. Tracks children, to kill them on stop. */
export function createChildren({ spares = 0, idle_ms = 60_000 }: Spares) {
  const running = new Set<Child>();
  const waiting = new Map<string, Child[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const of = (options: ChildOptions): Child[] => {
    const key = `${options.language} ${options.jailed}`;
    const children = (waiting.get(key) ?? []).filter((child) => child.isAlive());
    waiting.set(key, children);
    return children;
  };
  const clear = () => {
    for (const child of [...waiting.values()].flat()) child.kill();
    waiting.clear();
  };

  /** Takes a spare, which is ready sooner than a new child; else starts a new one. */
  async function take(options: ChildOptions): Promise<Child> {
    for (let child = of(options).shift(); child; child = of(options).shift()) {
      if (await child.ready) return child;
    }
    return startChild(options);
  }

  async function start(options: ChildOptions): Promise<Child> {
    const child = await take(options);
    running.add(child);
    void child.gone.then(() => running.delete(child));
    if (stopped) child.kill();
    return child;
  }

  function fill(options: ChildOptions): void {
    clearTimeout(timer);
    if (stopped) return;
    const children = of(options);
    try {
      while (children.length < Math.min(spares, languages[options.language].spares)) children.push(startChild(options));
    } catch (error) {
      if (describeSpawnError(error) === null) throw error; // Ignore it: the next task starts a child, with retries.
    }
    timer = setTimeout(clear, idle_ms).unref();
  }

  return {
    /** `beside`: number of programs that the owner already runs. */
    async perform<Outcome>(
      options: ChildOptions,
      task: () => Task<Outcome>,
      signal: AbortSignal,
      beside = 0,
    ): Promise<Outcome> {
      try {
        return await performWithRestart(() => start(options), task, signal, beside);
      } finally {
        fill(options);
      }
    },
    isStopped: (): boolean => stopped,
    /** Kills all children, also busy ones. */
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      clear();
      for (const child of running) child.kill();
    },
  };
}
