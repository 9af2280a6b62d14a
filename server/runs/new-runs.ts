import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { tightest } from "../core/budget.ts";
import { withFollowUp } from "../core/decide.ts";
import { decidedEvents, type Finding } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { preparationsOf } from "../core/preparations.ts";
import type { ModelPrice } from "../core/price.ts";
import type { RunCreated, RunEvent } from "../core/run-event.ts";
import { askedOf, type ShownImages } from "../core/run-input.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold, initialState } from "../core/run-state.ts";
import { keyOf, type Viewer } from "../http/auth.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import type { RequireThere } from "./fork.ts";
import type { Pool } from "./pool.ts";
import type { RunQueue } from "./queue.ts";
import { requireChosenTool, withRequestTools } from "./request-tools.ts";
import type { CreateRun } from "./schema.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { screenInput } from "./screening.ts";
import type { Note, RunStore } from "./store.ts";
import { noPlace, type ThreadQueue } from "./thread-queue.ts";

export interface NewRunOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pick<Pool, "start" | "abort">;
  queue: Pick<RunQueue, "place" | "wait">;
  threadQueue: ThreadQueue;
  /** The agent as a run of this scope would pin it now; throws for what is not there, not available, or not its key's. */
  snapshot(scope: Viewer, agentId: string, overrides: CreateRun["overrides"]): AgentSnapshot;
  /** Brings what is known of the agent's MCP servers up to date, before it is pinned; undefined when it is already. */
  refreshTools(scope: Viewer, agentId: string, overrides: CreateRun["overrides"]): Promise<void> | undefined;
  /** Throws where the model that a request names cannot be reached now, as far as that can be known beforehand. */
  requireThere: RequireThere;
  /** The images that the input's messages show. */
  imagesOf(scope: Viewer, param: string, agentId: string): ShownImages;
  /** Throws for files that are not there. */
  requireFiles(scope: Viewer, ids: readonly string[]): void;
  /** What a model costs now, by its full name; null when nobody knows. */
  priceOf(model: string): ModelPrice | null;
  /** How many tokens a model takes, by its full name; null when nobody knows. */
  windowOf(model: string): number | null;
  /** Within the write: somebody's run begins, with this agent. */
  begun?(run: RunCreated, agent: AgentSnapshot): void;
  now: () => number;
}

/** A run that is ready to be written. */
interface Made {
  agent: AgentSnapshot;
  /** Its id is that of the newest write that was tried. */
  created: { type: "run.created" } & RunCreated;
  findings: readonly Finding[];
  images: ShownImages;
  /** What is over at once takes no place in its thread, nor a slot. */
  isOverAtOnce: boolean;
}

/** A run that was made. Whoever waits for it, or reads its stream, needs no more than its id. */
export interface NewRun<Shown = RunObject> {
  id: string;
  /** As it was made. To be asked for before anything else can happen to it. */
  shown(): Shown;
}

/** Starts runs that somebody asks for. */
export function createNewRuns(options: NewRunOptions) {
  const { journal, runs, pool, queue, threadQueue, snapshot, refreshTools, priceOf, windowOf, now } = options;

  /**
   * Starts or queues a run: acknowledged means durable. Throws `concurrency_limit_exceeded` when the scope is full. The
   * server itself may say what its agent is.
   */
  async function create(
    scope: Viewer,
    body: CreateRun,
    requestId: string,
    note?: Note,
    own?: AgentSnapshot,
  ): Promise<NewRun> {
    const refreshed = own ? undefined : refreshTools(scope, body.agent_id, body.overrides);
    if (refreshed) await refreshed;
    const made = await make(scope, body, requestId, own);
    const begin = ([run_id, entries]: Inserted) => pool.start(run_id, { history: entries, agent: made.agent });
    const inserted = await journal.commitAll(
      () => insert(scope, body, made, note),
      scope,
      // Its model is asked while the commit is under way, unless another run has to end for it.
      ([first, ...others]) => {
        if (others.length > 0) return null;
        begin(first!);
        return () => pool.abort(first![0]);
      },
    );
    const run = inserted.at(-1)!;
    const [run_id, entries] = run;
    for (const [id] of inserted.slice(0, -1)) pool.abort(id);
    if (journal.head(run_id)!.status === "queued") queue.wait(scope);
    else begin(run);
    return { id: run_id, shown: () => runObject(fold(entries), runs.expiry(run_id)) };
  }

  async function make(scope: Viewer, body: CreateRun, requestId: string, own?: AgentSnapshot): Promise<Made> {
    const agent = own ?? withRequestTools(snapshot(scope, body.agent_id, body.overrides), body.tools);
    if (body.overrides?.model_settings) requireChosenTool(agent);
    const owner = threadQueue.owner(scope, body);
    requireScopeIds(agent, owner);
    options.requireFiles(scope, body.file_ids ?? []);
    if (body.overrides?.model) await options.requireThere(body.overrides.model, "overrides.model");
    // Only where there is something to look at: the creations of a tick share a snapshot of the database.
    const images = options.imagesOf(scope, "input", agent.id);
    const asked = askedOf(body.input, images.of);
    const screened = agent.guardrails ? await screenInput(agent, asked) : null;
    const created = {
      type: "run.created" as const,
      ...pinned(scope, agent, body, requestId, journal.hashOf(agent)),
      ...(screened?.asked ?? asked),
      ...owner,
      ...preparationsOf(agent, { ...owner, file_ids: body.file_ids ?? [] }),
      price: priceOf(agent.model),
      context_window: windowOf(agent.model),
    };
    const isOverAtOnce = screened?.isBlocked === true;
    return { agent, created, images, findings: screened?.findings ?? [], isOverAtOnce };
  }

  /** Within a write: the run comes last, behind those whose place it takes. */
  function insert(scope: Viewer, body: CreateRun, made: Made, note: Note | undefined): Inserted[] {
    const { agent, isOverAtOnce } = made;
    // In the order of the writes: those that wait begin in the order of their ids. And not that of a write that failed, of
    // which a loop may have been told.
    const run_id = newId("run", now());
    const created = Object.assign(made.created, { run_id });
    const place = isOverAtOnce ? noPlace : threadQueue.take(scope, body);
    const queue_position = isOverAtOnce ? null : queue.place(scope, body.on_concurrency_limit, place.line);
    const decided = decidedEvents(made.findings, 0, 0);
    threadQueue.beginFor(scope, body, created);
    const events: RunEvent[] =
      queue_position === null
        ? withFollowUp(initialState, [created, ...decided], agent, now())
        : [{ ...created, queued: true }, { type: "run.queued", queue_position }, ...decided];
    const own = journal.insert(run_id, events);
    journal.pin(scope, run_id, agent);
    made.images.keep({ run_id });
    options.begun?.(created, agent);
    note?.(runs.standing(scope, run_id), 0);
    return [...place.ended, [run_id, own]];
  }

  return create;
}

function pinned(
  scope: Viewer,
  agent: AgentSnapshot,
  body: CreateRun,
  request_id: string,
  agent_hash: string,
): Omit<RunCreated, "input"> {
  const { project_id, environment } = scope;
  return {
    run_id: "",
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
    ...keyOf(scope),
  };
}
