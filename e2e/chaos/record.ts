import { Database } from "bun:sqlite";
import type { Json } from "../harness.ts";

/** A row of the journal. */
export interface Row {
  seq: number;
  type: string;
  text: string;
  event: Json;
}

/** A run as stored in the database. */
export interface RecordedRun {
  id: string;
  status: string;
  seq: number;
  rows: Row[];
}

export type Journal = ReturnType<typeof createRecord>;

/** Reads the database from another process, so that no statement of the server is trusted. */
export function createRecord(path: string) {
  const runs = new Map<string, RecordedRun>();
  const agents = new Set<string>();
  /** Entries in the webhook outbox, by run and seq. */
  const outbox = new Set<string>();

  function withDatabase<T>(read: (db: Database) => T): T {
    // Read-only, because a closing writer would checkpoint the WAL that the kill left for the server.
    const db = new Database(path, { readonly: true });
    try {
      db.run("PRAGMA busy_timeout = 5000");
      return db.transaction(() => read(db))();
    } finally {
      db.close();
    }
  }

  /** Reads the rows added since the last call. */
  function update(): void {
    withDatabase((db) => {
      const select = rowsOf(db);
      for (const { id } of db.query<{ id: string }, []>("SELECT id FROM agents").all()) agents.add(id);
      for (const { run_id, seq } of eventsOf(db)) outbox.add(placeOf(run_id, seq));
      for (const { id, status, seq } of headsOf(db)) {
        const run = runs.get(id) ?? { id, status, seq, rows: [] };
        runs.set(id, Object.assign(run, { status, seq }));
        run.rows.push(...select(id, run.rows.length));
      }
    });
  }

  /** Rows that were there at a kill and are now missing or different. */
  function rewritten(): string[] {
    return withDatabase((db) => {
      const select = rowsOf(db);
      return [...runs.values()].flatMap(({ id, rows }) => {
        const now = select(id, 0);
        return rows.filter(({ text }, index) => now[index]?.text !== text).map(({ seq }) => `${id} ${seq}`);
      });
    });
  }

  /** Runs that the daily usage counts more or fewer times than the journal. */
  const uncounted = (): string[] =>
    withDatabase((db) => {
      const counted = sumsOf(db);
      return Object.entries(entriesOf(db))
        .filter(([name, runs]) => counted[name] !== runs)
        .map(([name, runs]) => `${name}: ${counted[name]}, and in the journal ${runs}`);
    });

  /** Returns the errors of SQLite's own integrity check. */
  function damage(): string[] {
    return withDatabase((db) => {
      const integrity = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
      const broken = integrity.map((row) => row.integrity_check).filter((text) => text !== "ok");
      const dangling = db.query("PRAGMA foreign_key_check").all();
      return [...broken, ...dangling.map((row) => JSON.stringify(row))];
    });
  }

  return { runs, agents, outbox, update, rewritten, uncounted, damage };
}

/** Returns the key of an entry among those of all runs. */
export const placeOf = (runId: string, seq: number): string => `${runId} ${seq}`;

const eventsOf = (db: Database) =>
  db.query<{ run_id: string; seq: number }, []>("SELECT run_id, seq FROM webhook_deliveries").all();

type Runs = Record<string, number>;

const sumsOf = (db: Database): Runs =>
  db
    .query<Runs, []>(
      `SELECT coalesce(sum(runs_started), 0) AS started, coalesce(sum(runs_completed), 0) AS completed,
         coalesce(sum(runs_failed), 0) AS failed, coalesce(sum(model_calls), 0) AS model_calls FROM usage_days`,
    )
    .get()!;

const entriesOf = (db: Database): Runs =>
  db
    .query<Runs, []>(
      `SELECT count(*) FILTER (WHERE type = 'run.created') AS started,
         count(*) FILTER (WHERE type = 'run.completed') AS completed, count(*) FILTER (WHERE type = 'run.failed') AS failed,
         count(*) FILTER (WHERE type = 'step.completed' AND data ->> '$.answer' IS NOT NULL
           OR type = 'step.restarted' AND data ->> '$.spent' IS NOT NULL) AS model_calls FROM run_events`,
    )
    .get()!;

const headsOf = (db: Database) =>
  db.query<{ id: string; status: string; seq: number }, []>("SELECT id, status, seq FROM runs").all();

function rowsOf(db: Database): (id: string, from: number) => Row[] {
  const query = db.query<{ seq: number; type: string; text: string }, [string, number]>(
    "SELECT seq, type, data AS text FROM run_events WHERE run_id = ? ORDER BY seq LIMIT -1 OFFSET ?",
  );
  return (id, from) => query.all(id, from).map(({ seq, type, text }) => ({ seq, type, text, event: JSON.parse(text) }));
}
