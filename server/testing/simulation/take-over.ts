import type { World } from "./world.ts";

/** Replaces the machine's clock, timers and random numbers with the world's. Returns a function that restores them. */
export function takeOver(world: World): () => void {
  const replaced: [owner: object, name: string, value: unknown][] = [
    [globalThis, "setTimeout", (fire: () => void, ms = 0) => timer(world, fire, ms, null)],
    [globalThis, "setInterval", (fire: () => void, ms = 0) => timer(world, fire, ms, ms)],
    [globalThis, "setImmediate", (run: () => void) => world.queue("tick", run)],
    [globalThis, "clearTimeout", world.dropAlarm],
    [globalThis, "clearInterval", world.dropAlarm],
    [Bun, "sleep", (ms: number) => new Promise<void>((resolve) => void timer(world, resolve, ms, null))],
    [Date, "now", () => Math.floor(world.now())],
    [performance, "now", world.now],
    [Math, "random", world.random],
    [crypto, "getRandomValues", (bytes: Uint8Array) => bytes.map((_, index) => (bytes[index] = world.int(256)))],
  ];
  const undo = replaced.map(([owner, name, value]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value, configurable: before?.configurable ?? true, writable: true });
    return () => (before ? Object.defineProperty(owner, name, before) : Reflect.deleteProperty(owner, name));
  });
  return () => {
    for (const step of undo) step();
  };
}

function timer(world: World, fire: () => void, ms: number, every: number | null) {
  const alarm = world.setAlarm(fire, ms, every);
  const unref = () => alarm;
  // As in Bun, `refresh` restarts a timer from now, also after it fired.
  const refresh = () => {
    alarm.at = world.now() + ms;
    return alarm;
  };
  return Object.assign(alarm, { unref, refresh });
}
