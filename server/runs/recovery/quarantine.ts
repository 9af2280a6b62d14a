import { maxCrashesWithoutProgress } from "../../domain/decide.ts";
import { isOver } from "../../domain/run-state.ts";
import { entryOf, lastItem } from "../../lib/collections.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { bisect } from "./bisect.ts";

/** State of a quarantine, stored in the database because a crash may interrupt it. */
interface Rounds {
  /** Groups that have begun, each added to the earlier ones. Empty if all ended and no run was found. */
  groups: string[][];
  /** Milliseconds per group. */
  ms: number;
}

/** Runs blamed for a crash, and how the others continue. */
interface Diagnosis {
  blamed: ReadonlySet<string>;
  /** Runs to be given up; their end is recorded before another run may crash the process. */
  culprits: readonly string[];
  /** Suspects, in the order in which they continue. */
  rounds: Rounds;
}

/** Used after a clean stop: no run is blamed and none waits. */
export const noSuspects: Diagnosis = { blamed: new Set(), culprits: [], rounds: { groups: [], ms: 0 } };

// Maximum factor by which the quarantine grows if it found no run: it was too short for a run that crashes late.
const longest = 16;
// Pause and maximum number of retries if storage refuses the note. Runs cannot continue without storage either.
const again_ms = 1000;
const triesMax = 30;

/**
 * Finds the run that repeatedly crashes the process. All runs in progress at those crashes are suspects; before one is
 * given up, they continue a few at a time while all others wait, so that the next crash narrows them down.
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
  watches: RunSubscriptions;
  /** Admits only these runs, or every run again. */
  only(runIds: ReadonlySet<string> | null): void;
  /** Milliseconds per group. The culprit usually crashes in the step it resumes, so longer only delays the others. */
  quarantine_ms?: number;
}) {
  const { sqlite } = db;
  let stopped = false;
  const selectRounds = sqlite.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'on_trial'");
  const noteRounds = sqlite.query("INSERT OR REPLACE INTO facts (name, value) VALUES ('on_trial', ?)");
  const forgetRounds = sqlite.query("DELETE FROM facts WHERE name = 'on_trial'");

  function storedRounds(): Rounds | null {
    const row = selectRounds.get();
    try {
      return row && JSON.parse(row.value);
    } catch {
      return null; // Written by another version.
    }
  }

  /** Returns which of the runs that a crash left unfinished are blamed, before any continues. */
  function diagnose(unfinished: readonly string[]): Diagnosis {
    const before = storedRounds();
    const onTrialIds = before?.groups.flat() ?? [];
    const ranIds = onTrialIds.length > 0 ? unfinished.filter((id) => onTrialIds.includes(id)) : unfinished;
    const newest = before?.groups.at(-1)?.filter((id) => ranIds.includes(id)) ?? [];
    const stalls = new Map(unfinished.map((id) => [id, stallsOf(id)]));
    const lastChance = unfinished.filter((id) => entryOf(stalls, id) >= maxCrashesWithoutProgress - 1);
    const isAlone = ranIds.length === 1;
    const isCulpritFound = isAlone && ranIds.every((id) => lastChance.includes(id));
    const culprits = lastChance.filter(
      (id) => entryOf(stalls, id) >= maxCrashesWithoutProgress || (isCulpritFound && id === ranIds[0]),
    );
    const suspects = lastChance.filter((id) => !culprits.includes(id));
    return {
      blamed: new Set(ranIds.filter((id) => !suspects.includes(id))),
      culprits,
      rounds: {
        // A culprit explains the crashes of the others: none waits unless it happens again.
        groups: isCulpritFound ? [] : groupsOf(suspects, ranIds, newest),
        ms: isAlone ? quarantine_ms : timeAfter(before, newest),
      },
    };
  }

  /** A newest group of one is not the culprit by itself: an earlier group needs more time. */
  function timeAfter(before: Rounds | null, newest: readonly string[]): number {
    if (!before) return quarantine_ms;
    return newest.length > 1 ? before.ms : Math.min(before.ms * 2, longest * quarantine_ms);
  }

  function stallsOf(runId: string): number {
    try {
      return journal.state(runId).stalls;
    } catch {
      return 0; // Its recovery reports that it cannot be read.
    }
  }

  /** Resolves when the run has completed a step, or its time is up. */
  async function waitForProgress(runId: string, ms: number): Promise<void> {
    const watch = watches.join(runId);
    try {
      const end = performance.now() + ms;
      for (let remaining_ms = ms; remaining_ms > 0 && !stopped; remaining_ms = end - performance.now()) {
        const { status, stalls } = journal.state(runId);
        if (isOver(status) || status === "requires_action" || stalls === 0) return;
        await watch.next(remaining_ms, "commits");
      }
    } finally {
      watch.leave();
    }
  }

  const waitForAll = (runIds: readonly string[], ms: number) =>
    Promise.allSettled(runIds.map((id) => waitForProgress(id, ms)));

  /** Retries while the disk is full, because without the note a crash would be blamed on the wrong group. */
  async function saveRounds(rounds: Rounds | null): Promise<void> {
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

  async function runRounds({ culprits, rounds: { groups, ms } }: Diagnosis): Promise<void> {
    if (culprits.length > 0) only(new Set(culprits));
    await waitForAll(culprits, ms);
    for (let count = 1; count <= groups.length && !stopped; count++) {
      const releasedGroups = groups.slice(0, count);
      await saveRounds({ groups: releasedGroups, ms });
      only(new Set([...culprits, ...releasedGroups.flat()]));
      await waitForAll(lastItem(releasedGroups), ms);
    }
    if (stopped) return;
    if (groups.length > 0) await saveRounds({ groups: [], ms });
    else if (storedRounds()) await saveRounds(null);
  }

  return {
    diagnose,
    /** Holds every run until `hold`, if there are suspects or a stored quarantine. */
    prepare({ culprits, rounds }: Diagnosis): void {
      if (culprits.length + rounds.groups.length > 0 || storedRounds()) only(new Set());
    },
    /** Releases the groups one after the other, each stored before it begins; then every run. */
    async hold(diagnosis: Diagnosis): Promise<void> {
      await runRounds(diagnosis).catch(() => {}); // A disk that stays full must not hold all runs forever.
      if (!stopped) only(null);
    },
    stop(): void {
      stopped = true;
    },
  };
}

/** The newest group is the likeliest and goes first, in smaller groups; then the runs that ran beside it. */
function groupsOf(suspects: readonly string[], ran: readonly string[], newest: readonly string[]): string[][] {
  const likely = suspects.filter((id) => newest.includes(id));
  const beside = suspects.filter((id) => ran.includes(id) && !newest.includes(id));
  const others = suspects.filter((id) => !ran.includes(id));
  const [first = [], ...rest] = [likely, beside, others].filter(({ length }) => length > 0);
  return [...bisect(first), ...rest];
}
