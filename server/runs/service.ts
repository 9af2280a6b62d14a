import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { cancelledEvents, failedEvents } from "../core/conclude.ts";
import { runError } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { JournalEntry, RunCreated, RunEvent } from "../core/run-event.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold, initialState, isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { notAwaiting, submitEvents, type ToolAnswer } from "../core/submit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import type { Journal } from "../journal/journal.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import { withFollowUp } from "../worker/follow-up.ts";
import { createDeadlines } from "./deadlines.ts";
import { partialOf } from "./partial.ts";
import { type Pool, recoveredEvent } from "./pool.ts";
import { createRunQueue } from "./queue.ts";
import type { CreateRun } from "./schema.ts";
import type { RunRow, RunStore } from "./store.ts";
import { acquittal, createTrials } from "./trials.ts";
import type { Watches } from "./watch.ts";

export type RunService = ReturnType<typeof createRunService>;

/** Told within the write where the run stands then, and the `seq` before it: what it notes shares the write's fate. */
export type Note = (row: RunRow, before: number) => void;

/** Starts runs, answers what they ask, and ends them. */
export function createRunService({
  db,
  journal,
  watches,
  pool,
  runs,
  snapshot,
  slots,
  trial_ms,
  look_ms,
  now,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  pool: Pool;
  runs: RunStore;
  /** The agent as a run of this scope would pin it now; throws for what is not there, not available, or not its key's. */
  snapshot(scope: Viewer, agentId: string, overrides: CreateRun["overrides"]): AgentSnapshot;
  /** How many runs of a scope may be in progress at once. */
  slots(scope: Scope): number;
  /** How long a run that may be what brings the process down goes on alone. */
  trial_ms?: number;
  /** How often a queue is looked at when nothing happens. */
  look_ms?: number;
  now: () => number;
}) {
  const trials = createTrials({ db, journal, watches, only: pool.only, trial_ms });
  const queue = createRunQueue({ journal, watches, runs, pool, slots, look_ms });
  const deadlines = createDeadlines(db.sqlite, expire, now);
  let isRecovered = false;
  // A run that begins to wait may have to end sooner than it would have had to before.
  const unlisten = watches.listen(deadlines.look);

  /** Starts or queues a run: acknowledged means durable. Throws `concurrency_limit_exceeded` when the scope is full. */
  async function create(scope: Viewer, body: CreateRun, requestId: string, note?: Note): Promise<RunObject> {
    const run_id = newId("run", now());
    const agent = snapshot(scope, body.agent_id, body.overrides);
    const created = {
      type: "run.created" as const,
      ...pinned(scope, run_id, agent, body, requestId, journal.hashOf(agent)),
    };
    const entries = await journal.commit(run_id, () => {
      const queue_position = queue.place(scope, body.on_concurrency_limit);
      const events: RunEvent[] =
        queue_position === null
          ? withFollowUp(initialState, [created], agent, now())
          : [
              { ...created, queued: true },
              { type: "run.queued", queue_position },
            ];
      const inserted = journal.insert(run_id, events);
      journal.pin(scope, run_id, agent);
      note?.(runs.standing(scope, run_id), 0);
      return inserted;
    });
    const state = fold(entries);
    const answer = runObject(state, runs.expiry(run_id));
    if (state.status === "queued") queue.wait(scope);
    else pool.start(run_id, { history: entries, agent });
    return answer;
  }

  /** Takes answers to what a run asked for. Answers the `seq` before them, from where a stream may go on. */
  async function submit(scope: Viewer, runId: string, answers: readonly ToolAnswer[], note?: Note): Promise<number> {
    let before = 0;
    const entries = await journal.commit(runId, () => {
      const { status, summary } = runs.standing(scope, runId);
      if (summary !== null) throw notAwaiting(status);
      const state = fold(journal.read(runId));
      before = state.seq;
      const events = submitEvents(state, answers, argumentFaults(scope, state), now());
      const inserted = events.length > 0 ? journal.insert(runId, events) : [];
      note?.(runs.standing(scope, runId), before);
      return inserted;
    });
    if (entries.length > 0) pool.start(runId);
    return before;
  }

  const argumentFaults =
    (scope: Scope, state: RunState) => (call: { tool_id: string | null }, args: Record<string, unknown>) => {
      const tool = journal.snapshot(scope, state.run!.agent_hash).tools.find(({ id }) => id === call.tool_id);
      if (!tool) return ["The tool of this call is not known."];
      return validateAgainst(tool.parameters, args).map(({ path, message }) => `${path || "arguments"}: ${message}`);
    };

  /** Cancels, at once and for good: the journal says so before anybody is told to stop. */
  async function cancel(scope: Viewer, runId: string, reason: string | null, note?: Note): Promise<void> {
    await journal.commit(runId, () => {
      // Asked of the row: a run whose trace was deleted has no journal that could be folded.
      const before = runs.standing(scope, runId);
      const inserted = before.status === "cancelled" ? [] : insertCancelled(before, reason);
      note?.(runs.standing(scope, runId), before.seq);
      return inserted;
    });
    pool.abort(runId);
  }

  function insertCancelled({ id, status }: RunRow, reason: string | null): JournalEntry[] {
    if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already.`);
    const state = fold(journal.read(id));
    return insertEnd(id, state, (last) => cancelledEvents(last, reason, now(), partialOf(watches.live(id), last)));
  }

  /** Inserts the end of a run, and before it the recovery that it is still owed: its readers learn what is void. */
  function insertEnd(id: string, state: RunState, end: (state: RunState) => RunEvent[]): JournalEntry[] {
    const isLost = state.status === "in_progress" && !watches.live(id) && (!isRecovered || pool.owes(id));
    const owed = isLost ? journal.insert(id, [recoveredEvent(state)]) : [];
    return [...owed, ...journal.insert(id, end(fold(owed, state)))];
  }

  /** Fails a run whose time is up; one whose journal is damaged is given up, or it would be asked for ever. */
  async function expire(runId: string, at: number): Promise<void> {
    try {
      if ((await failExpired(runId, at)).length === 0) return;
    } catch (error) {
      if (!(await pool.giveUp(runId, error))) throw error;
    }
    pool.abort(runId);
  }

  /** Looks again inside the write: it may have moved on in the meantime. */
  const failExpired = (runId: string, at: number): Promise<JournalEntry[]> =>
    journal.commit(runId, () => {
      if (runs.expiry(runId) !== at) return [];
      const state = fold(journal.read(runId));
      const waiting = state.status === "requires_action";
      const error = waiting
        ? runError("action_expired", "Nobody answered what the run asked for in time (action_timeout_ms).", state)
        : runError("run_timeout", `The run took longer than ${state.run!.timeout_ms} ms (timeout_ms).`, state);
      return insertEnd(runId, state, (last) => failedEvents(last, error, now(), partialOf(watches.live(runId), last)));
    });

  /** Answers when the run is over or needs action, after `ms`, or when one of the signals is aborted. */
  async function settled(runId: string, ms: number, signals: readonly AbortSignal[] = []): Promise<void> {
    const watch = watches.join(runId);
    const forget = untilAborted(signals, watch.leave);
    try {
      const end = performance.now() + ms;
      for (let seen = -1; ; ) {
        if (watch.commits() !== seen && !isUnderWay(journal.head(runId))) return;
        seen = watch.commits(); // Deltas wake us too, and change nothing here.
        const left = end - performance.now();
        if (left <= 0 || !(await watch.next(left))) return;
      }
    } finally {
      forget();
      watch.leave();
    }
  }

  /** At boot: every run that was in progress goes on from its last completed step. */
  async function recover(): Promise<number> {
    const unfinished = runs.unfinished();
    const clean = await runs.takeCleanStop().catch(() => false); // A full disk may not keep the server from reading.
    const verdict = clean ? acquittal : trials.judge(unfinished);
    trials.prepare(verdict);
    await Promise.all(unfinished.map((id) => pool.recover(id, !verdict.blamed.has(id))));
    isRecovered = true;
    void trials.hold(verdict);
    deadlines.load();
    queue.load();
    return unfinished.length;
  }

  function stop(): void {
    unlisten();
    trials.stop();
    queue.stop();
    deadlines.stop();
  }

  return { create, submit, cancel, settled, recover, stop };
}

const isUnderWay = (head: Pick<RunRow, "status"> | null): boolean =>
  head?.status === "in_progress" || head?.status === "queued";

function pinned(
  scope: Scope,
  run_id: string,
  agent: AgentSnapshot,
  body: CreateRun,
  request_id: string,
  agent_hash: string,
): RunCreated {
  const { project_id, environment } = scope;
  return {
    run_id,
    project_id,
    environment,
    agent_id: agent.id,
    agent_version: agent.version,
    agent_hash,
    model: agent.model,
    input: body.input,
    message_id: newId("message"),
    max_turns: agent.max_turns,
    timeout_ms: body.timeout_ms ?? limits.run_timeout_ms,
    action_timeout_ms: body.action_timeout_ms ?? limits.action_timeout_ms,
    on_disconnect: body.on_disconnect ?? "continue",
    thread_id: null,
    session_id: body.session_id ?? null,
    user_id: body.user_id ?? null,
    file_ids: [],
    parent_run_id: null,
    metadata: body.metadata ?? {},
    request_id,
  };
}
