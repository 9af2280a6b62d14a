import type { AgentSnapshot, ToolSnapshot } from "../core/agent-snapshot.ts";
import type { ScriptEntry } from "../core/model-call.ts";
import { notFound } from "../core/not-found.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { type Author, createAudit } from "../db/audit.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { createJournal } from "../journal/journal.ts";
import { silentLog } from "../lib/log.ts";
import { pushedStream, type Texts } from "../lib/sse.ts";
import { builtInPrice } from "../models/known-models.ts";
import { testConnection } from "../models/registry.ts";
import { createChildStandings } from "../runs/child-standings.ts";
import { createDueWrites } from "../runs/due-writes.ts";
import { createEnds } from "../runs/ends.ts";
import { createGate } from "../runs/gate.ts";
import { createLostRuns } from "../runs/lost-runs.ts";
import { type AnswerQuestion, createPool } from "../runs/pool.ts";
import { createRunProjector } from "../runs/project.ts";
import type { CreateRun } from "../runs/schema.ts";
import { createRunService } from "../runs/service.ts";
import { createSlots } from "../runs/slots.ts";
import { createRunStore } from "../runs/store.ts";
import { type Cursor, createRunStream } from "../runs/stream.ts";
import { sameThread, type ThreadFactory } from "../runs/threads.ts";
import { createWatches } from "../runs/watch.ts";
import { testActor } from "./test-actor.ts";

const toolSecrets = { headers: {}, signing_secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" };

/** Bounds what hangs, on a busy machine too. */
const patience_ms = 50_000;

/** Everything that drives runs, without HTTP: real database, journal, loop and stream; the model is `test/script`. */
export function runFixture(
  options: {
    db?: Db;
    threads?: ThreadFactory;
    size?: number;
    slots?: number | (() => number);
    /** How many runs may come of one run. */
    childrenMax?: number;
    beat_ms?: number;
    quarantine_ms?: number;
    look_ms?: number;
    /** Whom agent tools may call, by id. */
    agents?: Record<string, Partial<AgentSnapshot>>;
    /** How many tokens the model takes. */
    window?: number;
    /** Answers what loops ask of the main thread; undefined for what is answered here. */
    answer?: AnswerQuestion;
    now?: () => number;
  } = {},
) {
  const db = options.db ?? openDatabase(":memory:");
  const now = options.now ?? Date.now;
  const scope: Scope = { project_id: "proj_fixture", environment: "test" };
  const author: Author = { ...scope, actor: testActor };
  db.sqlite.run("INSERT OR IGNORE INTO projects (id, name, created_at_ms) VALUES ('proj_fixture', 'fixture', 0)");
  const watches = createWatches(now);
  const journal = createJournal({ db, project: createRunProjector(db.sqlite), wake: watches.committed, now });
  let agent = agentOf([]);
  const limit = () => (typeof options.slots === "function" ? options.slots() : (options.slots ?? 20));
  const slots = createSlots({ limit });
  const gate = createGate();
  const lost = createLostRuns();
  const audit = createAudit({ db, now });
  const runs = createRunStore({ db, journal, audit });
  const standings = createChildStandings({ journal, runs });
  const ends = createEnds({ journal, watches, runs, lost, children: standings, now });
  const pool = createPool({
    journal,
    watches,
    leaving: db.write.leaving,
    prepare: (_, { model, tools }) => ({
      connection: testConnection,
      model: model.slice("test/".length),
      secrets: Object.fromEntries(tools.map(({ id }) => [id, toolSecrets])),
      egress: { allow: [], loopback: true },
    }),
    answer: (head, question) => {
      const own = options.answer?.(head, question);
      if (own !== undefined) return own;
      if (question.of === "start_child") return service.startChild(head, question);
      return question.of === "await_child" ? service.awaitChild(question.run_id) : toolSecrets;
    },
    insert: ends.driven,
    threads: options.threads ?? sameThread,
    size: options.size ?? 1,
    slots,
    gate,
    lost,
    beat_ms: options.beat_ms,
    log: silentLog,
    now,
  });
  const due = createDueWrites(pool);
  const owing: string[] = [];
  async function write(id: string, work: () => Promise<void>): Promise<void> {
    owing.push(id);
    await due.write(id, work);
    owing.splice(owing.indexOf(id), 1);
  }
  const service = createRunService({
    db,
    audit,
    journal,
    watches,
    runs,
    standings,
    ends,
    lost,
    gate,
    pool,
    due: { ...due, write },
    snapshot: (_, id) => {
      const other = options.agents?.[id];
      if (!other && id !== agent.id) throw notFound();
      return other ? { ...agentOf([]), id, ...other } : agent;
    },
    priceOf: builtInPrice,
    windowOf: () => options.window ?? null,
    slots: limit,
    childrenMax: () => options.childrenMax ?? 100,
    quarantine_ms: options.quarantine_ms,
    look_ms: options.look_ms,
    now,
  });
  const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });

  return {
    db,
    scope,
    /** The same, for what the audit log tells of. */
    author,
    journal,
    watches,
    pool,
    slots,
    gate,
    runs,
    service,
    tail,
    /** Whether the run goes on without anybody's asking, now or when its turn comes. */
    goesOn: (id: string): boolean =>
      [pool.drives, lost.has, pool.ends, pool.holds, slots.waits].some((knows) => knows(id)),
    /** Whether the storage has not taken yet what the run has to note of others. */
    owes: (id: string): boolean => owing.includes(id),
    /** Starts a run of an agent whose model follows the script. */
    async start(
      script: ScriptEntry[],
      more: { tools?: ToolSnapshot[]; agent?: Partial<AgentSnapshot>; run?: Partial<CreateRun> } = {},
    ) {
      agent = { ...agentOf(script), tools: more.tools ?? [], ...more.agent };
      const body = { agent_id: agent.id, input: "Hello", ...more.run };
      return (await service.create(scope, body, "req_fixture")).shown();
    },
    /** The run once it is over or waits. */
    async settled(id: string) {
      await service.settled(id, patience_ms);
      return runs.get(scope, id);
    },
    /** Has a run's time be up now: a short one might be over before what is to come first. */
    bringForward(id: string): void {
      void db.write(() => db.sqlite.run("UPDATE runs SET expires_at_ms = ? WHERE id = ?", [now(), id]));
      db.write.flush();
      watches.committed(id, []);
    },
    /** Returns when the journal holds an event for which `found` is true. */
    async until(id: string, found: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
      const watch = watches.join(id);
      try {
        for (;;) {
          const entry = journal.read(id).find(found);
          if (entry) return entry;
          if (!(await watch.next(patience_ms)))
            throw new Error(`Waited in vain; the journal of ${id} has ${journal.read(id).length} entries.`);
        }
      } finally {
        watch.leave();
      }
    },
    /** Reads a stream, to its end or until `stop` says so, as a client that parses server-sent events. */
    async stream(
      id: string,
      from: Cursor = { seq: 0, anchor: null, offset: 0 },
      stop: (frame: StreamFrame) => boolean = () => false,
    ) {
      const frames: StreamFrame[] = [];
      for await (const text of textsOf((wake) => tail(id, from, wake)))
        for (const frame of parseFrames(text)) {
          frames.push(frame);
          if (stop(frame)) return frames;
        }
      return frames;
    },
    [Symbol.dispose]() {
      service.stop();
      pool.stop();
      db.close();
    },
  };
}

