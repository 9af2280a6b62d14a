import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import type { JournalEntry, RunEvent, RunEventType } from "../../domain/run-event.ts";
import { isOver, type RunStatus } from "../../domain/run-state.ts";
import { type RunSummary, stripLength, stripTypes } from "../../domain/run-summary.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { onlyRow } from "../db/only-row.ts";
import type { Db } from "../db/open.ts";
import type { CachedRows } from "../db/row-cache.ts";
import type { runEvents, runs } from "../db/schema.ts";
import type { Leave } from "../db/writer.ts";
import { type Content, contentOf, createEventCodec, type EncodedEvent } from "./event-codec.ts";
import { createStagedImports, longestPiece, type Recorded } from "./staged-import.ts";
import { StateCache } from "./state-cache.ts";

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

interface JournalOptions {
  db: Db;
  project: RunProjector;
  wake: (runId: string, entries: readonly JournalEntry[]) => void;
  /** Called inside the write that pins an agent. */
  pinned?: (...pin: Pin) => void;
  now: () => number;
}

/** An agent that a run pins. */
export type Pin = [scope: Scope, runId: string, agent: AgentSnapshot];

/** The only writer and reader of run history. Calls `wake` with entries after they are durable, never before. */
export class Journal extends StateCache {
  /** Records that are stored and deleted in pieces. */
  readonly partial: ReturnType<typeof createStagedImports>;
  readonly #options: JournalOptions;
  readonly #codec: ReturnType<typeof createEventCodec>;
  readonly #statements: ReturnType<typeof statementsOf>;
  readonly #facts: CachedRows<[runId: string], RunFacts | null>;
  /** Short runs that began in this process: they are read right after each write, and when they end. */
  readonly #records: CachedRows<[runId: string], CachedRun | null>;
  /** Cached, because many runs pin the same agent. */
  readonly #agents = new WeakMap<AgentSnapshot, Content>();

