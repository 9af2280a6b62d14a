import type { CodedError } from "../core/errors.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { columnsOf, createReader } from "../db/rows.ts";
import { files } from "../db/schema.ts";
import type { Chunking } from "../documents/chunking.ts";
import type { FileRow } from "./row.ts";

export type FileRef = Scope & Pick<FileRow, "id">;

type Stored = Record<string, unknown>;

export type DocumentWork = ReturnType<typeof createDocumentWork>;

const unread = "status IN ('uploaded', 'processing') AND chunks = 0";
// Who sent a file with a client token; all that came with keys are one sender.
const sender = "coalesce(owner, '.')";
const columns = columnsOf(files);
const rowOf = createReader(files);
const toRow = (row: Stored | null): FileRow | null => row && rowOf(row);
const alive = "(expires_at_ms IS NULL OR expires_at_ms > ?)";

/** What the reading of documents reads and writes of files. Whatever writes is called within a write. */
export function createDocumentWork({ db: { sqlite }, now }: { db: Pick<Db, "sqlite">; now: () => number }) {
  const key = "project_id = ? AND environment = ? AND id = ?";
  type Key = [string, Environment, string];
  const keyOf = ({ project_id, environment, id }: FileRef): Key => [project_id, environment, id];
  // One step through the index for each owner, however many files it has waiting.
  const nextOwner = sqlite.query<Scope, [string, string]>(
    `SELECT project_id, environment FROM files WHERE ${unread} AND (project_id, environment) > (?, ?)
       ORDER BY project_id, environment LIMIT 1`,
  );
  // Likewise for each sender.
  const nextSender = sqlite.query<{ sender: string }, [string, Environment, string]>(
    `SELECT ${sender} AS sender FROM files WHERE ${unread} AND project_id = ? AND environment = ? AND ${sender} > ?
       ORDER BY ${sender} LIMIT 1`,
  );
  const first = sqlite.query<Stored, [string, Environment, string, number, string]>(
    `SELECT ${columns} FROM files WHERE ${unread} AND project_id = ? AND environment = ? AND ${sender} = ? AND ${alive}
       AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1`,
  );
  const one = sqlite.query<Stored, [...Key, number]>(`SELECT ${columns} FROM files WHERE ${key} AND ${alive}`);
  const read = sqlite.query<Stored, [number]>(
    `SELECT ${columns} FROM files WHERE status IN ('uploaded', 'processing') AND chunks > 0 AND ${alive}`,
  );
  const beginning = sqlite.query(
    `UPDATE files SET status = 'processing', attempts = attempts + 1 WHERE ${key} AND ${unread} AND ${alive}`,
  );
  const givingBack = sqlite.query(`UPDATE files SET attempts = max(0, attempts - 1) WHERE ${key}`);
  const counting = sqlite.query(`UPDATE files SET chunks = ?, pages = ? WHERE ${key}`);
  const ending = sqlite.query(`UPDATE files SET status = ?, error = ? WHERE ${key}`);
  const demanding = sqlite.query(
    `UPDATE files SET status = 'uploaded', error = NULL, attempts = 0, chunking = coalesce(chunking, ?)
     WHERE ${key} AND chunks = 0`,
  );
  const resuming = sqlite.query(`UPDATE files SET status = 'processing', error = NULL WHERE ${key} AND chunks > 0`);

  return {
    /** Who has files to read, or being read. */
    owners(): Scope[] {
      const found: Scope[] = [];
      for (let at = nextOwner.get("", ""); at; at = nextOwner.get(at.project_id, at.environment)) found.push(at);
      return found;
    },
    /** Who of an owner has sent files to read, or being read. */
    senders({ project_id, environment }: Scope): string[] {
      const found: string[] = [];
      for (let at = nextSender.get(project_id, environment, ""); at; ) {
        found.push(at.sender);
        at = nextSender.get(project_id, environment, at.sender);
      }
      return found;
    },
    /** The oldest of a sender's files to read, but none of these. */
    first: ({ project_id, environment }: Scope, sender: string, except: readonly string[]): FileRow | null =>
      toRow(first.get(project_id, environment, sender, now(), JSON.stringify(except))),
    /** Null for what is not there any more. */
    find: (file: FileRef): FileRow | null => toRow(one.get(...keyOf(file), now())),
    /** Files that are read, and wait for memory stores. */
    read: (): FileRow[] => read.all(now()).map(rowOf),
    /** False when there is nothing to read any more. */
    begin: (file: FileRef): boolean => beginning.run(...keyOf(file), now()).changes > 0,
    /** The reading ended with the server, and not by a fault. */
    giveBack: (file: FileRef): void => void givingBack.run(...keyOf(file)),
    count: (file: FileRef, chunks: number, pages: number | null): void =>
      void counting.run(chunks, pages, ...keyOf(file)),
    end: (file: FileRef, error: CodedError | null): void =>
      void ending.run(error ? "failed" : "ready", error && JSON.stringify(error), ...keyOf(file)),
    /** It is to be read, or read again; nothing happens to one that is read. */
    demand: (file: FileRef, chunking: Chunking | null): void =>
      void demanding.run(chunking && JSON.stringify(chunking), ...keyOf(file)),
    /** It is read, and waits for memory stores again. */
    resume: (file: FileRef): void => void resuming.run(...keyOf(file)),
  };
}
