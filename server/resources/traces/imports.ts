import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { stopping } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { siblingId } from "../../domain/ids.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import { nameOf } from "../../domain/scope.ts";
import { cancelledEvents } from "../../domain/terminal-events.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { firstItem, lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { CapsuleContent, CapsuleOrder, CapsuleReader } from "../../runtime/sandbox/capsule-reader.ts";
import type { Audit, Author } from "../../storage/db/audit.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { Recorded } from "../../storage/journal/staged-import.ts";
import { assignPlaces } from "./assign-places.ts";
import { ignoreClientAbort } from "./ignore-client-abort.ts";
import { importAsRun, type Place } from "./import-as-run.ts";
import { createForeignFold, InvalidRun, orInvalidRun } from "./import-fold.ts";
import { type ForeignRun, type Pause, readCapsuleContent, readTraceExport } from "./import-run.ts";

export type Imports = ReturnType<typeof createImports>;

interface Arrival {
  place: Place;
  agent: AgentSnapshot;
  entries: JournalEntry[];
}

/** Imports runs from other servers: to be viewed, replayed and forked, but never continued. */
export function createImports({
  journal,
  audit,
  readCapsule,
  now,
}: {
  journal: Journal;
  audit: Audit;
  readCapsule: CapsuleReader["read"];
  now: () => number;
}) {
  // One import per owner, and one more for another owner, because each may need hundreds of megabytes for a second.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  /** Checks all runs before any is written: if one cannot be shown, none is imported. */
  async function arrivalsOf(viewer: Viewer & Author, runs: readonly ForeignRun[], pause: Pause): Promise<Arrival[]> {
    await pause(); // Each step visits every entry.
    const places = assignPlaces(viewer, runs, now);
    const arrivals: Arrival[] = [];
    for (const [i, { agent, entries }] of runs.entries()) {
      const settledEntries = await settledRun(entries, pause).catch((error) => {
        if (error instanceof InvalidRun) throw invalid(`runs[${i}].entries`, error.message);
        throw error;
      });
      arrivals.push({
        place: { ...requireValue(places[i], `The place of run ${i}`), agent_hash: journal.hashOf(agent) },
        agent,
        entries: settledEntries,
      });
    }
    return arrivals;
  }

  async function insert(viewer: Viewer & Author, arrivals: readonly Arrival[], pause: Pause): Promise<string> {
    const root = firstItem(arrivals).place.run_id;
    const records: (readonly [string, Recorded[]])[] = [];
    for (const { place, entries } of arrivals) {
      records.push([place.run_id, importAsRun(entries, place)]);
      await pause();
    }
    const insertAll = (): Inserted[] => {
      const inserted = records.map(([run_id, record], i): Inserted => {
        const own = journal.insertRecord(run_id, record);
        journal.pin(viewer, run_id, requireValue(arrivals[i], `Run ${i}`).agent);
        return [run_id, own];
      });
      audit.note(viewer, "trace.imported", siblingId(root, "trace"), { runs: arrivals.length });
      return inserted;
    };
    await journal.commitRecords(records, insertAll, viewer);
    return root;
  }

  async function contentOf(capsule: CapsuleOrder, signal: AbortSignal): Promise<CapsuleContent> {
    const read = await readCapsule(capsule, signal);
    if ("content" in read) return read.content;
    const { error, unavailable } = read;
    if (unavailable === "stopped") throw new AppError("shutting_down", stopping, { retryAfter: 5 });
    if (unavailable) throw new AppError("unsupported_media_type", `${error} Import the JSON export.`);
    throw new AppError("validation_failed", `The capsule cannot be read. ${error}`);
  }

  return {
    /** Imports an exported trace (JSON) or a capsule and returns the new run's id. Throws with the faults. */
    async take(
      viewer: Viewer & Author,
      body: unknown,
      capsule: CapsuleOrder | null,
      signal: AbortSignal,
    ): Promise<string> {
      return ignoreClientAbort(signal, () =>
        queue.run(nameOf(viewer), signal, async () => {
          const pause = createYielder();
          const runs = capsule
            ? await readCapsuleContent(await contentOf(capsule, signal), now(), pause)
            : await readTraceExport(body, now(), pause);
          return insert(viewer, await arrivalsOf(viewer, runs, pause), pause);
        }),
      );
    },
  };
}

/** Error of a run that was exported before it ended. */
const unfinished = "The record ends here: it was exported before the run was over.";

/**
 * Entries up to the run's end; an unfinished run is closed, because it will never continue. Throws `InvalidRun` if it
 * cannot be shown as a run.
 */
export async function settledRun(entries: readonly JournalEntry[], pause: Pause): Promise<JournalEntry[]> {
  const fold = createForeignFold({ raw: true });
  for (const entry of entries) {
    fold.add(entry);
    await pause();
  }
  await pause();
  const { state } = fold.trace();
  await pause();
  if (isOver(state.status)) return [...entries];
  const { seq, at } = lastItem(entries);
  const closing = orInvalidRun(() => cancelledEvents(state, unfinished, at, null));
  const end = closing.map((event, index) => ({ seq: seq + index + 1, at, event }));
  for (const entry of end) fold.add(entry);
  fold.trace();
  return [...entries, ...end];
}