  constructor(options: JournalOptions) {
    super();
    const { db } = options;
    this.#options = options;
    this.#codec = createEventCodec(db);
    this.#statements = statementsOf(db);
    const { selectFacts } = this.#statements;
    this.#facts = db.kept.rows((runId) => selectFacts.get(runId));
    this.#records = db.kept.rows(() => null, { most: maxCachedRuns });
    this.partial = createStagedImports({ db, write: (...entry) => this.#writeOne(...entry) });
  }

  /**
   * Inserts entries for these events. Call it inside a write. Throws `AppendRefused`, also if `attempt` is not the
   * current one.
   */
  insert(runId: string, events: readonly RunEvent[], attempt?: number): JournalEntry[] {
    const [first] = events;
    if (!first) return [];
    const head = first.type === "run.created" ? null : this.#facts.of(runId); // A new run: a duplicate would violate the primary key.
    const scope = head ?? scopeOf(first);
    if (head && isOver(head.status)) throw new AppendRefused(`Run ${runId} is ${head.status}.`);
    if (head && attempt !== undefined && head.attempt !== attempt)
      throw new AppendRefused(`Attempt ${attempt} is past.`);
    // Clamp timestamps: if the clock was set back, durations would be negative.
    const at = Math.max(this.#options.now(), head?.at ?? 0);
    const next = (head?.seq ?? 0) + 1;
    const entries = events.map((event, index) => ({ seq: next + index, at, event }));
    this.#advance(head, entries);
    this.#write(scope, runId, entries);
    return entries;
  }

  /**
   * Inserts a new run that begins with the record of another one, with its timestamps. If `commitRecords` has stored
   * the record before, writes only the first entry and any new ones. Call it inside a write.
   */
  insertRecord(runId: string, record: readonly Recorded[]): JournalEntry[] {
    const entries = record.map((entry, index) => ({ seq: index + 1, ...entry }));
    const storedCount = this.partial.complete(runId);
    this.#advance(null, entries);
    const missing = entries.filter(({ seq }) => seq === 1 || seq > storedCount);
    this.#write(scopeOf(entries[0]?.event), runId, missing);
    if (storedCount > 0) this.#records.drop(runId); // The entries written here are not the whole record.
    return entries;
  }

  append(runId: string, events: readonly RunEvent[], attempt?: number): Promise<JournalEntry[]> {
    return this.commit(runId, () => this.insert(runId, events, attempt));
  }

  /**
   * Commits the entries that `produce` inserts, all or none, and then wakes the readers. `produce` runs inside the
   * write, in the order of its owner's writes.
   */
  async commit(runId: string, produce: () => JournalEntry[], owner?: Scope): Promise<JournalEntry[]> {
    let entries: JournalEntry[] = [];
    await this.commitAll(() => {
      entries = produce();
      return [[runId, entries]];
    }, owner);
    return entries;
  }

  /** Commits entries of several runs, all or none. `leave` is called with them before they are durable. */
  async commitAll(produce: () => Inserted[], owner?: Scope, leave?: Leave<Inserted[]>): Promise<Inserted[]> {
    const { db, wake } = this.#options;
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
  async commitRecords(
    records: readonly (readonly [runId: string, record: readonly Recorded[]])[],
    produce: () => Inserted[],
    owner: Scope,
  ): Promise<Inserted[]> {
    const long = records.filter(([, record]) => record.length > longestPiece);
    let isWhole = false;
    try {
      for (const [runId, record] of long) await this.partial.arrive(runId, record);
      const inserted = await this.commitAll(produce, owner);
      isWhole = true;
      if (long.length > 0) await nextTurn(); // The code that follows reads all entries, too.
      return inserted;
    } finally {
      for (const [runId] of long) this.partial.forget(runId);
      if (long.length > 0 && !isWhole) await this.partial.clear().catch(() => {}); // Otherwise the next start clears it.
    }
  }

  /** Returns null if there is no such run. */
  override readonly head = (runId: string): RunFacts | null => this.#facts.of(runId);

  /** Returns entries after `after`, oldest first. They are shared: callers must not modify them. */
  override read(runId: string, after = 0, limit = -1): JournalEntry[] {
    const cachedEntries = this.#records.known(runId)?.entries;
    if (cachedEntries) return cachedEntries.slice(after, limit < 0 ? undefined : after + limit);
    return this.#rowsOf(runId, after, limit).map((row) => this.#entryOf(runId, row).entry);
  }

  /**
   * Returns entries up to about a megabyte, and their bytes as JSON, because `limit` long entries would take too much
   * memory. Returns no entries at the end.
   */
  override readSome(runId: string, after: number, limit: number): { entries: JournalEntry[]; bytes: number } {
    const cached = this.#records.known(runId);
    if (cached) return { entries: cached.entries.slice(after, after + limit), bytes: cached.length };
    const entries: JournalEntry[] = [];
    let bytes = 0;
    for (const row of this.#rowsOf(runId, after, limit)) {
      const { entry, length } = this.#entryOf(runId, row);
      entries.push(entry);
      bytes += length;
      if (bytes >= someBytes) break;
    }
    return { entries, bytes };
  }

  /** Returns entries without the large fields that do not show the run's state; those are neither read nor unpacked. */
  readBrief(runId: string, after = 0, limit = -1): BriefEntry[] {
    return this.#rowsOf(runId, after, limit).map(({ seq, at_ms, data, blobs }) => ({
      seq,
      at: at_ms,
      ...this.#codec.unpackBrief(runId, data, blobs),
    }));
  }

  /** True if this entry exists; does not read it. */
  override has(run_id: string, seq: number): boolean {
    this.#options.db.snapshot.begin();
    return this.#statements.selectOne.get({ run_id, seq }) !== null;
  }

  override isAtHand(runId: string): boolean {
    return (this.#records.known(runId) ?? null) !== null;
  }

  override isLarge(runId: string): boolean {
    return !this.isAtHand(runId) && (this.#statements.selectBytes.get(runId)?.bytes ?? 0) > someBytes;
  }

  /**
   * Returns when a run that was queued after entry `after` started; null if it never did, undefined if it was not
   * queued.
   */
  startOf(run_id: string, after: number): number | null | undefined {
    const found = this.#statements.selectStart.get({ run_id, after });
    return found?.waits ? found.at : undefined;
  }

  /** Returns the types of the run's newest calls, oldest first. */
  lastCalls(run_id: string): RunSummary["last_calls"] {
    const calls = this.#statements.selectCalls.all({ run_id, types: JSON.stringify(stripTypes), limit: stripLength });
    return calls.map(({ type }) => type).reverse();
  }

  /** Returns the `seq` of each handoff of a run. */
  handoffs(run_id: string): number[] {
    this.#options.db.snapshot.begin();
    return this.#statements.selectHandoffs.all({ run_id }).map(({ seq }) => seq);
  }

  /** Returns the number of a run's entries of these types. */
  count(run_id: string, types: readonly RunEventType[]): number {
    return onlyRow(this.#statements.selectCount.get({ run_id, types: JSON.stringify(types) })).n;
  }

  /** Stores the agent snapshot of a run. Call it inside a write. Returns the hash for `snapshot`. */
  pin(scope: Scope, runId: string, agent: AgentSnapshot): string {
    this.#options.pinned?.(scope, runId, agent);
    return this.#codec.put(scope, runId, this.#contentOf(agent));
  }

  /** Returns the hash that `pin` gives this agent. */
  hashOf(agent: AgentSnapshot): string {
    return this.#contentOf(agent).hash;
  }

  snapshot(scope: Scope, hash: string): AgentSnapshot {
    return parseExact(this.#codec.get(scope, hash));
  }

  #contentOf(agent: AgentSnapshot): Content {
    const content = this.#agents.get(agent) ?? contentOf(JSON.stringify(agent));
    this.#agents.set(agent, content);
    return content;
  }

  #advance(before: RunFacts | null, entries: readonly JournalEntry[]): void {
    const run = this.#options.project(before, entries);
    this.#facts.note(run, run.run_id);
    if (!before && run.parent_run_id !== null) this.#facts.drop(run.root_run_id); // The root's row counts this run.
  }

  #write(scope: Scope, runId: string, entries: readonly JournalEntry[]): void {
    let length = 0;
    for (const entry of entries) {
      const { data, blobs } = this.#writeOne(scope, runId, entry);
      failpoint?.(`before_${boundaryOf(entry.event)}`);
      length += blobs === null ? data.length : Number.POSITIVE_INFINITY;
    }
    this.#keep(runId, entries, length);
  }

  #writeOne(scope: Scope, run_id: string, { seq, at, event }: JournalEntry): EncodedEvent {
    const packed = this.#codec.pack(scope, run_id, event);
    const { data, blobs } = packed;
    this.#statements.insertEvent.run({ run_id, seq, at_ms: at, type: event.type, data, blobs });
    return packed;
  }

  #keep(runId: string, entries: readonly JournalEntry[], length: number): void {
    const before = startsRun(entries) ? { entries: [], length: 0 } : this.#records.known(runId);
    if (!before) return;
    const record = { entries: [...before.entries, ...entries], length: before.length + length };
    if (record.length > keptLength) this.#records.drop(runId);
    else this.#records.note(record, runId);
  }

