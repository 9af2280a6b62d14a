import { startFault } from "../lib/start-patiently.ts";
import { type Child, type ChildOptions, startChild } from "./child-process.ts";
import { languages } from "./languages.ts";

/**
 * Children that have their language loaded and wait for a program. None before the first program: an idle server pays
 * for none, and none are left `idle_ms` after the last.
 */
export function spareChildren({ count, idle_ms }: { count: number; idle_ms: number }) {
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

  return {
    /** One that is loaded, or will be sooner than a new one; null if there is none. */
    async take(options: ChildOptions): Promise<Child | null> {
      for (let child = of(options).shift(); child; child = of(options).shift()) {
        if (await child.ready) return child;
      }
      return null;
    },
    fill(options: ChildOptions): void {
      clearTimeout(timer);
      if (stopped) return;
      const children = of(options);
      try {
        while (children.length < Math.min(count, languages[options.language].spares))
          children.push(startChild(options));
      } catch (error) {
        if (startFault(error) === null) throw error; // Else the next task asks for a child, with patience.
      }
      timer = setTimeout(clear, idle_ms);
      timer.unref();
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      clear();
    },
  };
}
