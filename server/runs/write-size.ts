import type { Database } from "bun:sqlite";
import { longestPiece } from "../journal/partial.ts";
import type { RunRow } from "./run-row.ts";

// What one write deletes at most, so that those who wait for the next one wait for milliseconds.
export const runsPerWrite = 50;
const eventsPerWrite = 1000;
const bytesPerWrite = 1_000_000;

/** What a run's journal and its large payloads take, none of which is read for it. CROSS: from the run, not from all blobs. */
export const selectBytes = `
  SELECT (SELECT coalesce(sum(octet_length(data)), 0) FROM run_events WHERE run_id = ?1)
    + (SELECT coalesce(sum(octet_length(content)), 0) FROM run_blobs CROSS JOIN blobs
       ON blobs.project_id = ?2 AND blobs.environment = ?3 AND blobs.hash = run_blobs.hash WHERE run_id = ?1) AS n`;

type Sized = Pick<RunRow, "id" | "project_id" | "environment" | "summary" | "seq">;

/** Takes of runs that are to be deleted as many as one write may delete: at least one. */
export function createWriteSize(sqlite: Database) {
  const bytes = sqlite.query<{ n: number }, [string, string, string]>(selectBytes);

  /** Of a long one no more than its row goes in this write. */
  const costOf = ({ id, project_id, environment, summary, seq }: Sized) =>
    seq > longestPiece
      ? { events: 1, bytes: 0 }
      : { events: seq, bytes: bytes.get(id, project_id, environment)!.n + (summary?.length ?? 0) };

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
