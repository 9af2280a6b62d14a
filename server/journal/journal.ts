import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { JournalEntry, RunEvent, RunEventType } from "../core/run-event.ts";
import { isOver, type RunStatus } from "../core/run-state.ts";
import { type RunSummary, stripLength, stripTypes } from "../core/run-summary.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { runEvents, runs } from "../db/schema.ts";
import type { Leave } from "../db/writer.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { failpoint } from "../lib/failpoint.ts";
import { createFolds } from "./folds.ts";
import { type Content, contentOf, createPack, type Packed } from "./pack.ts";
import { createPartialRecords, longestPiece, type Recorded } from "./partial.ts";

/** Where a run stands: what an append is checked against. */
export interface RunHead extends Scope {
  run_id: string;
  status: RunStatus;
  seq: number;
  attempt: number;
  /** The run whose call started it, and how many there are above it. */
  parent_run_id: string | null;
  depth: number;
  /** The run at the top of its tree: itself where no call started it. */
  root_run_id: string;
}

/** A run as its row has it, kept in memory while it works. */
export interface RunFacts extends RunHead, Pick<typeof runs.$inferSelect, (typeof factColumns)[number]> {
  /** When its newest entry was made; 0 where its journal was deleted. */
  at: number;
  /** Whether a call of it may wait for somebody. */
  waits: 0 | 1;
}

const factColumns = [
  ...(["agent_id", "model", "thread_id", "session_id", "user_id", "created_at_ms", "worked_ms"] as const),
  ...(["status_since_ms", "timeout_ms", "action_timeout_ms", "expires_at_ms", "runs_below"] as const),
];

/** What was inserted for a run, within a write that may be about several. */
export type Inserted = [runId: string, entries: JournalEntry[]];

/** Keeps a table in step with the journal, in the same transaction. `run` is how it stands after these entries. */
export type Projector = (run: RunFacts, entries: readonly JournalEntry[]) => void;

/** Keeps the row of a run in step with the journal, and says what has become of it; null is a run that begins. */
export type RunProjector = (before: RunFacts | null, entries: readonly JournalEntry[]) => RunFacts;

/** Whether these are the first entries of a run. */
export const areFirst = ([first]: readonly JournalEntry[]): boolean => first?.event.type === "run.created";

/** SQL that is true for the row of a run that is there for its project: its record is, or was, stored whole. */
export const isShown = "status <> 'partial'";

/** The run is over, or driven by somebody else now: what comes late is refused. */
export class AppendRefused extends Error {}

/** An entry as far as lists need it. */
interface BriefEntry extends JournalEntry {
  /** Fields that are longer than what is read of them. */
  shortened: string[];
}

// Of a run that is kept in memory, in characters of its JSON, and how many there are.
const keptLength = 16 * 1024;
const keptRuns = 1000;

// Of entries that are read at once, as JSON.
const someBytes = 1024 * 1024;

/** All entries of a run, and how long they are as JSON. */
interface KeptRun {
  entries: readonly JournalEntry[];
  length: number;
}

type EventRow = Pick<typeof runEvents.$inferSelect, "seq" | "at_ms" | "data" | "blobs">;

export type Journal = ReturnType<typeof createJournal>;

