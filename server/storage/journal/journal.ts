import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import type { JournalEntry, RunEvent, RunEventType } from "../../domain/run-event.ts";
import { isOver, type RunStatus } from "../../domain/run-state.ts";
import { type RunSummary, stripLength, stripTypes } from "../../domain/run-summary.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Db } from "../db/open.ts";
import type { runEvents, runs } from "../db/schema.ts";
import type { Leave } from "../db/writer.ts";
import { type Content, contentOf, createEventCodec, type EncodedEvent } from "./event-codec.ts";
import { createStagedImports, longestPiece, type Recorded } from "./staged-import.ts";
import { createStateCache } from "./state-cache.ts";

/** State of a run that appends are checked against. */
export interface RunHead extends Scope {
  run_id: string;
  status: RunStatus;
  seq: number;
  attempt: number;
  /** The run whose call started this one; `depth` is the number of runs above it. */
  parent_run_id: string | null;
  depth: number;
  /** The run at the top of its tree: the run itself if no call started it. */
  root_run_id: string;
}

/** Columns of a run's row, cached while it works. */
export interface RunFacts extends RunHead, Pick<typeof runs.$inferSelect, (typeof factColumns)[number]> {
  /** Time of the newest entry; 0 if the journal was deleted. */
  at: number;
  /** 1 if the run has pending calls, which may wait for a person or client. */
  waits: 0 | 1;
}

const factColumns = [
  ...(["agent_id", "model", "thread_id", "session_id", "user_id", "created_at_ms", "worked_ms"] as const),
  ...(["status_since_ms", "timeout_ms", "action_timeout_ms", "expires_at_ms", "runs_below"] as const),
];

/** Entries inserted for a run, within a write that may affect several. */
export type Inserted = [runId: string, entries: JournalEntry[]];

/** Updates a table from the journal, in the same transaction. `run` is the run after these entries. */
export type Projector = (run: RunFacts, entries: readonly JournalEntry[]) => void;

/** Updates the row of a run from the journal and returns the new row; `before` is null for a new run. */
export type RunProjector = (before: RunFacts | null, entries: readonly JournalEntry[]) => RunFacts;

/** True if these are the first entries of a run. */
export const startsRun = ([first]: readonly JournalEntry[]): boolean => first?.event.type === "run.created";

/** SQL condition for runs that their project can see: the record is, or was, stored completely. */
export const isShown = "status <> 'partial'";

/** Thrown for an append to a run that has ended or has a newer attempt. */
export class AppendRefused extends Error {}

/** An entry with the fields that lists need. */
interface BriefEntry extends JournalEntry {
  /** Names of fields that were shortened. */
  shortened: string[];
}

// Bounds of the records in memory: characters of JSON per run, and number of runs.
const keptLength = 16 * 1024;
const maxCachedRuns = 1000;

// Bytes of entries read at once, as JSON.
const someBytes = 1024 * 1024;

/** All entries of a run, and their length as JSON. */
interface CachedRun {
  entries: readonly JournalEntry[];
  length: number;
}

type EventRow = Pick<typeof runEvents.$inferSelect, "seq" | "at_ms" | "data" | "blobs">;

export type Journal = ReturnType<typeof createJournal>;

