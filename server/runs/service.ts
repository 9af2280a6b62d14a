import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { cancelledEvents, failedEvents } from "../core/conclude.ts";
import { runError } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { JournalEntry, RunCreated } from "../core/run-event.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold, initialState, isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { notAwaiting, submitEvents, type ToolAnswer } from "../core/submit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import type { Journal } from "../journal/journal.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { withFollowUp } from "../worker/follow-up.ts";
import { createDeadlines } from "./deadlines.ts";
import { partialOf } from "./partial.ts";
import type { Pool } from "./pool.ts";
import type { CreateRun } from "./schema.ts";
import type { RunRow, RunStore } from "./store.ts";
import { createTrials } from "./trials.ts";
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
  requireRoom = () => {},
  trial_ms,
  now,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  pool: Pool;
  runs: RunStore;
  /** The agent as a run of this scope would pin it now; throws when there is none, or its model is not available. */
  snapshot(scope: Scope, agentId: string, overrides: CreateRun["overrides"]): AgentSnapshot;
  /** How many runs of a scope may be in progress at once. */
  slots(scope: Scope): number;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom?: () => void;
  /** How long a run that may be what brings the process down goes on alone. */
  trial_ms?: number;
  now: () => number;
}) {
  const trials = createTrials({ db, journal, watches, start: pool.start, trial_ms });
  const deadlines = createDeadlines(db.sqlite, expire, now);
  // A run that begins to wait may have to end sooner than it would have had to before.
  const unlisten = watches.listen(deadlines.look);

  /** Starts a run: acknowledged means durable. Throws `concurrency_limit_exceeded` when the scope is full. */
  async function create(scope: Scope, body: CreateRun, requestId: string, note?: Note): Promise<RunObject> {
    requireRoom();
    const run_id = newId("run", now());
    const agent = snapshot(scope, body.agent_id, body.overrides);
    const created = {
      type: "run.created" as const,
      ...pinned(scope, run_id, agent, body, requestId, journal.hashOf(agent)),
    };
    const entries = await journal.commit(run_id, () => {
      refuseIfFull(scope);
      const inserted = journal.insert(run_id, withFollowUp(initialState, [created], agent, now()));
      journal.pin(scope, run_id, agent);
      note?.(runs.standing(scope, run_id), 0);
      return inserted;
    });
    pool.start(run_id, { history: entries, agent });
    return runObject(fold(entries), runs.expiry(run_id));
  }

  function refuseIfFull(scope: Scope): void {
    const limit = slots(scope);
    if (runs.inProgress(scope) < limit) return;
    const message = `${limit} runs are in progress, which is the limit. Try again when one has ended.`;
    throw new AppError("concurrency_limit_exceeded", message, { retryAfter: 1, details: { limit } });
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
    return journal.insert(id, cancelledEvents(state, reason, now(), partialOf(watches.live(id), state)));
  }

  /** Fails a run whose time is up. Looks again inside the write: it may have moved on in the meantime. */
  async function expire(runId: string, at: number): Promise<void> {
    const entries = await journal.commit(runId, () => {
      if (runs.expiry(runId) !== at) return [];
      const state = fold(journal.read(runId));
      const waiting = state.status === "requires_action";
      const error = waiting
        ? runError("action_expired", "Nobody answered what the run asked for in time (action_timeout_ms).", state)
        : runError("run_timeout", `The run took longer than ${state.run!.timeout_ms} ms (timeout_ms).`, state);
      return journal.insert(runId, failedEvents(state, error, now(), partialOf(watches.live(runId), state)));
    });
    if (entries.length > 0) pool.abort(runId);
  }

  /** Answers when the run is over or needs action, after `ms`, or when the signal is aborted. */
  async function settled(runId: string, ms: number, signal?: AbortSignal): Promise<void> {
    const watch = watches.join(runId);
    signal?.addEventListener("abort", watch.leave, { once: true });
    if (signal?.aborted) watch.leave();
    try {
      const end = performance.now() + ms;
      for (let seen = -1; ; ) {
        if (watch.commits() !== seen && journal.head(runId)?.status !== "in_progress") return;
        seen = watch.commits(); // Deltas wake us too, and change nothing here.
        const left = end - performance.now();
        if (left <= 0 || !(await watch.next(left))) return;
      }
    } finally {
      watch.leave();
    }
  }

  /** At boot: every run that was in progress goes on from its last completed step. */
  async function recover(): Promise<number> {
    const unfinished = runs.unfinished();
    const clean = await runs.takeCleanStop().catch(() => false); // A full disk may not keep the server from reading.
    const suspects = trials.suspects(clean ? [] : unfinished);
    const held = (id: string) => suspects.includes(id);
    // Whoever is on trial is not blamed for the crash: only for one that happens in its turn.
    await Promise.all(unfinished.map((id) => pool.recover(id, clean || held(id), held(id))));
    trials.hold(suspects).catch(() => {
      for (const id of suspects) pool.start(id); // A full disk may not keep them back for ever.
    });
    deadlines.load();
    return unfinished.length;
  }

  function stop(): void {
    unlisten();
    trials.stop();
    deadlines.stop();
  }

  return { create, submit, cancel, settled, recover, stop };
}

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
