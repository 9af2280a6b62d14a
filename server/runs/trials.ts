import { stallsMax } from "../core/decide.ts";
import { fold, isOver } from "../core/run-state.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import { inShares } from "./shares.ts";
import type { Watches } from "./watch.ts";

/** What the database says of trials that a crash may cut short. */
interface Trial {
  /** Who has been let go, a group after the other. None when all trials are over and nobody was found. */
  groups: string[][];
  ms: number;
}

/** Whom a crash is blamed on, and how the others go on. */
export interface Verdict {
  blamed: ReadonlySet<string>;
  /** Given up: all that is left of them is their end, which is recorded before anybody else may crash. */
  condemned: readonly string[];
  /** To be tried in this order, while everybody else waits. */
  trial: Trial;
}

/** After an ordinary stop: nobody is blamed, and nobody waits. */
export const acquittal: Verdict = { blamed: new Set(), condemned: [], trial: { groups: [], ms: 0 } };

// Trials that find nobody were too short for a run that kills late. Longer than this times the first, nobody waits.
const longest = 16;
// Storage that refused a note is asked again at this pace, so often. Runs cannot go on without it either.
const again_ms = 1000;
const triesMax = 30;

/**
 * Finds the run that brings the process down again and again. All that were under way at the same crashes look alike,
 * so before one of them is given up they go on a few at a time, and nobody beside them: the next crash tells who it was.
 */
export function createTrials({
  db,
  journal,
  watches,
  only,
  trial_ms = 5000,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  /** Lets these runs alone be driven, or everybody again. */
  only(runIds: ReadonlySet<string> | null): void;
  /** Whoever brings the process down does it in the step that it goes on with: a longer trial only holds up the others. */
  trial_ms?: number;
}) {
  const { sqlite } = db;
  let stopped = false;
  const selectTrial = sqlite.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'on_trial'");
  const noteTrial = sqlite.query("INSERT OR REPLACE INTO facts VALUES ('on_trial', ?)");
  const forgetTrial = sqlite.query("DELETE FROM facts WHERE name = 'on_trial'");

  function interrupted(): Trial | null {
    const row = selectTrial.get();
    try {
      return row && JSON.parse(row.value);
    } catch {
      return null; // Noted by another version.
    }
  }

  /** Judges those that a crash left unfinished, before any of them goes on. */
  function judge(unfinished: readonly string[]): Verdict {
    const before = interrupted();
    const tried = before?.groups.flat() ?? [];
    const ran = tried.length > 0 ? unfinished.filter((id) => tried.includes(id)) : unfinished;
    const newest = before?.groups.at(-1)?.filter((id) => ran.includes(id)) ?? [];
    const stalls = new Map(unfinished.map((id) => [id, stallsOf(id)]));
    const lastChance = unfinished.filter((id) => stalls.get(id)! >= stallsMax - 1);
    const isAlone = ran.length === 1;
    const isFound = isAlone && lastChance.includes(ran[0]!);
    const condemned = lastChance.filter((id) => stalls.get(id)! >= stallsMax || (isFound && id === ran[0]));
    const suspects = lastChance.filter((id) => !condemned.includes(id));
    return {
      blamed: new Set(ran.filter((id) => !suspects.includes(id))),
      condemned,
      trial: {
        // Once one is found, what the others look like is explained: nobody waits, unless it happens again.
        groups: isFound ? [] : groupsOf(suspects, ran, newest),
        ms: isAlone ? trial_ms : timeAfter(before, newest),
      },
    };
  }

  /** A group of one that did not do it alone was let go beside the others: it is one of them who needs more time. */
  function timeAfter(before: Trial | null, newest: readonly string[]): number {
    if (!before) return trial_ms;
    return newest.length > 1 ? before.ms : Math.min(before.ms * 2, longest * trial_ms);
  }

  function stallsOf(runId: string): number {
    try {
      return fold(journal.read(runId)).stalls;
    } catch {
      return 0; // It cannot be read: whoever goes on with it will say so.
    }
  }

  /** Answers when the run has come further, or was given time enough. */
  async function outlives(runId: string, ms: number): Promise<void> {
    const watch = watches.join(runId);
    try {
      const end = performance.now() + ms;
      for (let left = ms; left > 0 && !stopped; left = end - performance.now()) {
        const { status, stalls } = fold(journal.read(runId));
        if (isOver(status) || status === "requires_action" || stalls === 0) return;
        await watch.next(left);
      }
    } finally {
      watch.leave();
    }
  }

  const outlive = (runIds: readonly string[], ms: number) => Promise.allSettled(runIds.map((id) => outlives(id, ms)));

  /** Asked again while the disk is full: without the note a crash would be blamed on who was tried before. */
  async function note(trial: Trial | null): Promise<void> {
    const write = () => (trial ? noteTrial.run(JSON.stringify(trial)) : forgetTrial.run());
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

  async function hear({ condemned, trial: { groups, ms } }: Verdict): Promise<void> {
    if (condemned.length > 0) only(new Set(condemned));
    await outlive(condemned, ms);
    for (let count = 1; count <= groups.length && !stopped; count++) {
      const tried = groups.slice(0, count);
      await note({ groups: tried, ms });
      only(new Set([...condemned, ...tried.flat()]));
      await outlive(tried.at(-1)!, ms);
    }
    if (stopped) return;
    if (groups.length > 0) await note({ groups: [], ms });
    else if (interrupted()) await note(null);
  }

  return {
    judge,
    /** Holds everybody back until `hold` lets them go: if some are tried, or as long as the database says so. */
    prepare({ condemned, trial }: Verdict): void {
      if (condemned.length + trial.groups.length > 0 || interrupted()) only(new Set());
    },
    /** Lets the groups go on one after the other, and notes before each whose turn it is; then everybody. */
    async hold(verdict: Verdict): Promise<void> {
      await hear(verdict).catch(() => {}); // A disk that stays full may not keep them back for ever.
      if (!stopped) only(null);
    },
    stop(): void {
      stopped = true;
    },
  };
}

/** Who was let go last is the likeliest and is tried first, in smaller groups; then who went on beside it. */
function groupsOf(suspects: readonly string[], ran: readonly string[], newest: readonly string[]): string[][] {
  const likely = suspects.filter((id) => newest.includes(id));
  const beside = suspects.filter((id) => ran.includes(id) && !newest.includes(id));
  const others = suspects.filter((id) => !ran.includes(id));
  const [first = [], ...rest] = [likely, beside, others].filter(({ length }) => length > 0);
  return [...inShares(first), ...rest];
}
