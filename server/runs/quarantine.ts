import { stallsMax } from "../core/decide.ts";
import { isOver } from "../core/run-state.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import { inShares } from "./shares.ts";
import type { Watches } from "./watch.ts";

/** Runs that go on alone while all others wait, as the database notes it: a crash may cut it short. */
interface Rounds {
  /** The groups that have begun, each beside those before it. None when all are over and no run was found. */
  groups: string[][];
  /** How long each group has. */
  ms: number;
}

/** Which runs a crash is blamed on, and how the others go on. */
interface Diagnosis {
  blamed: ReadonlySet<string>;
  /** Runs that are given up: what is left of them is their end, which is recorded before another may crash. */
  culprits: readonly string[];
  /** Suspects in the order in which they go on. */
  rounds: Rounds;
}

/** After an ordinary stop: no run is blamed, and none waits. */
export const noSuspects: Diagnosis = { blamed: new Set(), culprits: [], rounds: { groups: [], ms: 0 } };

// A quarantine that finds no run was too short for one that kills late. It grows to so many times the first.
const longest = 16;
// Storage that refused a note is asked again at this pace, so often. Runs cannot go on without it either.
const again_ms = 1000;
const triesMax = 30;

/**
 * Finds the run that crashes the process again and again. All runs in progress at those crashes are suspects, so before
 * one is given up they go on a few at a time while all others wait: the next crash tells which one it was.
 */
export function createQuarantine({
  db,
  journal,
  watches,
  only,
  quarantine_ms = 5000,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  /** Lets these runs alone be driven, or all again. */
  only(runIds: ReadonlySet<string> | null): void;
  /** A run that crashes the process does so in the step that it goes on with: a longer quarantine only delays the others. */
  quarantine_ms?: number;
}) {
  const { sqlite } = db;
  let stopped = false;
  const selectRounds = sqlite.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'on_trial'");
  const noteRounds = sqlite.query("INSERT OR REPLACE INTO facts (name, value) VALUES ('on_trial', ?)");
  const forgetRounds = sqlite.query("DELETE FROM facts WHERE name = 'on_trial'");

  function interrupted(): Rounds | null {
    const row = selectRounds.get();
    try {
      return row && JSON.parse(row.value);
    } catch {
      return null; // Noted by another version.
    }
  }

  /** Which of the runs that a crash left unfinished are blamed, before any of them goes on. */
  function diagnose(unfinished: readonly string[]): Diagnosis {
    const before = interrupted();
    const tried = before?.groups.flat() ?? [];
    const ran = tried.length > 0 ? unfinished.filter((id) => tried.includes(id)) : unfinished;
    const newest = before?.groups.at(-1)?.filter((id) => ran.includes(id)) ?? [];
    const stalls = new Map(unfinished.map((id) => [id, stallsOf(id)]));
    const lastChance = unfinished.filter((id) => stalls.get(id)! >= stallsMax - 1);
    const isAlone = ran.length === 1;
    const isFound = isAlone && lastChance.includes(ran[0]!);
    const culprits = lastChance.filter((id) => stalls.get(id)! >= stallsMax || (isFound && id === ran[0]));
    const suspects = lastChance.filter((id) => !culprits.includes(id));
    return {
      blamed: new Set(ran.filter((id) => !suspects.includes(id))),
      culprits,
      rounds: {
        // Once one is found, what the others look like is explained: nobody waits, unless it happens again.
        groups: isFound ? [] : groupsOf(suspects, ran, newest),
        ms: isAlone ? quarantine_ms : timeAfter(before, newest),
      },
    };
  }

  /** A newest group of one is not the culprit by itself: one of the earlier ones needs more time. */
  function timeAfter(before: Rounds | null, newest: readonly string[]): number {
    if (!before) return quarantine_ms;
    return newest.length > 1 ? before.ms : Math.min(before.ms * 2, longest * quarantine_ms);
  }

  function stallsOf(runId: string): number {
    try {
      return journal.state(runId).stalls;
    } catch {
      return 0; // It cannot be read: its recovery reports that.
    }
  }

  /** Returns when the run has completed a step, or its time is over. */
  async function outlives(runId: string, ms: number): Promise<void> {
    const watch = watches.join(runId);
    try {
      const end = performance.now() + ms;
      for (let left = ms; left > 0 && !stopped; left = end - performance.now()) {
        const { status, stalls } = journal.state(runId);
        if (isOver(status) || status === "requires_action" || stalls === 0) return;
        await watch.next(left, "commits");
      }
    } finally {
      watch.leave();
    }
  }

  const outlive = (runIds: readonly string[], ms: number) => Promise.allSettled(runIds.map((id) => outlives(id, ms)));

  /** Retries while the disk is full: without the note a crash would be blamed on the wrong group. */
  async function note(rounds: Rounds | null): Promise<void> {
    const write = () => (rounds ? noteRounds.run(JSON.stringify(rounds)) : forgetRounds.run());
    for (let tries = 1; !stopped; tries++) {
      try {
        await db.write(write);
        return;
      } catch (error) {
        if (tries >= triesMax) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, again_ms));
    }
  }

  async function goOn({ culprits, rounds: { groups, ms } }: Diagnosis): Promise<void> {
    if (culprits.length > 0) only(new Set(culprits));
    await outlive(culprits, ms);
    for (let count = 1; count <= groups.length && !stopped; count++) {
      const tried = groups.slice(0, count);
      await note({ groups: tried, ms });
      only(new Set([...culprits, ...tried.flat()]));
      await outlive(tried.at(-1)!, ms);
    }
    if (stopped) return;
    if (groups.length > 0) await note({ groups: [], ms });
    else if (interrupted()) await note(null);
  }

  return {
    diagnose,
    /** Lets no run go on before `hold`, where there are suspects or the database notes a quarantine. */
    prepare({ culprits, rounds }: Diagnosis): void {
      if (culprits.length + rounds.groups.length > 0 || interrupted()) only(new Set());
    },
    /** Lets the groups go on one after the other, and notes each before it begins; then all runs. */
    async hold(diagnosis: Diagnosis): Promise<void> {
      await goOn(diagnosis).catch(() => {}); // A disk that stays full must not hold all runs up for ever.
      if (!stopped) only(null);
    },
    stop(): void {
      stopped = true;
    },
  };
}

/** The newest group is the likeliest and goes first, in smaller groups; then the runs that went on beside it. */
function groupsOf(suspects: readonly string[], ran: readonly string[], newest: readonly string[]): string[][] {
  const likely = suspects.filter((id) => newest.includes(id));
  const beside = suspects.filter((id) => ran.includes(id) && !newest.includes(id));
  const others = suspects.filter((id) => !ran.includes(id));
  const [first = [], ...rest] = [likely, beside, others].filter(({ length }) => length > 0);
  return [...inShares(first), ...rest];
}