/** The only writer and reader of run history. `wake` hears of entries after they are durable, never before. */
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
  const pack = createPack(db);
  // Many runs pin the same agent.
  const agents = new WeakMap<AgentSnapshot, Content>();
  const selectFacts = sqlite.query<RunFacts, [string]>(
    `SELECT id AS run_id, project_id, environment, status, seq, attempt, parent_run_id, depth,
       coalesce(root_run_id, id) AS root_run_id, ${factColumns.join(", ")},
       coalesce((SELECT at_ms FROM run_events WHERE summary IS NULL AND run_id = runs.id AND seq = runs.seq), 0) AS at,
       EXISTS (SELECT 1 FROM pending_calls WHERE run_id = runs.id) AS waits FROM runs WHERE id = ? AND ${isShown}`,
  );
  const facts = db.kept.rows((runId: string) => selectFacts.get(runId));
  // Of short runs that began in this process: they are read as soon as they are written, and when they end.
  const records = db.kept.rows((_runId: string): KeptRun | null => null, { most: keptRuns });
  const selectEvents = sqlite.query<EventRow, [string, number, number]>(
    "SELECT seq, at_ms, data, blobs FROM run_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  const selectOne = sqlite.query<{ seq: number }, [string, number]>(
    "SELECT seq FROM run_events WHERE run_id = ? AND seq = ?",
  );
  // Right at the beginning, but for what guardrails say of the input.
  const selectStart = sqlite.query<{ waits: number; at: number | null }, [string, number, number]>(
    `SELECT count(*) FILTER (WHERE type = 'run.queued') AS waits, max(at_ms) FILTER (WHERE type = 'run.started') AS at
     FROM run_events WHERE run_id = ? AND seq > ? AND seq <= ? + 40`,
  );
  const selectCalls = sqlite.query<{ type: RunSummary["last_calls"][number] }, [string, string, number]>(
    `SELECT data ->> '$.step_type' AS type FROM run_events WHERE run_id = ? AND run_events.type = 'step.started'
       AND data ->> '$.step_type' IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?`,
  );
  // What stands in blobs, as often as it is named: each entry gets its own.
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

  const partial = createPartialRecords({ db, write: writeOne });

  function stored(agent: AgentSnapshot): Content {
    const content = agents.get(agent) ?? contentOf(JSON.stringify(agent));
    agents.set(agent, content);
    return content;
  }

  /** Within a write: entries for these events, or `AppendRefused`. With an `attempt`, only while it is the run's. */
  function insert(runId: string, events: readonly RunEvent[], attempt?: number): JournalEntry[] {
    if (events.length === 0) return [];
    const head = events[0]!.type === "run.created" ? null : facts.of(runId); // It is new: two would be one row too many.
    const scope = head ?? scopeOf(events[0]!);
    if (head && isOver(head.status)) throw new AppendRefused(`Run ${runId} is ${head.status}.`);
    if (head && attempt !== undefined && head.attempt !== attempt)
      throw new AppendRefused(`Attempt ${attempt} is past.`);
    // A clock that was set back may not turn a run's history round: whoever takes differences would get negative ones.
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
    if (!before && run.parent_run_id !== null) facts.drop(run.root_run_id); // It counts this one.
  }

  /**
   * Within a write: a new run that begins with the record of another one, whose times these are. Of what `commitRecords` has
   * stored before, only the first entry is written.
   */
  function insertRecord(runId: string, record: readonly Recorded[]): JournalEntry[] {
    const entries = record.map((entry, index) => ({ seq: index + 1, ...entry }));
    const there = partial.complete(runId);
    advance(null, entries);
    const scope = scopeOf(entries[0]!.event);
    write(scope, runId, there > 0 ? [entries[0]!, ...entries.slice(there)] : entries);
    if (there > 0) records.drop(runId); // What was written now is not all of it.
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
    const before = areFirst(entries) ? { entries: [], length: 0 } : records.known(runId);
    if (!before) return;
    const record = { entries: [...before.entries, ...entries], length: before.length + length };
    if (record.length > keptLength) records.drop(runId);
    else records.note(record, runId);
  }

  function writeOne(scope: Scope, runId: string, { seq, at, event }: JournalEntry): Packed {
    const packed = pack.pack(scope, runId, event);
    insertEvent.run(runId, seq, at, event.type, packed.data, packed.blobs);
    return packed;
  }

  /**
   * Makes what `produce` inserts durable, all or nothing, and then wakes the readers. It runs inside the write, in its turn
   * among those of its owner.
   */
  async function commit(runId: string, produce: () => JournalEntry[], owner?: Scope): Promise<JournalEntry[]> {
    const [inserted] = await commitAll(() => [[runId, produce()]], owner);
    return inserted![1];
  }

  /** The same for the entries of several runs: all or nothing. `leave` is told of them before they are durable. */
  async function commitAll(produce: () => Inserted[], owner?: Scope, leave?: Leave<Inserted[]>): Promise<Inserted[]> {
    const all = await db.write(produce, owner && nameOf(owner), "runs", leave);
    db.snapshot.begin(); // Whoever is woken reads now.
    if (failpoint)
      for (const [, entries] of all) for (const { event } of entries) failpoint(`after_${boundaryOf(event)}`);
    for (const [runId, entries] of all) if (entries.length > 0) wake(runId, entries);
    return all;
  }

  /**
   * The same for new runs that begin with records: of a long one all but its first entry is written before, piece by piece,
   * where nobody sees it. If that fails, or `produce` throws, nothing is left of it.
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
      if (long.length > 0) await nextTurn(); // What follows looks at all entries, too.
      return inserted;
    } finally {
      for (const [runId] of long) partial.forget(runId);
      if (long.length > 0 && !isWhole) await partial.clear().catch(() => {}); // The next start does it.
    }
  }

  const append = (runId: string, events: readonly RunEvent[], attempt?: number): Promise<JournalEntry[]> =>
    commit(runId, () => insert(runId, events, attempt));

  /** Entries after `after`, oldest first. They are shared: nobody may change them. */
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
   * The same up to about a megabyte, and how many bytes those are as JSON: of long entries so many as a limit counts would
   * be in memory at once. None at the end.
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

  /** Whether this entry is there; it is not read. */
  function has(runId: string, seq: number): boolean {
    db.snapshot.begin();
    return selectOne.get(runId, seq) !== null;
  }

  /** Whether all entries of a run are in memory, and few. */
  const isAtHand = (runId: string): boolean => (records.known(runId) ?? null) !== null;

  /** Whether its entries are longer than what `readSome` reads at once. */
  function isLarge(runId: string): boolean {
    return !isAtHand(runId) && selectBytes.get(runId)!.bytes > someBytes;
  }

  /** The same without what is large and does not say how the run stands: neither read nor unpacked. */
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
    ...createFolds({ read, readSome, has, head, isAtHand, isLarge }),
    insert,
    insertRecord,
    commit,
    commitAll,
    commitRecords,
    /** Records that come and go piece by piece. */
    partial,
    append,
    read,
    readSome,
    has,
    isAtHand,
    isLarge,
    readBrief,
    /** When a run that had to wait behind `after` began to work; null: it never did. Undefined: it did not wait. */
    startOf(runId: string, after: number): number | null | undefined {
      const { waits, at } = selectStart.get(runId, after, after)!;
      return waits === 0 ? undefined : at;
    },
    /** The types of its newest calls, the oldest first. */
    lastCalls: (runId: string): RunSummary["last_calls"] =>
      selectCalls
        .all(runId, JSON.stringify(stripTypes), stripLength)
        .map(({ type }) => type)
        .reverse(),
    /** How many entries of these types a run has. */
    count: (runId: string, types: readonly RunEventType[]): number => selectCount.get(runId, JSON.stringify(types))!.n,
    /** Null for a run that is not there. */
    head,
    /** Stores an agent as a run pins it; within a write. Returns the hash by which `snapshot` finds it. */
    pin: (scope: Scope, runId: string, agent: AgentSnapshot): string => pack.put(scope, runId, stored(agent)),
    /** Names what `pin` will call the same agent. */
    hashOf: (agent: AgentSnapshot): string => stored(agent).hash,
    snapshot: (scope: Scope, hash: string): AgentSnapshot => parseExact(pack.get(scope, hash)),
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a commit of this event is the boundary of, as failpoints name it. */
const boundaryOf = (event: RunEvent): string =>
  event.type === "step.started"
    ? `intent.${event.step_type}`
    : event.type === "step.completed"
      ? `result.${event.step_type}`
      : event.type;

function scopeOf(event: RunEvent): Scope {
  if (event.type !== "run.created") throw new AppendRefused("There is no such run.");
  return event;
}
