import type { Database } from "bun:sqlite";
import { onlyRow } from "../../storage/db/only-row.ts";
import { longestPiece } from "../../storage/journal/staged-import.ts";
import type { RunRow } from "../run-row.ts";

// Limits of one deletion write, so that the next write waits only milliseconds.
export const runsPerBatch = 50;
const eventsPerWrite = 1000;
const bytesPerWrite = 1_000_000;

/**
 * Bytes of a run's journal and large payloads, computed without reading them. CROSS: start from the run, not from all
 * blobs.
 */
export const selectBytes = `
  SELECT (SELECT coalesce(sum(octet_length(data)), 0) FROM run_events WHERE run_id = ?1)
    + (SELECT coalesce(sum(octet_length(content)), 0) FROM run_blobs CROSS JOIN blobs
       ON blobs.project_id = ?2 AND blobs.environment = ?3 AND blobs.hash = run_blobs.hash WHERE run_id = ?1) AS n`;

type Sized = Pick<RunRow, "id" | "project_id" | "environment" | "summary" | "seq">;

/** Returns how many of the runs to delete fit into one write, at least one. */
export function createDeletionBatch(sqlite: Database) {
  const bytes = sqlite.query<{ n: number }, [string, string, string]>(selectBytes);

  /** For a long run, this write deletes only the row. */
  const costOf = ({ id, project_id, environment, summary, seq }: Sized) =>
    seq > longestPiece
      ? { events: 1, bytes: 0 }
      : { events: seq, bytes: onlyRow(bytes.get(id, project_id, environment)).n + (summary?.length ?? 0) };

  return function affordable<Row extends Sized>(due: readonly Row[]): Row[] {
    let events = 0;
    let bytes = 0;
    const tooMany = due.findIndex((row) => {
      const cost = costOf(row);
      events += cost.events;
      bytes += cost.bytes;
      return events > eventsPerWrite || bytes > bytesPerWrite;
    });
    return tooMany < 0 ? [...due] : due.slice(0, Math.max(1, tooMany));
  };
}
