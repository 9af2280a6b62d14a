import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { factChanges, learningAgent, learningInput, learningStore } from "../../domain/facts.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { endsRun, type JournalEntry, type RunCreated } from "../../domain/run-event.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { toAppError } from "../../http/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { EntryStore } from "../../resources/memory/entries.ts";
import type { Fact } from "../../resources/memory/entry-rows.ts";
import type { RunService } from "../../runs/service.ts";
import type { RunStore } from "../../runs/store.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Db } from "../../storage/db/open.ts";
import { factRuns, type factWork } from "../../storage/db/schema.ts";
import { createReader } from "../../storage/db/scoped-table.ts";
import type { Journal, Projector } from "../../storage/journal/journal.ts";

type Work = typeof factWork.$inferSelect & { user_id: string; status: string };

// UTF-16 code units of known facts in the prompt; older facts are left out and stay unchanged.
const known_length = 32_000;
const again_ms = 1000;

/** Transient errors, which are retried. */
const transientErrors: readonly ErrorCode[] = [
  "storage_full",
  "concurrency_limit_exceeded",
  "overloaded",
  "shutting_down",
];

/** Thrown if another process, or the erasure of the user, was faster. */
class Superseded extends Error {}

/**
 * Learns facts about users from ended runs. Each extraction is a run of its own with the agent's model, so that the
 * call is recorded, billed and recovered like any other. Its facts are written with the event that ends it.
 */
