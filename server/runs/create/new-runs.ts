import type { AgentChoice } from "../../domain/agent-label.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { tightestBudget } from "../../domain/budget.ts";
import { withFollowUp } from "../../domain/decide.ts";
import { decidedEvents, type Finding } from "../../domain/guardrail-event.ts";
import { everyAgent } from "../../domain/handoff.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { preModelSteps } from "../../domain/pre-model-steps.ts";
import type { RunCreated, RunEvent } from "../../domain/run-event.ts";
import {
  placedParts,
  type RecordedInput,
  type ShownMedia,
  toRecordedInput,
  withFilesOf,
} from "../../domain/run-input.ts";
import { type RunObject, runObject } from "../../domain/run-object.ts";
import { fold, initialState } from "../../domain/run-state.ts";
import { keyOf, type Viewer } from "../../http/auth.ts";
import { plainInput } from "../../http/plain-input.ts";
import { lastItem } from "../../lib/collections.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { ChosenVersion } from "../../resources/labels/resolve-agent.ts";
import { screenInput } from "../../runtime/guardrails/screen-input.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { RequireModelAvailable } from "../fork/fork.ts";
import type { RunQueue } from "../queue/queue.ts";
import { noPlace, type ThreadQueue } from "../queue/thread-queue.ts";
import type { CreateRun } from "../schema.ts";
import { requireScopeIds } from "../scope-ids.ts";
import type { Note, RunStore } from "../store.ts";
import { type ModelFacts, pinnedModels } from "./pinned-models.ts";
import { requireChosenTool, withRequestTools } from "./request-tools.ts";
import type { RequirePrice } from "./require-price.ts";
import { requireTaken } from "./require-taken.ts";
import { runVariables } from "./run-variables.ts";

export interface NewRunOptions extends ModelFacts {
  journal: Journal;
  runs: RunStore;
  pool: Pool;
  queue: RunQueue;
  threadQueue: ThreadQueue;
  /**
   * Returns the agent as a run of this scope would pin it now. Throws if it is missing, unavailable or not its key's.
   * `key` chooses the versions of its handoffs' labels.
   */
  snapshot(
    scope: Viewer,
    agentId: string,
    overrides: CreateRun["overrides"],
    version?: number | null,
    key?: string,
  ): AgentSnapshot;
  /** Returns the version that a run gets: the one it names, or that of its label for this key. */
  chooseVersion(scope: Viewer, choice: AgentChoice, key: string): ChosenVersion;
  /**
   * Refreshes the tool lists of the agent's MCP servers before it is pinned; returns undefined if they are up to date.
   */
  refreshTools(
    scope: Viewer,
    agentId: string,
    overrides: CreateRun["overrides"],
    version?: number | null,
    key?: string,
  ): Promise<void> | undefined;
  /** Throws if the model named in a request is not available now, as far as can be known beforehand. */
  requireModelAvailable: RequireModelAvailable;
  /** Resolves the images, recordings and documents of the input's messages. */
  mediaOf(scope: Viewer, param: string, agentId: string): ShownMedia;
  /** Throws if one of the files does not exist. */
  requireFiles(scope: Viewer, ids: readonly string[]): void;
  requirePrice: RequirePrice;
  /** Called inside the write that creates the run. */
  onCreated?(run: RunCreated, agent: AgentSnapshot): void;
  now: () => number;
}

type RunOwner = ReturnType<ThreadQueue["owner"]>;

/** A run, not yet written. */
interface PreparedRun {
  agent: AgentSnapshot;
  /** Its `run_id` is set by each attempt to write it. */
  created: { type: "run.created" } & RunCreated;
  findings: readonly Finding[];
  media: ShownMedia;
  /** True if the run is over at once: it takes no place in its thread and no slot. */
  isOverAtOnce: boolean;
}

/** A created run. A request that waits for it, or streams it, needs only the id. */
export interface NewRun<Shown = RunObject> {
  id: string;
  /** `seq` before the message, if the input became a message of a run that is under way. */
  from?: number;
  /** Returns the run as created. Call before anything else can happen to it. */
  shown(): Shown;
}