/** What a stream sends, as it comes; whoever stops reading leaves it. */
export async function* textsOf(open: (wake: () => void) => Texts): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const bytes of pushedStream(open, () => {})) yield decoder.decode(bytes, { stream: true });
}

export interface StreamFrame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** The events of a piece of stream; comments, `retry:` and what has no place in the run are left out. */
export const parseFrames = (text: string): StreamFrame[] =>
  text.split("\n\n").flatMap((block) => {
    const match = /^(?:retry: \d+\n)?event: (.+)\nid: (.+)\ndata: (.+)$/.exec(block);
    return match ? [{ event: match[1]!, id: match[2]!, data: JSON.parse(match[3]!) }] : [];
  });

/** What a reader has been told: the deltas that stand, joined; a restart takes its predecessor's back. */
export function textOfFrames(frames: readonly StreamFrame[]): string {
  const texts = new Map<number, string>();
  for (const { event, data } of frames) {
    if (event === "token" && data.kind === "output")
      texts.set(data.seq as number, (texts.get(data.seq as number) ?? "") + data.delta);
    if (event === "step.restarted") texts.delete(data.discards as number);
  }
  return [...texts.values()].join("");
}

const agentOf = (script: ScriptEntry[]): AgentSnapshot => ({
  id: "agt_fixture",
  version: 1,
  name: "Fixture",
  model: "test/script",
  instructions: "Follow the script.",
  settings: { script },
  tools: [],
  max_turns: 25,
  output_schema: null,
});

/** A tool as an agent pins it. */
export const tool = (name: string, more: Partial<ToolSnapshot> = {}): ToolSnapshot => ({
  id: `tool_${name}`,
  name,
  description: "",
  parameters: { type: "object" },
  type: "client",
  approval: "never",
  idempotent: false,
  on_unknown: "ask",
  max_output_bytes: 262_144,
  http: null,
  ...more,
});

/** A tool that is another agent. */
export const agentTool = (name: string, agent_id: string, more: Partial<ToolSnapshot> = {}): ToolSnapshot =>
  tool(name, { type: "agent", idempotent: true, agent: { agent_id }, ...more });

/** A tool that is an HTTP endpoint. */
export const httpTool = (name: string, url: string, more: Partial<ToolSnapshot> = {}): ToolSnapshot =>
  tool(name, {
    type: "http",
    http: { url, method: "POST", timeout_ms: 5000, retries: 0, response: "json", sealed: "" },
    ...more,
  });
