import type {
  AgentSnapshot,
  AgentTool,
  ClientTool,
  HandoffFilter,
  HandoffTool,
  HttpTool,
  ToolBase,
  ToolSnapshot,
} from "../domain/agent-snapshot.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { notFound } from "../domain/not-found.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import type { Scope } from "../domain/scope.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { pulledStream, type TextSource } from "../lib/sse.ts";
import type { NewRunOptions } from "../runs/create/new-runs.ts";
import { createChildStatuses } from "../runs/dispatch/child-status.ts";
import { createDispatchGate } from "../runs/dispatch/dispatch-gate.ts";
import { type AnswerQuestion, Pool } from "../runs/dispatch/pool.ts";
import { thisThread, type WorkerFactory } from "../runs/dispatch/worker-threads.ts";
import { createRunTerminator } from "../runs/end/terminate-run.ts";
import { createPauseEvents } from "../runs/pause/pause-events.ts";
import { createSlots } from "../runs/queue/slots.ts";
import { createOrphanedRuns } from "../runs/recovery/orphaned-runs.ts";
import { createPendingWrites } from "../runs/recovery/pending-writes.ts";
import { createRunProjection } from "../runs/run-projection.ts";
import type { CreateRun } from "../runs/schema.ts";
import { createRunService } from "../runs/service.ts";
import { createRunStore } from "../runs/store.ts";
import { RunSubscriptions } from "../runs/stream/run-subscriptions.ts";
import { type Cursor, createRunStream } from "../runs/stream/stream.ts";
import { builtInPrice } from "../runtime/models/known-models.ts";
import { testConnection } from "../runtime/models/registry.ts";
import { type Author, createAudit } from "../storage/db/audit.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { Journal } from "../storage/journal/journal.ts";
import { testActor } from "./test-actor.ts";

const toolSecrets = { headers: {}, signing_secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" };

/** Timeout for what hangs, long enough for a busy machine. */
const patience_ms = 50_000;

/** Everything that drives runs, without HTTP: real database, journal, loop and stream; the model is `test/script`. */
export function runFixture(
  options: {
    db?: Db;
    threads?: WorkerFactory;
    size?: number;
    slots?: number | (() => number);
    /** Maximum number of descendants of one run. */
    childrenMax?: number;
    beat_ms?: number;
    quarantine_ms?: number;
    look_ms?: number;
    /** Agents that agent tools may call, by id. */
    agents?: Record<string, Partial<AgentSnapshot>>;
    /** Returns an agent that has versions, or null for another one. */
    versionOf?: (id: string, version: number | null) => AgentSnapshot | null;
    chooseVersion?: NewRunOptions["chooseVersion"];
    /** Context window of the model in tokens; that of a second model is twice as large. */
    window?: number;
    /** Answers the workers' questions to the main thread; undefined for those that the fixture answers. */
    answer?: AnswerQuestion;
    log?: Log;
    now?: () => number;
  } = {},
) {
  const db = options.db ?? openDatabase(":memory:");
  const now = options.now ?? Date.now;
  const scope: Scope = { project_id: "proj_fixture", environment: "test" };
  const author: Author = { ...scope, actor: testActor };
  db.sqlite.run("INSERT OR IGNORE INTO projects (id, name, created_at_ms) VALUES ('proj_fixture', 'fixture', 0)");
  const watches = new RunSubscriptions(now);
  const journal = new Journal({
    db,
    project: createRunProjection(db.sqlite),
    wake: (runId, entries) => watches.committed(runId, entries),
    now,
  });
  let agent = agentOf([]);
  const limit = () => (typeof options.slots === "function" ? options.slots() : (options.slots ?? 20));
  const slots = createSlots({ limit });
  const gate = createDispatchGate();
  const lost = createOrphanedRuns();
  const audit = createAudit({ db, now });
  const runs = createRunStore({ db, journal, audit });
  const standings = createChildStatuses({ journal, runs });
  const ends = createRunTerminator({ journal, watches, runs, lost, children: standings, now });
  const pauseEvents = createPauseEvents({ journal, runs, lost, drives: (id): boolean => pool.drives(id) });
  const pool: Pool = new Pool({
    journal,
    watches,
    onEarlyMessages: db.write.leaving,
    prepare: (_, { model, tools, team = [] }, models) => ({
      connection: testConnection,
      model: model.slice("test/".length),
      ...(models.length > 1 && {
        candidates: models.map((id) => ({ id, connection: testConnection, model: id.slice("test/".length) })),
      }),
      secrets: Object.fromEntries([tools, ...team.map((each) => each.tools)].flat().map(({ id }) => [id, toolSecrets])),
      egress: { allow: [], loopback: true },
    }),
    answer: (head, question) => {
      const own = options.answer?.(head, question);
      if (own !== undefined) return own;
      if (question.of === "start_child") return service.startChild(head, question);
      return question.of === "await_child" ? service.awaitChild(question.run_id) : toolSecrets;
    },
    insert: pauseEvents.withChildren(ends.driven),
    threads: options.threads ?? thisThread,
    size: options.size ?? 1,
    slots,
    gate,
    orphanedRuns: lost,
    beat_ms: options.beat_ms,
    log: options.log ?? silentLog,
    now,
  });
  const due = createPendingWrites(pool);
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
    pauseEvents,
    lost,
    gate,
    pool,
    due: { ...due, write },
    ...(options.chooseVersion && { chooseVersion: options.chooseVersion }),
    snapshot: (_, id, __, version = null) => {
      const released = options.versionOf?.(id, version);
      if (released) return released;
      const other = options.agents?.[id];
      if (!other && id !== agent.id) throw notFound();
      return other ? { ...agentOf([]), id, ...other } : agent;
    },
    priceOf: builtInPrice,
    windowOf: (model) => (options.window === undefined ? null : options.window * (model === "test/script" ? 1 : 2)),
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
    /** The same actor, in the form of the audit log. */
    author,
    journal,
    watches,
    pool,
    slots,
    gate,
    runs,
    service,
    tail,
    /** True if the run continues without a person or client, now or when its turn comes. */
    goesOn: (id: string): boolean =>
      pool.drives(id) || lost.has(id) || pool.ends(id) || pool.holds(id) || slots.waits(id),
    /** True if the storage has not yet accepted the writes that the run needs for other runs. */
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
    /** Returns the run once it is over or requires action. */
    async settled(id: string) {
      await service.settled(id, patience_ms);
      return runs.get(scope, id);
    },
    /** Expires a run now: a short timeout might pass before the events that must precede it. */
    bringForward(id: string): void {
      void db.write(() => db.sqlite.run("UPDATE runs SET expires_at_ms = ? WHERE id = ?", [now(), id]));
      db.write.flush();
      watches.committed(id, []);
    },
    /** Resolves once the journal holds an event for which `found` returns true. */
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
    /** Reads a stream to its end or until `stop` returns true, as a client that parses server-sent events. */
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

/** Yields the texts of a stream as they arrive; a reader that stops early closes it. */
export async function* textsOf(open: (wake: () => void) => TextSource): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const bytes of pulledStream(open, () => {})) yield decoder.decode(bytes, { stream: true });
}

