/** Owner of work that can be delayed or lost: a process or a thread. */
export interface Owner {
  frozen: boolean;
  dead: boolean;
  /** True for one of several processes: while it acts, work without an owner belongs to it. */
  isProcess?: boolean;
}

interface Task {
  label: string;
  owner: Owner;
  run(): void;
}

interface Alarm {
  at: number;
  every: number | null;
  owner: Owner;
  fire(): void;
}

export type World = ReturnType<typeof createWorld>;

const day_ms = 86_400_000;
const epoch = Date.UTC(2026, 0, 1);

/** Fault that the simulation found. */
export class Found extends Error {}

/**
 * Time, random numbers and order of one simulated life, all derived from the seed. Waiting tasks continue only when the
 * scheduler picks them, and time advances only when the scheduler lets it.
 */
export function createWorld(seed: number) {
  const random = generator(seed);
  const history: [at: number, line: string][] = [];
  // Each seed has days of its own, so that no two lives create the same ids.
  const begin = epoch + seed * day_ms;
  let clock = begin;
  let tasks: Task[] = [];
  let alarms: Alarm[] = [];
  /** Work without an owner belongs to the current process. */
  let process: Owner = { frozen: false, dead: false };

  const int = (below: number): number => Math.floor(random() * below);
  const chance = (probability: number): boolean => random() < probability;
  const ready = (): Task[] => tasks.filter(({ owner }) => !owner.frozen && !owner.dead);

  return {
    now: () => clock,
    random,
    int,
    chance,
    pick: <T>(list: readonly T[]): T => list[int(list.length)]!,
    /** Returns a subset of the list in its order, at least one item. */
    some<T>(list: readonly T[]): T[] {
      const kept = list.filter(() => chance(0.5));
      return kept.length > 0 ? kept : list.slice(0, 1);
    },
    note: (line: string) => void history.push([clock, line]),
    /** Events so far, a line each: milliseconds since the beginning; the scheduler's picks are indented. */
    history: () => history.map(([at, line]) => `${String(at - begin).padStart(8)} ${line}`),
    /** Queues work, which is done when the scheduler picks it. */
    queue: (label: string, run: () => void, owner: Owner = process) => void tasks.push({ label, owner, run }),
    /** Resolves when the scheduler picks it. */
    wait: (label: string, owner: Owner = process): Promise<void> =>
      new Promise((resolve) => tasks.push({ label, owner, run: resolve })),
    setAlarm(fire: () => void, ms: number, every: number | null = null, owner: Owner = process): Alarm {
      const alarm = { at: clock + Math.max(0, ms), every, fire, owner };
      alarms.push(alarm);
      return alarm;
    },
    dropAlarm(alarm: unknown): void {
      alarms = alarms.filter((known) => known !== alarm);
    },
    /** Does one piece of ready work, in any order. Returns false if there is none. */
    work(): boolean {
      const open = ready();
      if (open.length === 0) return false;
      const task = open[int(open.length)]!;
      tasks.splice(tasks.indexOf(task), 1);
      if (task.owner.isProcess) process = task.owner;
      history.push([clock, `  ${task.label}`]);
      task.run();
      return true;
    },
    /** Advances time to the next alarm. Returns false if none is set. */
    pass(): boolean {
      const next = alarms.reduce<Alarm | null>(
        (first, alarm) => (alarm.owner.frozen || alarm.owner.dead || (first && first.at <= alarm.at) ? first : alarm),
        null,
      );
      if (!next) return false;
      if (next.owner.isProcess) process = next.owner;
      clock = Math.max(clock, next.at);
      if (next.every === null) alarms.splice(alarms.indexOf(next), 1);
      else next.at = clock + next.every;
      next.fire();
      return true;
    },
    /** Makes one of several processes the current one. */
    become(owner: Owner): void {
      process = owner;
    },
    /** Ends one of several processes, with all its waiting work. */
    end(owner: Owner): void {
      owner.dead = true;
      tasks = tasks.filter((task) => task.owner !== owner);
      alarms = alarms.filter((alarm) => alarm.owner !== owner);
    },
    /** Ends the process with all its waiting work, and begins another one. */
    restart(): void {
      process.dead = true;
      process = { frozen: false, dead: false };
      tasks = [];
      alarms = [];
    },
  };
}

/** Returns a small generator of well-distributed numbers in [0, 1) (mulberry32). */
function generator(seed: number): () => number {
  let state = (seed * 2_654_435_769) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