/** The only writer and reader of run history. Calls `wake` with entries after they are durable, never before. */
export function createJournal({
  db,
  project,
  wake,
  now,
}: {
  db: Db;
  project: RunProjector;
  wake: (runId: string, entries: readonly JournalEntry[]) => void;
  now: () => number;
}) {
  const { sqlite } = db;
  const pack = createEventCodec(db);
  // Cached, because many runs pin the same agent.
  const agents = new WeakMap<AgentSnapshot, Content>();
  const selectFacts = sqlite.query<RunFacts, [string]>(
    `SELECT id AS run_id, project_id, environment, status, seq, attempt, parent_run_id, depth,
       coalesce(root_run_id, id) AS root_run_id, ${factColumns.join(", ")},
       coalesce((SELECT at_ms FROM run_events WHERE summary IS NULL AND run_id = runs.id AND seq = runs.seq), 0) AS at,
       EXISTS (SELECT 1 FROM pending_calls WHERE run_id = runs.id) AS waits FROM runs WHERE id = ? AND ${isShown}`,
  );
  const facts = db.kept.rows((runId: string) => selectFacts.get(runId));
  // Short runs that began in this process: they are read right after each write, and when they end.
  const records = db.kept.rows((_runId: string): CachedRun | null => null, { most: maxCachedRuns });
  const selectEvents = sqlite.query<EventRow, [string, number, number]>(
    "SELECT seq, at_ms, data, blobs FROM run_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  const selectOne = sqlite.query<{ seq: number }, [string, number]>(
    "SELECT seq FROM run_events WHERE run_id = ? AND seq = ?",
  );
  // These events come near the beginning: only events of input guardrails precede them.
  const selectStart = sqlite.query<{ waits: number; at: number | null }, [string, number, number]>(
    `SELECT count(*) FILTER (WHERE type = 'run.queued') AS waits, max(at_ms) FILTER (WHERE type = 'run.started') AS at
     FROM run_events WHERE run_id = ? AND seq > ? AND seq <= ? + 40`,
  );
  const selectCalls = sqlite.query<{ type: RunSummary["last_calls"][number] }, [string, string, number]>(
    `SELECT data ->> '$.step_type' AS type FROM run_events WHERE run_id = ? AND run_events.type = 'step.started'
       AND data ->> '$.step_type' IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?`,
  );
  // Counts a blob once per reference, because each entry gets its own copy.
  const selectBytes = sqlite.query<{ bytes: number }, [string]>(
    `SELECT coalesce(sum(octet_length(content)), 0) AS bytes FROM run_events AS one
     CROSS JOIN json_each(one.blobs) AS field CROSS JOIN runs ON runs.id = one.run_id
     CROSS JOIN blobs ON blobs.project_id = runs.project_id AND blobs.environment = runs.environment
       AND blobs.hash = field.value WHERE one.run_id = ? AND one.blobs IS NOT NULL`,
  );
  const selectCount = sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM run_events WHERE run_id = ? AND type IN (SELECT value FROM json_each(?))",
  );
  const insertEvent = sqlite.query(
    "INSERT INTO run_events (run_id, seq, at_ms, type, data, blobs) VALUES (?, ?, ?, ?, ?, ?)",
  );

  const partial = createStagedImports({ db, write: writeOne });

  function stored(agent: AgentSnapshot): Content {
    const content = agents.get(agent) ?? contentOf(JSON.stringify(agent));
    agents.set(agent, content);
    return content;
  }

  /**
   * Inserts entries for these events. Call it inside a write. Throws `AppendRefused`, also if `attempt` is not the
   * current one.
   */
  function insert(runId: string, events: readonly RunEvent[], attempt?: number): JournalEntry[] {
    if (events.length === 0) return [];
    const head = events[0]!.type === "run.created" ? null : facts.of(runId); // A new run: a duplicate would violate the primary key.
    const scope = head ?? scopeOf(events[0]!);
    if (head && isOver(head.status)) throw new AppendRefused(`Run ${runId} is ${head.status}.`);
    if (head && attempt !== undefined && head.attempt !== attempt)
      throw new AppendRefused(`Attempt ${attempt} is past.`);
    // Clamp timestamps: if the clock was set back, durations would be negative.
    const at = Math.max(now(), head?.at ?? 0);
    const first = (head?.seq ?? 0) + 1;
    const entries = events.map((event, index) => ({ seq: first + index, at, event }));
    advance(head, entries);
    write(scope, runId, entries);
    return entries;
  }

  function advance(before: RunFacts | null, entries: readonly JournalEntry[]): void {
    const run = project(before, entries);
    facts.note(run, run.run_id);
    if (!before && run.parent_run_id !== null) facts.drop(run.root_run_id); // The root's row counts this run.
  }

  /**
   * Inserts a new run that begins with the record of another one, with its timestamps. If `commitRecords` has stored
   * the record before, writes only the first entry and any new ones. Call it inside a write.
   */
  function insertRecord(runId: string, record: readonly Recorded[]): JournalEntry[] {
    const entries = record.map((entry, index) => ({ seq: index + 1, ...entry }));
    const there = partial.complete(runId);
    advance(null, entries);
    const scope = scopeOf(entries[0]!.event);
    write(scope, runId, there > 0 ? [entries[0]!, ...entries.slice(there)] : entries);
    if (there > 0) records.drop(runId); // The entries written here are not the whole record.
    return entries;
  }

  function write(scope: Scope, runId: string, entries: readonly JournalEntry[]): void {
    let length = 0;
    for (const entry of entries) {
      const { data, blobs } = writeOne(scope, runId, entry);
      failpoint?.(`before_${boundaryOf(entry.event)}`);
      length += blobs === null ? data.length : Number.POSITIVE_INFINITY;
    }
    keep(runId, entries, length);
  }

  function keep(runId: string, entries: readonly JournalEntry[], length: number): void {
    const before = startsRun(entries) ? { entries: [], length: 0 } : records.known(runId);
    if (!before) return;
    const record = { entries: [...before.entries, ...entries], length: before.length + length };
    if (record.length > keptLength) records.drop(runId);
    else records.note(record, runId);
  }

  function writeOne(scope: Scope, runId: string, { seq, at, event }: JournalEntry): EncodedEvent {
    const packed = pack.pack(scope, runId, event);
    insertEvent.run(runId, seq, at, event.type, packed.data, packed.blobs);
    return packed;
  }

  /**
   * Commits the entries that `produce` inserts, all or none, and then wakes the readers. `produce` runs inside the
   * write, in the order of its owner's writes.
   */
  async function commit(runId: string, produce: () => JournalEntry[], owner?: Scope): Promise<JournalEntry[]> {
    const [inserted] = await commitAll(() => [[runId, produce()]], owner);
    return inserted![1];
  }

  /** Commits entries of several runs, all or none. `leave` is called with them before they are durable. */
  async function commitAll(produce: () => Inserted[], owner?: Scope, leave?: Leave<Inserted[]>): Promise<Inserted[]> {
    const all = await db.write(produce, owner && nameOf(owner), "runs", leave);
    db.snapshot.begin(); // The readers woken below read now.
    if (failpoint)
      for (const [, entries] of all) for (const { event } of entries) failpoint(`after_${boundaryOf(event)}`);
    for (const [runId, entries] of all) if (entries.length > 0) wake(runId, entries);
    return all;
  }

  /**
   * Commits new runs that begin with records. A long record is written before, in invisible pieces, except for its
   * first entry. If that fails or `produce` throws, the pieces are deleted.
   */
  async function commitRecords(
    records: readonly (readonly [runId: string, record: readonly Recorded[]])[],
    produce: () => Inserted[],
    owner: Scope,
  ): Promise<Inserted[]> {
    const long = records.filter(([, record]) => record.length > longestPiece);
    let isWhole = false;
    try {
      for (const [runId, record] of long) await partial.arrive(runId, record);
      const inserted = await commitAll(produce, owner);
      isWhole = true;
      if (long.length > 0) await nextTurn(); // The code that follows reads all entries, too.
      return inserted;
    } finally {
      for (const [runId] of long) partial.forget(runId);
      if (long.length > 0 && !isWhole) await partial.clear().catch(() => {}); // Otherwise the next start clears it.
    }
  }

  const append = (runId: string, events: readonly RunEvent[], attempt?: number): Promise<JournalEntry[]> =>
    commit(runId, () => insert(runId, events, attempt));

  /** Returns entries after `after`, oldest first. They are shared: callers must not modify them. */
  function read(runId: string, after = 0, limit = -1): JournalEntry[] {
    const kept = records.known(runId)?.entries;
    if (kept) return kept.slice(after, limit < 0 ? undefined : after + limit);
    db.snapshot.begin();
    return selectEvents.all(runId, after, limit).map((row) => entryOf(runId, row).entry);
  }

  function entryOf(runId: string, { seq, at_ms, data, blobs }: EventRow): { entry: JournalEntry; length: number } {
    const { event, length } = pack.unpack(runId, data, blobs);
    return { entry: { seq, at: at_ms, event }, length };
  }

  /**
   * Returns entries up to about a megabyte, and their bytes as JSON, because `limit` long entries would take too much
   * memory. Returns no entries at the end.
   */
  function readSome(runId: string, after: number, limit: number): { entries: JournalEntry[]; bytes: number } {
    const kept = records.known(runId);
    if (kept) return { entries: kept.entries.slice(after, after + limit), bytes: kept.length };
    db.snapshot.begin();
    const entries: JournalEntry[] = [];
    let bytes = 0;
    for (const row of selectEvents.all(runId, after, limit)) {
      const { entry, length } = entryOf(runId, row);
      entries.push(entry);
      bytes += length;
      if (bytes >= someBytes) break;
    }
    return { entries, bytes };
  }

  /** True if this entry exists; does not read it. */
  function has(runId: string, seq: number): boolean {
    db.snapshot.begin();
    return selectOne.get(runId, seq) !== null;
  }

  /** True if all entries of a run are in memory; only short runs are. */
  const isAtHand = (runId: string): boolean => (records.known(runId) ?? null) !== null;

  /** True if the run's entries exceed what `readSome` reads at once. */
  function isLarge(runId: string): boolean {
    return !isAtHand(runId) && selectBytes.get(runId)!.bytes > someBytes;
  }

  /** Returns entries without the large fields that do not show the run's state; those are neither read nor unpacked. */
  function readBrief(runId: string, after = 0, limit = -1): BriefEntry[] {
    db.snapshot.begin();
    return selectEvents.all(runId, after, limit).map(({ seq, at_ms, data, blobs }) => ({
      seq,
      at: at_ms,
      ...pack.unpackBrief(runId, data, blobs),
    }));
  }

  const head = (runId: string): RunFacts | null => facts.of(runId);

  return {
    ...createStateCache({ read, readSome, has, head, isAtHand, isLarge }),
    insert,
    insertRecord,
    commit,
    commitAll,
    commitRecords,
    /** Records that are stored and deleted in pieces. */
    partial,
    append,
    read,
    readSome,
    has,
    isAtHand,
    isLarge,
    readBrief,
    /**
     * Returns when a run that was queued after entry `after` started; null if it never did, undefined if it was not
     * queued.
     */
    startOf(runId: string, after: number): number | null | undefined {
      const { waits, at } = selectStart.get(runId, after, after)!;
      return waits === 0 ? undefined : at;
    },
    /** Returns the types of the run's newest calls, oldest first. */
    lastCalls: (runId: string): RunSummary["last_calls"] =>
      selectCalls
        .all(runId, JSON.stringify(stripTypes), stripLength)
        .map(({ type }) => type)
        .reverse(),
    /** Returns the number of a run's entries of these types. */
    count: (runId: string, types: readonly RunEventType[]): number => selectCount.get(runId, JSON.stringify(types))!.n,
    /** Returns null if there is no such run. */
    head,
    /** Stores the agent snapshot of a run. Call it inside a write. Returns the hash for `snapshot`. */
    pin: (scope: Scope, runId: string, agent: AgentSnapshot): string => pack.put(scope, runId, stored(agent)),
    /** Returns the hash that `pin` gives this agent. */
    hashOf: (agent: AgentSnapshot): string => stored(agent).hash,
    snapshot: (scope: Scope, hash: string): AgentSnapshot => parseExact(pack.get(scope, hash)),
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns the name of an event's commit boundary, for failpoints. */
const boundaryOf = (event: RunEvent): string =>
  event.type === "step.started"
    ? `intent.${event.step_type}`
    : event.type === "step.completed"
      ? `result.${event.step_type}`
      : event.type;

function scopeOf(event: RunEvent): Scope {
  if (event.type !== "run.created") throw new AppendRefused(noSuch("run"));
  return event;
}