/** Starts or queues runs requested by clients. */
export function createNewRuns(options: NewRunOptions) {
  const { journal, runs, pool, queue, threadQueue, snapshot, refreshTools, chooseVersion, now } = options;

  /**
   * Starts or queues a run; it is durable when this resolves. Throws `concurrency_limit_exceeded` if the scope is full.
   * `own` is an agent chosen by the server itself.
   */
  async function create(
    scope: Viewer,
    body: CreateRun,
    requestId: string,
    note?: Note,
    own?: AgentSnapshot,
  ): Promise<NewRun> {
    const owner = threadQueue.owner(scope, body);
    const key = owner.thread_id ?? owner.user_id ?? newId("run", now());
    const chosen = versionOf(scope, body, key, own);
    const refreshed = own ? undefined : refreshTools(scope, body.agent_id, body.overrides, chosen.version, key);
    if (refreshed) await refreshed;
    const prepared = await prepare(scope, body, requestId, { owner, key, chosen, own });
    const begin = ([run_id, entries]: Inserted) => pool.start(run_id, { history: entries, agent: prepared.agent });
    const inserted = await journal.commitAll(
      () => insert(scope, body, prepared, note),
      scope,
      // The model is called while the commit is under way, unless another run has to end first.
      ([first, ...others]) => {
        if (!first || others.length > 0) return null;
        begin(first);
        return () => pool.abort(first[0]);
      },
    );
    prepared.media.kept();
    const run = lastItem(inserted);
    const [run_id, entries] = run;
    for (const [id] of inserted.slice(0, -1)) pool.abort(id);
    if (requireValue(journal.head(run_id), `The run ${run_id}`).status === "queued") queue.wait(scope);
    else begin(run);
    return { id: run_id, shown: () => runObject(fold(entries), runs.expiry(run_id)) };
  }

  /** Chosen once for a run: what happens to the label from here on concerns later runs. */
  function versionOf(
    scope: Viewer,
    { agent_id, version, label }: CreateRun,
    key: string,
    own?: AgentSnapshot,
  ): ChosenVersion {
    if (own) return { version: null, label: null };
    return chooseVersion(scope, { agent_id, version: version ?? null, label: label ?? null }, key);
  }

  async function prepare(
    scope: Viewer,
    body: CreateRun,
    requestId: string,
    {
      owner,
      key,
      chosen,
      own,
    }: { owner: RunOwner; key: string; chosen: ChosenVersion; own: AgentSnapshot | undefined },
  ): Promise<PreparedRun> {
    const agent =
      own ?? withRequestTools(snapshot(scope, body.agent_id, body.overrides, chosen.version, key), body.tools);
    if (body.overrides?.model_settings) requireChosenTool(agent);
    const variables = variablesFor(scope, agent, body);
    requireScopeIds(agent, owner);
    options.requireFiles(scope, body.file_ids ?? []);
    if (body.overrides?.model) await options.requireModelAvailable(body.overrides.model, "overrides.model");
    options.requirePrice(scope, agent, tightestBudget(agent.budget, body.budget));
    const media = options.mediaOf(scope, "input", agent.id);
    const reading = readInput(body.input, media);
    const recordedInput = reading instanceof Promise ? await reading : reading;
    requireTaken(agent.model, recordedInput);
    // Only if there are guardrails, because the runs created in one tick share a snapshot of the database.
    const file_ids = withFilesOf(body.file_ids ?? [], recordedInput);
    const screened = agent.guardrails ? await screenInput(agent, recordedInput) : null;
    const created = {
      type: "run.created" as const,
      ...creationFields(scope, agent, body, requestId, journal.hashOf(agent)),
      ...(chosen.label && { label: chosen.label }),
      file_ids,
      ...(screened?.asked ?? recordedInput),
      ...owner,
      ...variables,
      ...preModelSteps(agent, { ...owner, file_ids }),
      ...pinnedModels(agent, scope.environment, options),
    };
    const isOverAtOnce = screened?.isBlocked === true;
    return { agent, created, media, findings: screened?.findings ?? [], isOverAtOnce };
  }

  /** The thread is read only for an agent with variables. */
  function variablesFor(scope: Viewer, agent: AgentSnapshot, body: CreateRun): Pick<RunCreated, "variables"> {
    const before = everyAgent(agent).some((each) => each.variables) ? threadQueue.variables(scope, body) : null;
    return runVariables(agent, { request: body.variables, before, token: scope.token?.variables });
  }

  /** Call inside a write. Returns the ended runs whose place it takes, then the new run. */
  function insert(scope: Viewer, body: CreateRun, made: PreparedRun, note: Note | undefined): Inserted[] {
    const { agent, isOverAtOnce } = made;
    // A new id per write: queued runs begin in the order of their ids, and a loop may already know the id of a failed
    // write.
    const run_id = newId("run", now());
    const created = Object.assign(made.created, { run_id });
    const place = isOverAtOnce ? noPlace : threadQueue.take(scope, body);
    const queue_position = isOverAtOnce ? null : queue.place(scope, body.on_concurrency_limit, place.line);
    const decisionEvents = decidedEvents(made.findings, 0, 0);
    threadQueue.beginFor(scope, body, created);
    const events: RunEvent[] =
      queue_position === null
        ? withFollowUp(initialState, [created, ...decisionEvents], agent, now())
        : [{ ...created, queued: true }, { type: "run.queued", queue_position }, ...decisionEvents];
    const own = journal.insert(run_id, events);
    journal.pin(scope, run_id, agent);
    made.media.keep({ run_id });
    options.onCreated?.(created, agent);
    note?.(runs.standing(scope, run_id), 0);
    return [...place.ended, [run_id, own]];
  }

  return create;
}

/** Not asynchronous without addresses, because the runs created in one tick share a snapshot of the database. */
function readInput(given: CreateRun["input"], media: ShownMedia): RecordedInput | Promise<RecordedInput> {
  const input = plainInput(given);
  const fetching = media.fetch(placedParts(input));
  return fetching ? fetching.then(() => toRecordedInput(input, media.of)) : toRecordedInput(input, media.of);
}

function creationFields(
  scope: Viewer,
  agent: AgentSnapshot,
  body: CreateRun,
  request_id: string,
  agent_hash: string,
): Omit<RunCreated, "input" | "file_ids"> {
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
    parent_run_id: null,
    budget: tightestBudget(agent.budget, body.budget),
    metadata: body.metadata ?? {},
    request_id,
    ...keyOf(scope),
  };
}
