import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { exceededBy, saidOf, tightest } from "../core/budget.ts";
import { cancelledEvents, failedEvents, withChildUsages } from "../core/conclude.ts";
import { withFollowUp } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { decidedEvents } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { preparationsOf } from "../core/preparations.ts";
import type { ModelPrice } from "../core/price.ts";
import { runError } from "../core/run-error.ts";
import type { JournalEntry, RunCreated, RunError, RunEvent } from "../core/run-event.ts";
import { askedOf } from "../core/run-input.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold, initialState, isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { type CheckArguments, notAwaiting, refuseTwice, submitEvents, type ToolAnswer } from "../core/submit.ts";
import { noUsage } from "../core/usage.ts";
import type { Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Viewer } from "../http/auth.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import { createChildren } from "./children.ts";
import { createDeadlines } from "./deadlines.ts";
import { createForks, type EditAgent, type RequireThere } from "./fork.ts";
import { ownersOf } from "./owners.ts";
import { partialOf } from "./partial.ts";
import type { Pool } from "./pool.ts";
import { createQuarantine, noSuspects } from "./quarantine.ts";
import { createRunQueue } from "./queue.ts";
import { recoveredEvent } from "./recovery.ts";
import type { CreateRun } from "./schema.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { guardsAnswers, type ScreenedAnswer, screenAnswer, screenInput } from "./screening.ts";
import type { Note, RunRow, RunStore } from "./store.ts";
import { createThreadQueue, noPlace, type ThreadOwnerOf } from "./thread-queue.ts";
import type { Watches } from "./watch.ts";

export type RunService = ReturnType<typeof createRunService>;

/** What guardrails leave of answers, by the id of their call. */
type AnswerScreens = Map<string, ScreenedAnswer>;
const noScreens: AnswerScreens = new Map();