  #rowsOf(run_id: string, after: number, limit: number): EventRow[] {
    this.#options.db.snapshot.begin();
    return this.#statements.selectEvents.all({ run_id, after, limit });
  }

  #entryOf(runId: string, { seq, at_ms, data, blobs }: EventRow): { entry: JournalEntry; length: number } {
    const { event, length } = this.#codec.unpack(runId, data, blobs);
    return { entry: { seq, at: at_ms, event }, length };
  }
}

function statementsOf({ sqlite }: Db) {
  return {
    selectFacts: sqlite.query<RunFacts, [string]>(
      `SELECT id AS run_id, project_id, environment, status, seq, attempt, parent_run_id, depth,
         coalesce(root_run_id, id) AS root_run_id, ${factColumns.join(", ")},
         coalesce((SELECT at_ms FROM run_events WHERE summary IS NULL AND run_id = runs.id AND seq = runs.seq), 0) AS at,
         EXISTS (SELECT 1 FROM pending_calls WHERE run_id = runs.id) AS waits FROM runs WHERE id = ? AND ${isShown}`,
    ),
    selectEvents: sqlite.query<EventRow, { run_id: string; after: number; limit: number }>(
      "SELECT seq, at_ms, data, blobs FROM run_events WHERE run_id = $run_id AND seq > $after ORDER BY seq LIMIT $limit",
    ),
    selectOne: sqlite.query<{ seq: number }, { run_id: string; seq: number }>(
      "SELECT seq FROM run_events WHERE run_id = $run_id AND seq = $seq",
    ),
    // These events come near the beginning: only events of input guardrails and a few messages of the user precede them.
    selectStart: sqlite.query<{ waits: number; at: number | null }, { run_id: string; after: number }>(
      `SELECT count(*) FILTER (WHERE type = 'run.queued') AS waits, max(at_ms) FILTER (WHERE type = 'run.started') AS at
       FROM run_events WHERE run_id = $run_id AND seq > $after AND seq <= $after + 80`,
    ),
    selectCalls: sqlite.query<
      { type: RunSummary["last_calls"][number] },
      { run_id: string; types: string; limit: number }
    >(
      `SELECT data ->> '$.step_type' AS type FROM run_events WHERE run_id = $run_id AND run_events.type = 'step.started'
         AND data ->> '$.step_type' IN (SELECT value FROM json_each($types)) ORDER BY seq DESC LIMIT $limit`,
    ),
    selectHandoffs: sqlite.query<{ seq: number }, { run_id: string }>(
      "SELECT seq FROM run_events WHERE run_id = $run_id AND type = 'handoff.completed' ORDER BY seq",
    ),
    // Counts a blob once per reference, because each entry gets its own copy.
    selectBytes: sqlite.query<{ bytes: number }, [string]>(
      `SELECT coalesce(sum(octet_length(content)), 0) AS bytes FROM run_events AS one
       CROSS JOIN json_each(one.blobs) AS field CROSS JOIN runs ON runs.id = one.run_id
       CROSS JOIN blobs ON blobs.project_id = runs.project_id AND blobs.environment = runs.environment
         AND blobs.hash = field.value WHERE one.run_id = ? AND one.blobs IS NOT NULL`,
    ),
    selectCount: sqlite.query<{ n: number }, { run_id: string; types: string }>(
      "SELECT count(*) AS n FROM run_events WHERE run_id = $run_id AND type IN (SELECT value FROM json_each($types))",
    ),
    insertEvent: sqlite.query(
      `INSERT INTO run_events (run_id, seq, at_ms, type, data, blobs)
       VALUES ($run_id, $seq, $at_ms, $type, $data, $blobs)`,
    ),
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

function scopeOf(event: RunEvent | undefined): Scope {
  if (event?.type !== "run.created") throw new AppendRefused(noSuch("run"));
  return event;
}