export function createLearning({
  db,
  journal,
  runs,
  create,
  entries,
  wake,
  isOpen,
  log,
  now,
}: {
  db: Db;
  journal: Journal;
  runs: RunStore;
  create: RunService["create"];
  entries: EntryStore;
  /** Starts the indexer for new texts. */
  wake: () => void;
  /** False for an archived or deleted project. */
  isOpen: (projectId: string) => boolean;
  log: Log;
  now: () => number;
}) {
  const { sqlite } = db;
  const key = "project_id = ? AND environment = ? AND run_id = ?";
  type Key = [string, Environment, string];
  const noteWork = sqlite.query(
    "INSERT OR IGNORE INTO fact_work (project_id, environment, run_id, memory_id) VALUES (?, ?, ?, ?)",
  );
  const dropWork = sqlite.query<unknown, Key>(`DELETE FROM fact_work WHERE ${key}`);
  const selectDue = sqlite.query<Work, []>(
    `SELECT w.project_id, w.environment, w.run_id, w.memory_id, r.user_id, r.status
     FROM fact_work w CROSS JOIN runs r ON r.id = w.run_id JOIN projects p ON p.id = w.project_id
     WHERE r.ended_at_ms IS NOT NULL AND p.archived_at_ms IS NULL AND p.deleted_at_ms IS NULL AND NOT EXISTS (
       SELECT 1 FROM fact_runs f WHERE f.project_id = w.project_id AND f.environment = w.environment
         AND f.memory_id = w.memory_id AND f.user_id = r.user_id AND f.is_open = 1)
     ORDER BY w.run_id LIMIT 1`,
  );
  const insertRun = sqlite.query(
    `INSERT INTO fact_runs (project_id, environment, run_id, source_run_id, memory_id, user_id, known, is_open)
     VALUES (?, ?, ?, ?, ?, ?, ?, 1)`,
  );
  const selectOpen = sqlite.query<Record<string, unknown>, Key>(
    `SELECT project_id, environment, run_id, source_run_id, memory_id, user_id, known, is_open FROM fact_runs
     WHERE ${key} AND is_open = 1`,
  );
  const close = sqlite.query<unknown, Key>(`UPDATE fact_runs SET is_open = NULL WHERE ${key}`);
  const readRun = createReader(factRuns);
  const selectAny = sqlite.query("SELECT 1 FROM fact_work LIMIT 1");
  let hasLearned = false;
  // False while no run waits to be learned from, which is the common case and saves a query.
  let mayLearn = true;
  let isRunning = false;
  let currentWork: Promise<void> | null = null;
  let timer: Timer | undefined;

  /** Call inside the write that starts the run. */
  function onCreated({ project_id, environment, run_id, user_id }: RunCreated, agent: AgentSnapshot): void {
    const store = user_id === null ? null : learningStore(agent);
    if (!store) return;
    noteWork.run(project_id, environment, run_id, store.memory_id);
    mayLearn = true;
  }

  /** Stores the facts that a run found, in the write of its end. */
  const project: Projector = ({ project_id, environment, run_id }, entries) => {
    const end = entries.find(({ event }) => endsRun(event));
    if (!end) return;
    const found = selectOpen.get(project_id, environment, run_id);
    if (!found) return;
    close.run(project_id, environment, run_id);
    hasLearned = true;
    if (end.event.type !== "run.completed") return;
    try {
      keep(readRun(found), end.event.output_json);
    } catch (error) {
      if (!sqlite.inTransaction) throw error; // The disk is full and the write was rolled back.
      log.error("what a run has learned of its user could not be kept", { run_id, error });
    }
  };

  function keep(row: typeof factRuns.$inferSelect, output: unknown): void {
    const { memory_id, user_id, known: knownFacts, source_run_id } = row;
    const factCount = entries.factsOf(row, memory_id, user_id, limits.facts_per_user).length;
    const changes = factChanges(output, knownFacts, limits.facts_per_user - factCount);
    entries.changeFacts(row, memory_id, user_id, { ...changes, metadata: { run_id: source_run_id } });
  }

  /** Returns the newest facts of a user that fit into the prompt. */
  function promptFacts(work: Work): Fact[] {
    const all = entries.factsOf(work, work.memory_id, work.user_id, limits.facts_per_user);
    let room = known_length;
    const isTooMuch = ({ text }: Fact): boolean => {
      room -= text.length;
      return room < 0;
    };
    return all.slice(all.findLastIndex(isTooMuch) + 1);
  }

  async function learn(work: Work): Promise<void> {
    const { project_id, environment, run_id, memory_id, user_id } = work;
    const scope: Scope = { project_id, environment };
    const source = runs.get(scope, run_id);
    const { run } = journal.state(run_id);
    const agent = journal.snapshot(run, run.agent_hash);
    const known = promptFacts(work);
    const input = learningInput(known, { user: run.input, assistant: source.output ?? "" });
    const metadata = { learns_from: run_id };
    const body = { agent_id: source.agent_id, input, user_id, metadata, on_concurrency_limit: "queue" as const };
    failpoint?.("before_learning");
    await create(
      scope,
      body,
      newId("request", now()),
      (newRun) => {
        if (dropWork.run(project_id, environment, run_id).changes === 0) throw new Superseded();
        insertRun.run(project_id, environment, newRun.id, run_id, memory_id, user_id, JSON.stringify(known));
      },
      learningAgent(agent),
    );
    failpoint?.("after_learning");
  }

  async function takeUp(work: Work): Promise<void> {
    const { project_id, environment, run_id, status } = work;
    const drop = () => db.write(() => dropWork.run(project_id, environment, run_id));
    if (status !== "completed" || !isOpen(project_id)) return void (await drop());
    try {
      await learn(work);
    } catch (error) {
      if (error instanceof Superseded || !isRunning) return;
      const { code, message } = toAppError(error);
      if (isStorageRefusal(error) || transientErrors.includes(code)) throw error;
      log.warn("nothing is learned from a run", { run_id, code, message, ...(code === "internal_error" && { error }) });
      await drop();
    }
  }

  async function takeAll(): Promise<void> {
    for (let work = selectDue.get(); work && isRunning; work = selectDue.get()) await takeUp(work);
    mayLearn = selectAny.get() !== null;
  }

  function look(): void {
    if (!isRunning || timer) return;
    currentWork = (currentWork ?? Promise.resolve()).then(takeAll).catch((error) => {
      log.error("what runs say of their users is learned later", { error });
      timer = setTimeout(() => {
        timer = undefined;
        look();
      }, again_ms).unref();
    });
  }

  return {
    onCreated,
    project,
    /** Called after a commit: starts learning from an ended run, or indexes what it learned. */
    heard(_: string, all: readonly JournalEntry[]): void {
      if (!all.some(({ event }) => endsRun(event))) return;
      if (hasLearned) wake();
      hasLearned = false;
      if (mayLearn) look();
    },
    start(): void {
      isRunning = true;
      look();
    },
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      await currentWork;
    },
    /** For tests: resolves when no run waits to be learned from. */
    idle: async (): Promise<void> => void (await currentWork),
  };
}