/** Starts runs, answers what they ask, and ends them. */
export function createRunService({
  db,
  journal,
  watches,
  pool,
  runs,
  snapshot,
  refreshTools = () => undefined,
  editAgent = (_, agent, { instructions = agent.instructions, model = agent.model }) => ({
    ...agent,
    ...{ instructions, model },
  }),
  requireThere = async () => {},
  requireFiles = () => {},
  threadOwner = () => ({ user_id: null, session_id: null }),
  priceOf,
  windowOf = () => null,
  slots,
  childrenMax = () => Number.POSITIVE_INFINITY,
  quarantine_ms,
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
  /** Brings what is known of the agent's MCP servers up to date, before it is pinned; undefined when it is already. */
  refreshTools?(scope: Viewer, agentId: string, overrides: CreateRun["overrides"]): Promise<void> | undefined;
  editAgent?: EditAgent;
  /** Throws where the model that a request names cannot be reached now, as far as that can be known beforehand. */
  requireThere?: RequireThere;
  /** Throws for files that are not there. */
  requireFiles?(scope: Viewer, ids: readonly string[]): void;
  /** Whom the runs of a thread are for; throws for a thread that is not there. */
  threadOwner?: ThreadOwnerOf;
  /** What a model costs now, by its full name; null when nobody knows. */
  priceOf(model: string): ModelPrice | null;
  /** How many tokens a model takes, by its full name; null when nobody knows. */
  windowOf?(model: string): number | null;
  /** How many runs of a scope may be in progress at once. */
  slots(scope: Scope): number;
  /** How many runs may come of one run of a scope, by calls of agents. */
  childrenMax?(scope: Scope): number;
  /** How long a run that may be what brings the process down goes on alone. */
  quarantine_ms?: number;
  /** How often a queue, and the wall clock, is looked at when nothing happens. */
  look_ms?: number;
  now: () => number;
}) {
  const quarantine = createQuarantine({ db, journal, watches, only: pool.only, quarantine_ms });
  const queue = createRunQueue({ journal, watches, runs, pool, slots, look_ms, now });
  const threadQueue = createThreadQueue({ runs, ownerOf: threadOwner, insertCancelled });
  const deadlines = createDeadlines(db.sqlite, expire, now, { every_ms: look_ms });
  const children = createChildren({
    ...{ journal, watches, pool, runs, insertOrphan, childrenMax, priceOf, windowOf, now },
    snapshot: (scope, agentId) => snapshot(scope, agentId, undefined),
    refreshTools: (scope, agentId) => refreshTools(scope, agentId, undefined),
  });
  const fork = createForks({
    ...{ journal, runs, queue, pool, editAgent, requireThere, priceOf, windowOf, now },
    snapshot: freshSnapshot,
  });
  let isRecovered = false;
  // A run that begins to wait may have to end sooner than it would have had to before.
  const unlisten = watches.listen(deadlines.look);

  async function freshSnapshot(scope: Viewer, agentId: string): Promise<AgentSnapshot> {
    await refreshTools(scope, agentId, undefined);
    return snapshot(scope, agentId, undefined);
  }

  /** Starts or queues a run: acknowledged means durable. Throws `concurrency_limit_exceeded` when the scope is full. */
  async function create(scope: Viewer, body: CreateRun, requestId: string, note?: Note): Promise<RunObject> {
    const refreshed = refreshTools(scope, body.agent_id, body.overrides);
    if (refreshed) await refreshed;
    const agent = snapshot(scope, body.agent_id, body.overrides);
    const owner = threadQueue.owner(scope, body);
    requireScopeIds(agent, owner);
    requireFiles(scope, body.file_ids ?? []);
    if (body.overrides?.model) await requireThere(body.overrides.model, "overrides.model");
    // Only where there is something to look at: the creations of a tick share a snapshot of the database.
    const asked = askedOf(body.input);
    const screened = agent.guardrails ? await screenInput(agent, asked) : null;
    const decided = decidedEvents(screened?.findings ?? [], 0, 0);
    const run_id = newId("run", now()); // In the order of the writes: those that wait begin in the order of their ids.
    const created = {
      type: "run.created" as const,
      ...pinned(scope, run_id, agent, body, requestId, journal.hashOf(agent)),
      ...(screened?.asked ?? asked),
      ...owner,
      ...preparationsOf(agent, { ...owner, file_ids: body.file_ids ?? [] }),
      price: priceOf(agent.model),
      context_window: windowOf(agent.model),
    };
    const inserted = await journal.commitAll(() => {
      // What is over at once takes no place in a thread, nor a slot.
      const isOverAtOnce = screened?.isBlocked === true;
      const place = isOverAtOnce ? noPlace : threadQueue.take(scope, body);
      const queue_position = isOverAtOnce ? null : queue.place(scope, body.on_concurrency_limit, place.line);
      const events: RunEvent[] =
        queue_position === null
          ? withFollowUp(initialState, [created, ...decided], agent, now())
          : [{ ...created, queued: true }, { type: "run.queued", queue_position }, ...decided];
      const own = journal.insert(run_id, events);
      journal.pin(scope, run_id, agent);
      note?.(runs.standing(scope, run_id), 0);
      return [...place.ended, [run_id, own]];
    }, scope);
    const [, entries] = inserted.at(-1)!;
    for (const [id] of inserted.slice(0, -1)) pool.abort(id);
    const state = fold(entries);
    const answer = runObject(state, runs.expiry(run_id));
    if (state.status === "queued") queue.wait(scope);
    else pool.start(run_id, { history: entries, agent });
    return answer;
  }

  /** Takes answers to what a run asked for. Answers the `seq` before them, from where a stream may go on. */
  async function submit(scope: Viewer, runId: string, answers: readonly ToolAnswer[], note?: Note): Promise<number> {
    let before = 0;
    // Only where somebody looks: else the answers of a tick would not share it.
    const screened = areScreened(scope, runId) ? await screenAnswers(scope, runId, answers) : noScreens;
    const changed = await journal.commitAll(() => {
      const { status, summary, seq } = runs.standing(scope, runId);
      if (summary !== null) throw notAwaiting(status);
      before = seq;
      const inserted = insertAnswers(scope, runId, answers, screened);
      note?.(runs.standing(scope, runId), before);
      return inserted;
    }, scope);
    for (const [id] of changed) {
      if (isOver(journal.head(id)!.status)) pool.abort(id);
      else pool.start(id);
    }
    return before;
  }

  /** Before the write, since it may take long: what guardrails leave of the answers, by call. What is pinned stays so. */
  async function screenAnswers(scope: Viewer, runId: string, answers: readonly ToolAnswer[]): Promise<AnswerScreens> {
    const screened: AnswerScreens = new Map();
    refuseTwice(answers);
    for (const { state, own } of ownersOf(fold(journal.read(runId)), answers, () => statesBelow(runId))) {
      const agent = journal.snapshot(scope, state.run!.agent_hash);
      for (const answer of own) {
        const call = state.calls.find(({ id }) => id === answer.tool_call_id);
        if (call) screened.set(call.id, await screenAnswer(agent, call.tool, answer));
      }
    }
    return screened;
  }

  function areScreened(scope: Viewer, runId: string): boolean {
    if (runs.standing(scope, runId).summary !== null) return false; // It takes no answers any more.
    const [first] = journal.read(runId, 0, 1);
    const hash = first?.event.type === "run.created" ? first.event.agent_hash : null;
    return (hash !== null && guardsAnswers(journal.snapshot(scope, hash))) || runs.below(runId).length > 0;
  }

  /** Within a write: what the answers make of the run, of those below it whose calls they are about, and of all above. */
  function insertAnswers(
    scope: Scope,
    runId: string,
    answers: readonly ToolAnswer[],
    screened: AnswerScreens,
  ): Inserted[] {
    refuseTwice(answers);
    const owners = ownersOf(fold(journal.read(runId)), answers, () => statesBelow(runId));
    const answered = owners.flatMap(({ state, own, places }): Inserted[] => {
      const left = own.map((answer) => screened.get(answer.tool_call_id)?.answer ?? answer);
      const events = signed(submitEvents(state, left, argumentFaults(scope, state, screened), now(), places), scope);
      return events.length > 0 ? insertAnswered(state, events, screened) : [];
    });
    return [...answered, ...answered.flatMap(([id]) => children.insertAbove(id))];
  }

  /** Inserts answers with what guardrails say of them; one that is blocked is the end of its run. */
  function insertAnswered(state: RunState, events: RunEvent[], screened: AnswerScreens): Inserted[] {
    const { run_id } = state.run!;
    const findings = events.flatMap((event) =>
      event.type === "tool.completed" || event.type === "tool.decided"
        ? (screened.get(event.tool_call_id)?.findings ?? [])
        : [],
    );
    const [answered, next] = [events.slice(0, -1), events.at(-1)!];
    const noted = [...answered, ...decidedEvents(findings, state.steps, Math.max(0, state.turns - 1))];
    if (!findings.some(({ verdict }) => verdict === "blocked"))
      return [[run_id, journal.insert(run_id, [...noted, next])]];
    const entries = journal.insert(run_id, noted);
    const ends = insertEnds(run_id, fold(entries, state), (last) =>
      failedEvents(last, last.blocked!, now(), null, children.usagesOf(last)),
    );
    return ends.map(([id, its]) => [id, id === run_id ? [...entries, ...its] : its]);
  }

  /** One after the other, and only as many as are looked at. One that cannot be read has no calls that anybody could answer. */
  function* statesBelow(runId: string): Generator<RunState> {
    for (const id of runs.below(runId)) {
      const state = unlessDamaged(() => fold(journal.read(id)));
      if (state) yield state;
    }
  }

  const argumentFaults =
    (scope: Scope, state: RunState, screened: AnswerScreens): CheckArguments =>
    (call, args) => {
      const fault = screened.get(call.id)?.fault;
      if (fault) return [fault];
      const tool = journal.snapshot(scope, state.run!.agent_hash).tools.find(({ name }) => name === call.tool);
      if (!tool) return ["The tool of this call is not known."];
      return validateAgainst(tool.parameters, args).map(({ path, message }) => `${path || "arguments"}: ${message}`);
    };

  /** Cancels, at once and for good: the journal says so before anybody is told to stop. */
  async function cancel(scope: Viewer, runId: string, reason: string | null, note?: Note): Promise<void> {
    const ended = await journal.commitAll(() => {
      // Asked of the row: a run whose trace was deleted has no journal that could be folded.
      const before = runs.standing(scope, runId);
      const inserted = before.status === "cancelled" ? [] : insertCancelled(before, reason);
      note?.(runs.standing(scope, runId), before.seq);
      return inserted;
    }, scope);
    for (const id of [runId, ...ended.map(([id]) => id)]) pool.abort(id);
  }

  function insertCancelled({ id, status }: RunRow, reason: string | null): Inserted[] {
    if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already.`);
    return insertEnds(id, fold(journal.read(id)), cancelled(id, reason));
  }

  const cancelled = (id: string, reason: string | null) => (last: RunState) =>
    cancelledEvents(last, reason, now(), partialOf(watches.live(id), last, journal), children.usagesOf(last));

  /** Within a write: the end of a run whose parent is over. */
  function insertOrphan(id: string): JournalEntry[] {
    const head = journal.head(id);
    if (!head || isOver(head.status)) return [];
    return insertEnd(id, fold(journal.read(id)), cancelled(id, "The run that started it has ended."));
  }

  /** Inserts the end of a run, and before it of all that works for it. */
  const insertEnds = (id: string, state: RunState, end: (state: RunState) => RunEvent[]): Inserted[] => [
    ...insertEndsBelow(id),
    [id, insertEnd(id, state, end)],
  ];

  /** One whose record is damaged may not keep its parent from ending: it is given up after that. */
  const insertEndsBelow = (id: string): Inserted[] =>
    runs.unfinishedBelow(id).flatMap((orphan): Inserted[] => {
      const entries = unlessDamaged(() => insertOrphan(orphan));
      return entries ? [[orphan, entries]] : [];
    });

  /** Within a write: what is recorded of a run that is driven. Where it fails, all that works for it ends before. */
  function insertDriven(id: string, events: readonly RunEvent[], attempt?: number): Inserted[] {
    if (events.at(-1)?.type !== "run.failed" || runs.below(id).length === 0)
      return [[id, journal.insert(id, events, attempt)]];
    const below = insertEndsBelow(id);
    const state = fold(journal.read(id));
    const counted = withChildUsages(state, events, now(), children.usagesOf(state));
    return [...below, [id, journal.insert(id, counted, attempt)]];
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
      for (const [id] of await failExpired(runId, at)) pool.abort(id);
    } catch (error) {
      if (!(await pool.giveUp(runId, error))) throw error;
      pool.abort(runId);
    }
  }

  /** Looks again inside the write: it may have moved on in the meantime. */
  const failExpired = (runId: string, at: number): Promise<Inserted[]> =>
    journal.commitAll(() => {
      if (runs.expiry(runId) !== at) return [];
      const state = fold(journal.read(runId));
      const error = expiredError(state, at);
      return insertEnds(runId, state, (last) =>
        failedEvents(last, error, now(), partialOf(watches.live(runId), last, journal), children.usagesOf(last)),
      );
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
    children.endOrphans();
    const unfinished = runs.unfinished();
    const clean = await runs.takeCleanStop().catch(() => false); // A full disk may not keep the server from reading.
    const diagnosis = clean ? noSuspects : quarantine.diagnose(unfinished);
    quarantine.prepare(diagnosis);
    await Promise.all(unfinished.map((id) => pool.recover(id, !diagnosis.blamed.has(id))));
    isRecovered = true;
    void quarantine.hold(diagnosis);
    deadlines.load();
    queue.load();
    children.settleAll();
    return unfinished.length;
  }

  function stop(): void {
    unlisten();
    children.stop();
    quarantine.stop();
    queue.stop();
    deadlines.stop();
  }

  return {
    create,
    fork,
    submit,
    cancel,
    settled,
    recover,
    stop,
    insertDriven,
    /** Starts the child run of a call, or finds the one that was started. */
    startChild: children.start,
    /** Answers when a child run is over or waits for somebody. */
    awaitChild: children.standing,
    /** For tests: whether the storage has not taken yet what a run has to note of its children. */
    owes: children.owes,
  };
}

/** Says in decisions who made them. */
function signed(events: RunEvent[], who: Viewer & Partial<Author>): RunEvent[] {
  if (!who.actor) return events;
  const { type, id } = who.actor;
  return events.map((event) =>
    event.type === "tool.decided" || (event.type === "tool.completed" && event.status === "rejected")
      ? { ...event, by: { type, id } }
      : event,
  );
}

const isUnderWay = (head: Pick<RunRow, "status"> | null): boolean =>
  head?.status === "in_progress" || head?.status === "queued";

/** Which of a run's deadlines came at this time. */
function expiredError(state: RunState, at: number): RunError {
  const budget = state.run!.budget ?? null;
  const spent = exceededBy(budget, { usage: noUsage, wall_ms: at - state.started_at! });
  if (spent) return runError("budget_exceeded", saidOf(spent), state);
  if (state.status === "requires_action")
    return runError("action_expired", "Nobody answered what the run asked for in time (action_timeout_ms).", state);
  return runError("run_timeout", `The run took longer than ${state.run!.timeout_ms} ms (timeout_ms).`, state);
}

function pinned(
  scope: Scope,
  run_id: string,
  agent: AgentSnapshot,
  body: CreateRun,
  request_id: string,
  agent_hash: string,
): Omit<RunCreated, "input"> {
  const { project_id, environment } = scope;
  return {
    run_id,
    project_id,
    environment,
    agent_id: agent.id,
    agent_version: agent.version,
    agent_hash,
    model: agent.model,
    message_id: newId("message"),
    max_turns: agent.max_turns,
    timeout_ms: body.timeout_ms ?? limits.run_timeout_ms,
    action_timeout_ms: body.action_timeout_ms ?? limits.action_timeout_ms,
    on_disconnect: body.on_disconnect ?? "continue",
    thread_id: null,
    session_id: null,
    user_id: null,
    file_ids: body.file_ids ?? [],
    parent_run_id: null,
    budget: tightest(agent.budget, body.budget),
    metadata: body.metadata ?? {},
    request_id,
  };
}
