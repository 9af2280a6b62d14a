import { startFault } from "../lib/start-patiently.ts";
import { type Child, type ChildOptions, performReplacing, startChild } from "./child-process.ts";
import { languages } from "./languages.ts";
import type { Task } from "./task.ts";

export interface Spares {
  /** Children that wait with their language loaded, once a task of it was done. */
  spares?: number;
  /** How long they wait. An idle server pays for none. */
  idle_ms?: number;
}

/** Does each task in a fresh child process, which is never used again, and ends those that are left. */
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

  /** A spare that is loaded, or will be sooner than a new one; else a new one. */
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
      if (startFault(error) === null) throw error; // Else the next task asks for a child, with patience.
    }
    timer = setTimeout(clear, idle_ms).unref();
  }

  return {
    /** `beside`: how many others of its owner are at work. */
    async perform<Outcome>(
      options: ChildOptions,
      task: () => Task<Outcome>,
      signal: AbortSignal,
      beside = 0,
    ): Promise<Outcome> {
      try {
        return await performReplacing(() => start(options), task, signal, beside);
      } finally {
        fill(options);
      }
    },
    isStopped: (): boolean => stopped,
    /** Ends all children, also those that are at a task. */
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      clear();
      for (const child of running) child.kill();
    },
  };
}
