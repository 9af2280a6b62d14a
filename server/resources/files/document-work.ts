import type { Chunking } from "../../domain/chunking.ts";
import type { DocumentReport } from "../../domain/document-report.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { files } from "../../storage/db/schema.ts";
import { columnsOf, createReader } from "../../storage/db/scoped-table.ts";
import type { FileRow } from "./row.ts";

export type FileRef = Scope & Pick<FileRow, "id">;

type Stored = Record<string, unknown>;

export type DocumentWork = ReturnType<typeof createDocumentWork>;

const unread = "status IN ('uploaded', 'processing') AND chunks = 0";
// The owner of a file sent with a client token. All files sent with keys count as one sender.
const sender = "coalesce(owner, '.')";
const columns = columnsOf(files);
const rowOf = createReader(files);
const toRow = (row: Stored | null): FileRow | null => row && rowOf(row);
const alive = "(expires_at_ms IS NULL OR expires_at_ms > $now)";

/** Queries of document processing over the files table. Call those that write inside a write. */
export function createDocumentWork({ db: { sqlite }, now }: { db: Db; now: () => number }) {
  const scope = "project_id = $project_id AND environment = $environment";
  const key = `${scope} AND id = $id`;
  type Key = ScopeColumns & { id: string };
  const keyOf = ({ project_id, environment, id }: FileRef): Key => ({ project_id, environment, id });
  // One index step per project and environment, however many files wait.
  const nextOwner = sqlite.query<Scope, { [Name in keyof Scope]: string }>(
    `SELECT project_id, environment FROM files WHERE ${unread} AND (project_id, environment) > ($project_id, $environment)
       ORDER BY project_id, environment LIMIT 1`,
  );
  // One index step per sender.
  const nextSender = sqlite.query<{ sender: string }, ScopeColumns & { after: string }>(
    `SELECT ${sender} AS sender FROM files WHERE ${unread} AND ${scope} AND ${sender} > $after
       ORDER BY ${sender} LIMIT 1`,
  );
  const first = sqlite.query<Stored, ScopeColumns & { sender: string; now: number; except: string }>(
    `SELECT ${columns} FROM files WHERE ${unread} AND ${scope} AND ${sender} = $sender AND ${alive}
       AND id NOT IN (SELECT value FROM json_each($except)) ORDER BY id LIMIT 1`,
  );
  const one = sqlite.query<Stored, Key & { now: number }>(`SELECT ${columns} FROM files WHERE ${key} AND ${alive}`);
  const read = sqlite.query<Stored, { now: number }>(
    `SELECT ${columns} FROM files WHERE status IN ('uploaded', 'processing') AND chunks > 0 AND ${alive}`,
  );
  const updateStarted = sqlite.query(
    `UPDATE files SET status = 'processing', attempts = attempts + 1, pages = NULL, pages_done = NULL WHERE ${key} AND ${unread} AND ${alive}`,
  );
  const decrementAttempts = sqlite.query(`UPDATE files SET attempts = max(0, attempts - 1) WHERE ${key}`);
  const updateCounts = sqlite.query(
    `UPDATE files SET chunks = $chunks, pages = $pages, pages_done = NULL, report = $report WHERE ${key}`,
  );
  // A late write changes nothing on a file that is read.
  const updateProgress = sqlite.query(
    `UPDATE files SET pages_done = $done, pages = $pages WHERE ${key} AND status = 'processing' AND chunks = 0`,
  );
  const ending = sqlite.query(`UPDATE files SET status = $status, error = $error WHERE ${key}`);
  const restartReading = sqlite.query(
    `UPDATE files SET status = 'uploaded', error = NULL, attempts = 0, chunking = coalesce(chunking, $chunking)
     WHERE ${key} AND chunks = 0`,
  );
  const resuming = sqlite.query(`UPDATE files SET status = 'processing', error = NULL WHERE ${key} AND chunks > 0`);

  return {
    /** Projects and environments that have files to process. */
    owners(): Scope[] {
      const found: Scope[] = [];
      for (let at = nextOwner.get({ project_id: "", environment: "" }); at; at = nextOwner.get({ ...at }))
        found.push(at);
      return found;
    },
    /** Senders in a project and environment that have files to process. */
    senders({ project_id, environment }: Scope): string[] {
      const found: string[] = [];
      for (let at = nextSender.get({ project_id, environment, after: "" }); at; ) {
        found.push(at.sender);
        at = nextSender.get({ project_id, environment, after: at.sender });
      }
      return found;
    },
    /** Oldest file of a sender to process, except these. */
    first: ({ project_id, environment }: Scope, sender: string, except: readonly string[]): FileRow | null =>
      toRow(first.get({ project_id, environment, sender, now: now(), except: JSON.stringify(except) })),
    /** Null if the file is gone. */
    find: (file: FileRef): FileRow | null => toRow(one.get({ ...keyOf(file), now: now() })),
    /** Processed files that wait for memory stores. */
    read: (): FileRow[] => read.all({ now: now() }).map(rowOf),
    /** False if the file no longer needs processing. */
    begin: (file: FileRef): boolean => updateStarted.run({ ...keyOf(file), now: now() }).changes > 0,
    /** Returns the attempt, because the server's stop ended it and not a fault. */
    giveBack: (file: FileRef): void => void decrementAttempts.run(keyOf(file)),
    /** Notes how many pages are read so far, of how many. */
    progress: (file: FileRef, done: number, pages: number): void =>
      void updateProgress.run({ ...keyOf(file), done, pages }),
    count: (file: FileRef, chunks: number, pages: number | null, report: DocumentReport): void =>
      void updateCounts.run({ ...keyOf(file), chunks, pages, report: JSON.stringify(report) }),
    end: (file: FileRef, error: CodedError | null): void =>
      void ending.run({
        ...keyOf(file),
        status: error ? "failed" : "ready",
        error: error && JSON.stringify(error),
      }),
    /** Queues the file for processing, or again after a failure. No-op if it is processed. */
    demand: (file: FileRef, chunking: Chunking | null): void =>
      void restartReading.run({ ...keyOf(file), chunking: chunking && JSON.stringify(chunking) }),
    /** Marks a processed file as waiting for memory stores again. */
    resume: (file: FileRef): void => void resuming.run(keyOf(file)),
  };
}