export interface StreamFrame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Returns the events in a piece of a stream, without comments, `retry:` and events without a position in the run. */
export const parseFrames = (text: string): StreamFrame[] =>
  text.split("\n\n").flatMap((block) => {
    const match = /^(?:retry: \d+\n)?event: (.+)\nid: (.+)\ndata: (.+)$/.exec(block);
    return match ? [{ event: match[1]!, id: match[2]!, data: JSON.parse(match[3]!) }] : [];
  });

/** Returns the text that a reader has at the end: the joined deltas; a restart discards those of the failed attempt. */
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

export const toolBase = (name: string): ToolBase => ({
  id: `tool_${name}`,
  name,
  description: "",
  parameters: { type: "object" },
  approval: "never",
  idempotent: false,
  on_unknown: "ask",
  max_output_bytes: 262_144,
});

/** Returns a client tool as an agent pins it. */
export const tool = (name: string, more: Partial<ToolBase> = {}): ClientTool => ({
  ...toolBase(name),
  type: "client",
  http: null,
  ...more,
});

/** Returns a tool that calls another agent. */
export const agentTool = (name: string, agent_id: string, more: Partial<ToolBase> = {}): AgentTool => ({
  ...toolBase(name),
  type: "agent",
  http: null,
  idempotent: true,
  agent: { agent_id },
  ...more,
});

/** Returns the tool of a handoff to another agent. */
export const handoffTool = (agent_id: string, filter: HandoffFilter = "all"): HandoffTool => ({
  ...toolBase(`transfer_to_${agent_id.slice("agt_".length)}`),
  id: agent_id,
  type: "handoff",
  http: null,
  idempotent: true,
  handoff: { agent_id, filter },
});

/** Returns an agent to which a run can be handed over. */
export const teamMember = (id: string, script: ScriptEntry[], more: Partial<AgentSnapshot> = {}): AgentSnapshot => ({
  ...agentOf(script),
  id,
  name: id.slice("agt_".length),
  instructions: `You are ${id}.`,
  ...more,
});

/** Returns a tool that calls an HTTP endpoint. */
export const httpTool = (name: string, url: string, more: Partial<HttpTool> = {}): HttpTool => ({
  ...toolBase(name),
  type: "http",
  http: { url, method: "POST", timeout_ms: 5000, retries: 0, response: "json", sealed: "" },
  ...more,
});
