import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { tightestBudget } from "../../domain/budget.ts";
import { withFollowUp } from "../../domain/decide.ts";
import { foldInSlices } from "../../domain/fold-in-slices.ts";
import { CannotFork, type Prefix, type PrefixEdits, prefixInSlices } from "../../domain/fork.ts";
import { decidedEvents, type Finding } from "../../domain/guardrail-event.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { AssistantPart, FinishReason } from "../../domain/model-call.ts";
import { preModelSteps } from "../../domain/pre-model-steps.ts";
import { requestCalls, wordsOf } from "../../domain/request-calls.ts";
import { createdEvent, type JournalEntry, type RunCreated, type RunEvent } from "../../domain/run-event.ts";
import {
  filesIn,
  type MediaOf,
  mediaIn,
  mediaOfMessage,
  type RecordedInput,
  type ShownMedia,
  toRequestInput,
  withFilesOf,
} from "../../domain/run-input.ts";
import { applyAll, isOver, ownMessages, type RunState } from "../../domain/run-state.ts";
import { keyOf, type Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid, validationError } from "../../http/errors.ts";
import { firstItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { AgentEdits } from "../../resources/agents/schema.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import { type ModelFacts, pinnedModels } from "../create/pinned-models.ts";
import { withToolsOf } from "../create/request-tools.ts";
import type { RequirePrice } from "../create/require-price.ts";
import { requireTaken } from "../create/require-taken.ts";
import { runVariables } from "../create/run-variables.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { createRunQueue } from "../queue/queue.ts";
import {
  damagedRecordError,
  explainMissingAgent,
  type ReplaySource,
  readReplaySource,
  requireReplaySource,
} from "../replay/replay-source.ts";
import { requireScopeIds } from "../scope-ids.ts";
import { type Note, type RunStore, type ShownRun, serializeState } from "../store.ts";
import { type ReadEdits, readEdits } from "./fork-edits.ts";
import type { ForkRun } from "./fork-schema.ts";

/** Applies edits to a pinned agent. Throws if its model is not available. */
export type EditAgent = (viewer: Viewer, agent: AgentSnapshot, edits: AgentEdits) => AgentSnapshot;

/** Throws if the model named in `param` is not available now. */
export type RequireModelAvailable = (model: string, param: string) => Promise<void>;

/**
 * Forks: runs that continue from a step of another run's record, with edits. The fork copies the record's entries, so
 * they are not executed or billed again, and the record may be deleted.
 */
export function createForks({
  journal,
  runs,
  queue,
  pool,
  snapshot,
  editAgent,
  requireModelAvailable,
  mediaOf,
  priceOf,
  requirePrice,
  windowOf,
  fallbacksOf,
  now,
}: ModelFacts & {
  journal: Journal;
  runs: RunStore;
  queue: ReturnType<typeof createRunQueue>;
  pool: Pool;
  /** Returns the agent as a run of this scope would pin it now. */
  snapshot(viewer: Viewer, agentId: string, key: string): Promise<AgentSnapshot>;
  editAgent: EditAgent;
  requireModelAvailable: RequireModelAvailable;
  /** Resolves the images, recordings and documents of an edited input's messages. */
  mediaOf(viewer: Viewer, param: string, agentId: string): ShownMedia;
  requirePrice: RequirePrice;
  now: () => number;
}) {
  /** Starts or queues a fork; it is durable when this resolves. */
  async function fork(viewer: Viewer, id: string, body: ForkRun, requestId: string, note?: Note): Promise<ShownRun> {
    const yieldTurn = createYielder();
    const source = await readReplaySource({ journal, runs }, viewer, id, yieldTurn);
    const { created } = source;
    const isForeign = body.agent !== "current" && (created.imported || created.foreign_agent) === true;
    const agent = await agentFor(viewer, source, body, isForeign);
    if (isForeign && body.tools !== "recorded_only") throw validationError([notHere]);
    const { model, models = [] } = body.edits ?? {};
    if (model !== undefined) await requireModelAvailable(model, "edits.model");
    for (const [index, each] of models.entries()) await requireModelAvailable(each, `edits.models[${index}]`);
    requirePrice(viewer, agent, tightestBudget(agent.budget, body.budget));
    const media = mediaOf(viewer, "edits.input", agent.id);
    const { prefix, edits } = await prepareFork(source, agent, body, isForeign, media, yieldTurn);
    const asked = edits.asked ?? inputOf(created);
    requireTaken(agent.model, asked);
    const file_ids = withFilesOf(filesBeside(created), asked);
    const run: RunCreated = {
      ...creationEvent(created, agent, body, prefix),
      ...(isForeign ? { foreign_agent: true } : preparation({ ...created, file_ids }, agent, body.step_index, prefix)),
      ...asked,
      ...runVariables(agent, { request: body.edits?.variables, before: created.variables }, "edits.variables"),
      file_ids,
      ...keyOf(viewer),
      request_id: requestId,
      agent_hash: journal.hashOf(agent),
      ...pinnedModels(agent, viewer.environment, { priceOf, windowOf, fallbacksOf }),
    };
    const at = now();
    await yieldTurn(); // Each of the next steps reads every entry.
    const record = shiftRecord(at, prefix, run);
    const before = await foldInSlices(record, yieldTurn);
    await yieldTurn();
    const own = ownEvents(before, agent, edits, { step: body.step_index, finish: lastFinish(record), at });
    const begun = withFollowUp(before, own, agent, at);
    const isOverAtOnce = isOver(applyAll(before, begun, at).status);
    if (isOverAtOnce) requireFollower(body);
    return begin(
      viewer,
      { agent, record, before, own, begun, media, isOverAtOnce, at },
      body.on_concurrency_limit,
      note,
    );
  }

  async function agentFor(
    viewer: Viewer,
    { created, pinned }: ReplaySource,
    { agent, edits = {} }: ForkRun,
    isForeign: boolean,
  ): Promise<AgentSnapshot> {
    const { instructions, models } = edits;
    const checked = (each: AgentSnapshot) => editAgent(viewer, each, { model: each.model, models: each.models });
    const isNamed = edits.model !== undefined || models !== undefined;
    // The agent of an imported run was chosen by its importer, so its model must be one that this key may use.
    if (agent !== "current") {
      const edited = editAgent(viewer, pinned, {
        instructions,
        model: isForeign && !isNamed ? pinned.model : edits.model,
        models,
      });
      return isForeign && pinned.team ? { ...edited, team: pinned.team.map(checked) } : edited;
    }
    const key = created.thread_id ?? created.user_id ?? created.run_id;
    const current = await snapshot(viewer, created.agent_id, key).catch((error) => {
      throw explainMissingAgent(error);
    });
    requireScopeIds(current, created);
    return editAgent(viewer, withToolsOf(current, pinned), { instructions, model: edits.model, models });
  }

  async function begin(
    viewer: Viewer,
    { agent, record, before, own, begun, media, isOverAtOnce, at }: Beginning,
    on_concurrency_limit: ForkRun["on_concurrency_limit"],
    note: Note | undefined,
  ): Promise<ShownRun> {
    const [first, copiedEntries] = [firstItem(record), record.slice(1)];
    const run_id = newId("run", now()); // Created at the write, because queued runs begin in the order of their ids.
    const run = { ...createdEvent([first]), run_id };
    let events: RunEvent[] = begun;
    const insert = (): Inserted[] => {
      requireReplaySource(runs, viewer, requireValue(run.forked_from, "The source of a fork").run_id); // It may have been deleted in the meantime.
      // A run that is over at once takes no slot.
      const queue_position = isOverAtOnce ? null : queue.place(viewer, on_concurrency_limit);
      const isQueued = queue_position !== null;
      if (isQueued) events = [{ type: "run.queued", queue_position }, ...own];
      const created = { ...run, type: "run.created" as const, ...(isQueued && { queued: true as const }) };
      const all = [{ ...first, event: created }, ...copiedEntries, ...events.map((event) => ({ at, event }))];
      const inserted = journal.insertRecord(run_id, all);
      journal.pin(viewer, run_id, agent);
      media.keep({ run_id });
      note?.(runs.standing(viewer, run_id), 0);
      return [[run_id, inserted]];
    };
    const [[, history] = [run_id, []]] = await journal.commitRecords([[run_id, record]], insert, viewer);
    media.kept();
    const state = applyAll({ ...before, run: { ...before.run, run_id } }, events, at);
    const answer = serializeState(state, runs.expiry(run_id));
    if (state.status === "queued") queue.wait(viewer);
    else pool.start(run_id, { history, agent });
    return answer;
  }

  return fork;
}

/** A fork, not yet written: the copied record and its own first events. */
interface Beginning {
  agent: AgentSnapshot;
  record: JournalEntry[];
  before: RunState;
  own: RunEvent[];
  /** `own` and the events that follow at once. */
  begun: RunEvent[];
  media: ShownMedia;
  isOverAtOnce: boolean;
  at: number;
}

/** Throws for edits that apply after the step if nothing follows it, because they would silently change nothing. */
function requireFollower({ step_index, edits = {} }: ForkRun): void {
  const ineffective = (["instructions", "model", "models", "input", "variables"] as const).filter(
    (name) => edits[name] !== undefined,
  );
  const said = `The run ends with step ${step_index}, so this edit would change nothing. Choose an earlier step, or -1 to start over.`;
  throwIfInvalid(ineffective.map((name) => fault(`edits.${name}`, said)));
}

/** Returns the record's part of the fork and the edits, screened by the fork's agent. */
async function prepareFork(
  { entries, created }: ReplaySource,
  agent: AgentSnapshot,
  body: ForkRun,
  isForeign: boolean,
  media: ShownMedia,
  rest: () => Promise<void>,
): Promise<{ prefix: Prefix; edits: ReadEdits }> {
  const { step_index: step } = body;
  const state = await foldInSlices(entries, rest).catch((error) => {
    throw damagedRecordError(error);
  });
  // Another agent screens the record's input with its own guardrails.
  const allEdits = { ...(body.agent === "current" && { input: toRequestInput(created) }), ...body.edits };
  // Images and files in the record need not exist any more.
  const recordedFiles = new Map(mediaIn(inputOf(created)).map((file) => [file.file_id, { filename: "", ...file }]));
  const of: MediaOf = (part, path) => recordedFiles.get(part.file_id ?? "") ?? media.of(part, path);
  const edits = await readEdits(allEdits, toolOf(state, step), agent, { ...media, of });
  // Another agent also screens the documents.
  const documents = step < 0 && edits.asked !== null && !isForeign;
  return { prefix: await forkable(entries, step, { ...edits.prefix, documents }, state, rest), edits };
}

/** Returns the files of a run that no message of its input names. */
function filesBeside(run: RunCreated): string[] {
  const named = new Set(filesIn(run).map(({ file_id }) => file_id));
  return run.file_ids.filter((id) => !named.has(id));
}

/** Returns a run's input from its record. */
const inputOf = ({ input, earlier, ...run }: RunCreated): RecordedInput => ({
  input,
  ...mediaOfMessage(run),
  ...(earlier && { earlier }),
});

/** Returns the tool called at a step; null if the step is no tool call. */
const toolOf = ({ calls }: RunState, step: number): string | null =>
  calls.find(({ step_index }) => step_index === step)?.tool ?? null;

/** Throws a validation error that names the wrong parameter. */
function forkable(
  entries: readonly JournalEntry[],
  step: number,
  edits: PrefixEdits,
  state: RunState,
  rest: () => Promise<void>,
): Promise<Prefix> {
  return prefixInSlices(entries, step, edits, state, rest).catch((error) => {
    throw error instanceof CannotFork ? invalid(error.param, error.message) : error;
  });
}

const notHere = fault("tools", "The run was imported, and its tools do not exist here: expected recorded_only.");

/** Returns the fork's creation event: same user and session, no thread or parent; time and budget start anew. */
function creationEvent(
  source: RunCreated,
  agent: AgentSnapshot,
  { step_index, tools = "live", budget, timeout_ms, action_timeout_ms, on_disconnect, metadata }: ForkRun,
  { entries, later }: Prefix,
): Omit<RunCreated, "input"> {
  const { project_id, environment, session_id, user_id, file_ids, message_id, run_id, agent_hash } = source;
  // A child run's timeout was its parent's remaining time.
  const time = source.parent_run_id === null ? source.timeout_ms : limits.run_timeout_ms;
  return {
    // Replaced by the fork's own id at the write.
    run_id,
    project_id,
    environment,
    session_id,
    user_id,
    file_ids,
    message_id,
    agent_hash,
    agent_id: agent.id,
    agent_version: agent.version,
    model: agent.model,
    max_turns: agent.max_turns,
    timeout_ms: timeout_ms ?? time,
    action_timeout_ms: action_timeout_ms ?? source.action_timeout_ms,
    on_disconnect: on_disconnect ?? "continue",
    thread_id: null,
    parent_run_id: null,
    budget: tightestBudget(agent.budget, budget),
    metadata: metadata ?? source.metadata,
    request_id: null,
    forked_from: { run_id, step_index },
    recorded_to: entries.length + 1,
    recorded_ms: timeOf(entries),
    ...(tools !== "live" && { recorded: { mode: tools, calls: later } }),
  };
}

/** Returns the total latency of a record's steps in ms, without waits. */
const timeOf = (entries: Prefix["entries"]): number =>
  entries.reduce((sum, { event }) => sum + (event.type === "step.completed" ? (event.latency_ms ?? 0) : 0), 0);

/** Returns what is still to be fetched: no history, because a fork has no thread; what the record has stays. */
function preparation(
  { prepare = [], file_ids }: RunCreated,
  agent: AgentSnapshot,
  step: number,
  { entries }: Prefix,
): Pick<RunCreated, "prepare"> {
  if (step < 0) return preModelSteps(agent, { thread_id: null, file_ids });
  const isLoaded = entries.some(({ event }) => event.type === "history.loaded");
  const remaining = prepare.filter((what) => what !== "history" || isLoaded);
  return remaining.length > 0 ? { prepare: remaining } : {};
}

/** Shifts the record in time so that it ends when the fork begins. */
function shiftRecord(at: number, { created_at, entries }: Prefix, run: RunCreated): JournalEntry[] {
  const later = at - (entries.at(-1)?.at ?? created_at);
  const first = { at: created_at, event: { type: "run.created", ...run } } as const;
  return [first, ...entries].map(({ at, event }, index) => ({ seq: index + 1, at: at + later, event }));
}

/** Returns the fork's own events: findings for the edits, and calls that have no result in the record. */
function ownEvents(
  state: RunState,
  agent: AgentSnapshot,
  { findings }: ReadEdits,
  { step, finish, at }: { step: number; finish: FinishReason | null; at: number },
): RunEvent[] {
  const requestedCalls =
    ownMessages(state)
      .findLast((message) => message.role === "assistant")
      ?.parts.filter(isCall) ?? [];
  const about = (of: readonly Finding[], tool_call_id: string | undefined): Finding[] =>
    of.map((finding) => ({ ...finding, tool_call_id: tool_call_id ?? null }));
  const edited = state.calls.find(({ step_index }) => step_index === step);
  const decisionEvents = decidedEvents(
    [
      ...findings.input,
      ...about(findings.tool_output, edited?.id),
      ...findings.said,
      ...findings.calls.flatMap((of, place) => about(of, requestedCalls[place]?.id)),
    ],
    state.steps,
    Math.max(0, state.turns - 1),
  );
  const screenedState = applyAll(state, decisionEvents, at);
  const remainingCalls = requestedCalls.filter(({ id }) => !state.calls.some((call) => call.id === id));
  return [
    ...decisionEvents,
    ...requestCalls(remainingCalls, screenedState, agent, { words: wordsOf(screenedState.decisions), finish }),
  ];
}

/** Returns the finish reason of the last model call in the record. */
function lastFinish(record: readonly JournalEntry[]): FinishReason | null {
  const last = record.findLast(({ event }) => event.type === "step.completed" && event.step_type === "model_call");
  return last?.event.type === "step.completed" ? (last.event.answer?.finish ?? null) : null;
}

const isCall = (part: AssistantPart) => part.type === "tool_call";
