import { originOf, sourceOf } from "../core/origin.ts";
import type { JournalEntry, RunCreated } from "../core/run-event.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { failpoint } from "../lib/failpoint.ts";
import { forgetBlobs } from "./blob-uses.ts";
import type { Packed } from "./pack.ts";

/** An entry that has no number yet. */
export type Recorded = Omit<JournalEntry, "seq">;

/** Entries. A longer record arrives, and goes, in more than one write. */
export const longestPiece = 200;
/** Of JSON. */
const bytesPerPiece = 256 * 1024;
const blobsPerPiece = 50;

interface PartialRow extends Scope {
  id: string;
  status: string;
}

type Write = (scope: Scope, runId: string, entry: JournalEntry) => Pick<Packed, "length">;

/**
 * Long records, which one write would hold everybody up with: they come and go piece by piece. Meanwhile their runs are seen
 * by nobody, and noted in `partial_records`: what a crash leaves there is deleted by the next start.
 */
export function createPartialRecords({ db, write }: { db: Pick<Db, "sqlite" | "write">; write: Write }) {
  const { sqlite } = db;
  const insertHidden = sqlite.query(
    `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms, status_since_ms,
       timeout_ms, action_timeout_ms, depth, origin, source_run_id, summary)
     VALUES (?, ?, ?, ?, 'partial', 0, 1, '{}', ?, 0, 0, 0, 0, ?, ?, '')`,
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
    `DELETE FROM run_events WHERE run_id = ?1 AND seq <= (SELECT max(seq) FROM (
       SELECT seq FROM run_events WHERE run_id = ?1 ORDER BY seq LIMIT ${longestPiece}))`,
  );
  const deleteRun = sqlite.query("DELETE FROM runs WHERE id = ?");
  // How many entries of a record are there. Its first one comes with the commit that shows the run.
  const arrived = new Map<string, number>();
  const going = new Set<string>();

  /** Stores all of a long record but its first entry. Nothing of it is seen before `complete`. */
  async function arrive(runId: string, record: readonly Recorded[]): Promise<void> {
    const { event, at } = record[0]!;
    if (event.type !== "run.created") throw new Error(`A journal begins with ${event.type}.`);
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
    insertHidden.run(runId, project_id, environment, agent_id, at, originOf(run), sourceOf(run));
    note.run(runId);
  }

  function writePiece(scope: Scope, runId: string, record: readonly Recorded[], from: number): number {
    const most = Math.min(record.length, from + longestPiece);
    let [end, bytes] = [from, 0];
    for (; end < most && bytes < bytesPerPiece; end++)
      bytes += write(scope, runId, { seq: end + 1, ...record[end]! }).length;
    return end;
  }

  /** Deletes what is left of records that are to go, write by write. */
  async function clear(): Promise<void> {
    for (const row of selectAll.all()) {
      if (arrived.has(row.id) || going.has(row.id)) continue;
      going.add(row.id);
      try {
        await erase(row);
      } finally {
        going.delete(row.id);
      }
    }
  }

  async function erase(row: PartialRow): Promise<void> {
    const some = (work: () => number) => db.write(work, nameOf(row), "runs");
    while ((await some(() => deleteSome.run(row.id).changes)) > 0);
    failpoint?.("mid_erasure");
    // Which blobs there are is kept in memory: a write that deletes some does not touch runs alone.
    while ((await db.write(() => forgetBlobs(sqlite, row, row.id, blobsPerPiece), nameOf(row))) > 0);
    await db.write(() => (row.status === "partial" ? deleteRun : unnote).run(row.id));
  }

  return {
    arrive,
    /** Within the write that shows a run: how many entries of its record are there already; throws where they are gone. */
    complete(runId: string): number {
      const count = arrived.get(runId) ?? 0;
      if (count > 0 && unnote.run(runId).changes === 0) throw new Error(`The record of ${runId} is gone.`);
      return count;
    },
    /** The run is there, or will never be: what is left of its record is to go. */
    forget: (runId: string): void => void arrived.delete(runId),
    /** Within a write: the run is gone for everybody, and `clear` deletes it. */
    hide(runId: string): void {
      hide.run(runId);
      note.run(runId);
    },
    /** Within a write: `clear` deletes the record of a run that stays. */
    drop: (runId: string): void => void note.run(runId),
    clear,
  };
}
