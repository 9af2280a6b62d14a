import type { JournalEntry, RunCreated } from "../../domain/run-event.ts";
import { sourceOf, triggerOf } from "../../domain/run-trigger.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Db } from "../db/open.ts";
import { forgetBlobs } from "./blob-refcounts.ts";
import type { EncodedEvent } from "./event-codec.ts";

/** An entry without a sequence number. */
export type Recorded = Omit<JournalEntry, "seq">;

/** Maximum entries per write; a longer record is stored and deleted in several writes. */
export const longestPiece = 200;
/** Maximum bytes per write, as JSON. */
const bytesPerPiece = 256 * 1024;
const blobsPerPiece = 50;

interface PartialRow extends Scope {
  id: string;
  status: string;
}

type Write = (scope: Scope, runId: string, entry: JournalEntry) => Pick<EncodedEvent, "length">;

/**
 * Stores and deletes long records in pieces, because one write would block all others. Meanwhile their runs are
 * invisible and listed in `partial_records`: the next start after a crash deletes those.
 */
export function createStagedImports({ db, write }: { db: Db; write: Write }) {
  const { sqlite } = db;
  const insertHidden = sqlite.query(
    `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms, status_since_ms,
       timeout_ms, action_timeout_ms, depth, origin, source_run_id, summary)
     VALUES ($id, $project_id, $environment, $agent_id, 'partial', 0, 1, '{}', $at, 0, 0, 0, 0, $origin, $source, '')`,
  );
  const note = sqlite.query("INSERT INTO partial_records (run_id) VALUES (?)");
  const unnote = sqlite.query("DELETE FROM partial_records WHERE run_id = ?");
  const hide = sqlite.query(
    "UPDATE runs SET status = 'partial', summary = '', thread_id = NULL, expires_at_ms = NULL, ended_at_ms = NULL WHERE id = ?",
  );
  const selectAll = sqlite.query<PartialRow, []>(
    "SELECT id, project_id, environment, status FROM partial_records JOIN runs ON runs.id = run_id ORDER BY id",
  );
  const deleteSome = sqlite.query(
    `DELETE FROM run_events WHERE run_id = $id AND seq <= (SELECT max(seq) FROM (
       SELECT seq FROM run_events WHERE run_id = $id ORDER BY seq LIMIT ${longestPiece}))`,
  );
  const deleteRun = sqlite.query("DELETE FROM runs WHERE id = ?");
  // Number of stored entries per record. The first entry comes with the commit that shows the run.
  const arrived = new Map<string, number>();
  const erasingIds = new Set<string>();

  /** Stores all of a long record except its first entry. It is invisible until `complete`. */
  async function arrive(runId: string, record: readonly Recorded[]): Promise<void> {
    const [first] = record;
    if (first?.event.type !== "run.created") throw new Error(`A journal begins with ${first?.event.type}.`);
    const { event, at } = first;
    arrived.set(runId, 0);
    for (let from = 1; from < record.length; ) {
      const begins = from;
      const end = await db.write(
        () => {
          if (begins === 1) begin(runId, event, at);
          return writePiece(event, runId, record, begins);
        },
        nameOf(event),
        "runs",
      );
      failpoint?.("mid_record");
      arrived.set(runId, end);
      from = end;
    }
  }

  function begin(runId: string, run: RunCreated, at: number): void {
    const { project_id, environment, agent_id } = run;
    const [origin, source] = [triggerOf(run), sourceOf(run)];
    insertHidden.run({ id: runId, project_id, environment, agent_id, at, origin, source });
    note.run(runId);
  }

  function writePiece(scope: Scope, runId: string, record: readonly Recorded[], from: number): number {
    let [end, bytes] = [from, 0];
    for (const entry of record.slice(from, from + longestPiece)) {
      if (bytes >= bytesPerPiece) break;
      bytes += write(scope, runId, { seq: ++end, ...entry }).length;
    }
    return end;
  }

  /** Deletes the rest of records to be deleted, in several writes. */
  async function clear(): Promise<void> {
    for (const row of selectAll.all()) {
      if (arrived.has(row.id) || erasingIds.has(row.id)) continue;
      erasingIds.add(row.id);
      try {
        await erase(row);
      } finally {
        erasingIds.delete(row.id);
      }
    }
  }

  async function erase(row: PartialRow): Promise<void> {
    const writeBatch = (work: () => number) => db.write(work, nameOf(row), "runs");
    while ((await writeBatch(() => deleteSome.run({ id: row.id }).changes)) > 0);
    failpoint?.("mid_erasure");
    // The cache of known blobs must be cleared: a write that deletes blobs touches more than runs.
    while ((await db.write(() => forgetBlobs(sqlite, row, row.id, blobsPerPiece), nameOf(row))) > 0);
    await db.write(() => (row.status === "partial" ? deleteRun : unnote).run(row.id));
  }

  return {
    arrive,
    /**
     * Returns the number of stored entries of a run's record. Call it inside the write that shows the run. Throws if
     * they are gone.
     */
    complete(runId: string): number {
      const count = arrived.get(runId) ?? 0;
      if (count > 0 && unnote.run(runId).changes === 0) throw new Error(`The record of ${runId} is gone.`);
      return count;
    },
    /** Ends an import: the run is visible, or `clear` may delete its pieces. */
    forget: (runId: string): void => void arrived.delete(runId),
    /** Makes a run invisible until `clear` deletes it. Call it inside a write. */
    hide(runId: string): void {
      hide.run(runId);
      note.run(runId);
    },
    /** Schedules the deletion of a record whose run stays. Call it inside a write. */
    drop: (runId: string): void => void note.run(runId),
    clear,
  };
}
