import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import { siblingId } from "../core/ids.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { nameOf } from "../core/scope.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import type { Recorded } from "../journal/partial.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import { inSlices } from "../lib/slices.ts";
import type { CapsuleContent, CapsuleOrder, CapsuleReader } from "../sandbox/capsule-reader.ts";
import { NoRun } from "./foreign-fold.ts";
import { type ForeignRun, type Pause, readCapsuleContent, readTraceExport } from "./foreign-run.ts";
import { ownRecord, type Place } from "./own-record.ts";
import { placesOf } from "./places.ts";
import { settledRun } from "./settled-run.ts";
import { unlessGone } from "./unless-gone.ts";

export type Imports = ReturnType<typeof createImports>;

interface Arrival {
  place: Place;
  agent: AgentSnapshot;
  entries: JournalEntry[];
}

/** Takes runs in that happened elsewhere: to be looked at, replayed and forked, and never driven on. */
export function createImports({
  journal,
  audit,
  reader,
  now,
}: {
  journal: Journal;
  audit: Audit;
  reader: Pick<CapsuleReader, "read">;
  now: () => number;
}) {
  // Each may take hundreds of megabytes of memory for a second: one of an owner, and one of another beside it.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  /** Before anything is written: all of it can be shown, or none of it is taken. */
  async function arrivalsOf(viewer: Viewer & Author, runs: readonly ForeignRun[], pause: Pause): Promise<Arrival[]> {
    await pause(); // Each of these looks at every entry.
    const places = placesOf(viewer, runs, now);
    const arrivals: Arrival[] = [];
    for (const [i, { agent, entries }] of runs.entries()) {
      const whole = await settledRun(entries, pause).catch((error) => {
        if (error instanceof NoRun) throw invalid(`runs[${i}].entries`, error.message);
        throw error;
      });
      arrivals.push({ place: { ...places[i]!, agent_hash: journal.hashOf(agent) }, agent, entries: whole });
    }
    return arrivals;
  }

  async function insert(viewer: Viewer & Author, arrivals: readonly Arrival[], pause: Pause): Promise<string> {
    const root = arrivals[0]!.place.run_id;
    const records: (readonly [string, Recorded[]])[] = [];
    for (const { place, entries } of arrivals) {
      records.push([place.run_id, ownRecord(entries, place)]);
      await pause();
    }
    const insertAll = (): Inserted[] => {
      const inserted = records.map(([run_id, record], i): Inserted => {
        const own = journal.insertRecord(run_id, record);
        journal.pin(viewer, run_id, arrivals[i]!.agent);
        return [run_id, own];
      });
      audit.note(viewer, "trace.imported", siblingId(root, "trace"), { runs: arrivals.length });
      return inserted;
    };
    await journal.commitRecords(records, insertAll, viewer);
    return root;
  }

  async function contentOf(capsule: CapsuleOrder, signal: AbortSignal): Promise<CapsuleContent> {
    const read = await reader.read(capsule, signal);
    if ("content" in read) return read.content;
    const { error, unavailable } = read;
    if (unavailable === "stopped") throw new AppError("shutting_down", "The server is stopping.", { retryAfter: 5 });
    if (unavailable) throw new AppError("unsupported_media_type", `${error} Import the JSON export.`);
    throw new AppError("validation_failed", `The capsule cannot be read. ${error}`);
  }

  return {
    /** The id of the run that an exported trace (JSON), or a capsule, has become. Throws with what is wrong with it. */
    async take(
      viewer: Viewer & Author,
      body: unknown,
      capsule: CapsuleOrder | null,
      signal: AbortSignal,
    ): Promise<string> {
      return unlessGone(signal, () =>
        queue.run(nameOf(viewer), signal, async () => {
          const pause = inSlices();
          const runs = capsule
            ? await readCapsuleContent(await contentOf(capsule, signal), now(), pause)
            : await readTraceExport(body, now(), pause);
          return insert(viewer, await arrivalsOf(viewer, runs, pause), pause);
        }),
      );
    },
  };
}
