import type { AgentEdits } from "../agents/schema.ts";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { tightest } from "../core/budget.ts";
import { withFollowUp } from "../core/decide.ts";
import { foldInSlices } from "../core/fold-in-slices.ts";
import { CannotFork, type Prefix, type PrefixEdits, prefixInSlices } from "../core/fork.ts";
import { decidedEvents, type Finding } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { AssistantPart, FinishReason } from "../core/model-call.ts";
import { preparationsOf } from "../core/preparations.ts";
import type { ModelPrice } from "../core/price.ts";
import { requestCalls, wordsOf } from "../core/request-calls.ts";
import type { JournalEntry, RunCreated, RunEvent } from "../core/run-event.ts";
import { type Asked, givenOf, type ImageOf, imagesIn, type ShownImages } from "../core/run-input.ts";
import { applyAll, isOver, ownMessages, type RunState } from "../core/run-state.ts";
import { keyOf, type Viewer } from "../http/auth.ts";
import { fault, invalid, refuse, validationError } from "../http/errors.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import { inSlices } from "../lib/slices.ts";
import { type ReadEdits, readEdits } from "./fork-edits.ts";
import type { ForkRun } from "./fork-schema.ts";
import type { Pool } from "./pool.ts";
import type { createRunQueue } from "./queue.ts";
import { withToolsOf } from "./request-tools.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { damaged, namedAgent, requireRecord, type SourceRecord, sourceRecord } from "./source-record.ts";
import { type Note, type RunStore, type ShownRun, shownAs } from "./store.ts";

/** An agent as a run has pinned it, for another run that has this different; throws where its model is not available. */
export type EditAgent = (viewer: Viewer, agent: AgentSnapshot, edits: AgentEdits) => AgentSnapshot;

/** Throws where a model that a request names in `param` cannot be reached now. */
export type RequireThere = (model: string, param: string) => Promise<void>;

/**
 * Runs that go on from a step of another one's record, with something changed. What stands in the record is theirs from
 * the first entry on: it is never done again, nor paid for, and the record may be deleted afterwards.
 */
export function createForks({
  journal,
  runs,
  queue,
  pool,
  snapshot,
  editAgent,
  requireThere,
  imagesOf,
  priceOf,
  windowOf,
  now,
}: {
  journal: Journal;
  runs: RunStore;
  queue: Pick<ReturnType<typeof createRunQueue>, "place" | "wait">;
  pool: Pick<Pool, "start">;
  /** The agent as a run of this scope would pin it now. */
  snapshot(viewer: Viewer, agentId: string): Promise<AgentSnapshot>;
  editAgent: EditAgent;
  requireThere: RequireThere;
  /** The images that an edited input's messages show. */
  imagesOf(viewer: Viewer, param: string, agentId: string): ShownImages;
  priceOf(model: string): ModelPrice | null;
  windowOf(model: string): number | null;
  now: () => number;
}) {
  /** Starts or queues a fork: acknowledged means durable. */
  async function fork(viewer: Viewer, id: string, body: ForkRun, requestId: string, note?: Note): Promise<ShownRun> {
    const rest = inSlices();
    const source = await sourceRecord({ journal, runs }, viewer, id, rest);
    const { created } = source;
    const isForeign = body.agent !== "current" && (created.imported || created.foreign_agent) === true;
    const agent = await agentFor(viewer, source, body, isForeign);
    if (isForeign && body.tools !== "recorded_only") throw validationError([notHere]);
    if (body.edits?.model) await requireThere(body.edits.model, "edits.model");
    const images = imagesOf(viewer, "edits.input", agent.id);
    const { prefix, edits } = await takenOver(source, agent, body, isForeign, images, rest);
    const run: RunCreated = {
      ...forked(created, agent, body, prefix),
      ...(isForeign ? { foreign_agent: true } : preparation(created, agent, body.step_index, prefix)),
      ...(edits.asked ?? askedIn(created)),
      ...keyOf(viewer),
      request_id: requestId,
      agent_hash: journal.hashOf(agent),
      price: priceOf(agent.model),
      context_window: windowOf(agent.model),
    };
    const at = now();
    await rest(); // Each of these looks at every entry.
    const record = endingAt(at, prefix, run);
    const before = await foldInSlices(record, rest);
    await rest();
    const own = ownEvents(before, agent, edits, { step: body.step_index, finish: lastFinish(record), at });
    const begun = withFollowUp(before, own, agent, at);
    const isOverAtOnce = isOver(applyAll(before, begun, at).status);
    if (isOverAtOnce) requireFollower(body);
    return begin(
      viewer,
      { agent, record, before, own, begun, images, isOverAtOnce, at },
      body.on_concurrency_limit,
      note,
    );
  }

  async function agentFor(
    viewer: Viewer,
    { created, pinned }: SourceRecord,
    { agent, edits = {} }: ForkRun,
    isForeign: boolean,
  ): Promise<AgentSnapshot> {
    const { instructions, model } = edits;
    // A foreign agent was chosen by whoever imported it: its model is one that this key may use, or none.
    if (agent !== "current")
      return editAgent(viewer, pinned, { instructions, model: isForeign ? (model ?? pinned.model) : model });
    const current = await snapshot(viewer, created.agent_id).catch((error) => {
      throw namedAgent(error);
    });
    requireScopeIds(current, created);
    return editAgent(viewer, withToolsOf(current, pinned), { instructions, model });
  }

  async function begin(
    viewer: Viewer,
    { agent, record, before, own, begun, images, isOverAtOnce, at }: Beginning,
    on_concurrency_limit: ForkRun["on_concurrency_limit"],
    note: Note | undefined,
  ): Promise<ShownRun> {
    const [first, ...rest] = record as [JournalEntry, ...JournalEntry[]];
    const run_id = newId("run", now()); // In the order of the writes: those that wait begin in the order of their ids.
    const run = { ...before.run!, run_id };
    let events: RunEvent[] = begun;
    const insert = (): Inserted[] => {
      requireRecord(runs, viewer, run.forked_from!.run_id); // It may have been deleted in the meantime.
      // What is over at once takes nobody's slot.
      const queue_position = isOverAtOnce ? null : queue.place(viewer, on_concurrency_limit);
      const isQueued = queue_position !== null;
      if (isQueued) events = [{ type: "run.queued", queue_position }, ...own];
      const created = { ...run, type: "run.created" as const, ...(isQueued && { queued: true as const }) };
      const all = [{ ...first, event: created }, ...rest, ...events.map((event) => ({ at, event }))];
      const inserted = journal.insertRecord(run_id, all);
      journal.pin(viewer, run_id, agent);
      images.keep({ run_id });
      note?.(runs.standing(viewer, run_id), 0);
      return [[run_id, inserted]];
    };
    const [[, history] = [run_id, []]] = await journal.commitRecords([[run_id, record]], insert, viewer);
    const state = applyAll({ ...before, run }, events, at);
    const answer = shownAs(state, runs.expiry(run_id));
    if (state.status === "queued") queue.wait(viewer);
    else pool.start(run_id, { history, agent });
    return answer;
  }

  return fork;
}

/** What a fork begins with: what it has of its record, and what is its own. */
interface Beginning {
  agent: AgentSnapshot;
  record: JournalEntry[];
  before: RunState;
  own: RunEvent[];
  /** These, and what follows from them at once. */
  begun: RunEvent[];
  images: ShownImages;
  isOverAtOnce: boolean;
  at: number;
}

/** Throws for edits of what follows a step, where nothing does: they would change nothing in silence. */
function requireFollower({ step_index, edits = {} }: ForkRun): void {
  const idle = (["instructions", "model", "input"] as const).filter((name) => edits[name] !== undefined);
  const said = `The run ends with step ${step_index}, so this edit would change nothing. Choose an earlier step, or -1 to start over.`;
  refuse(idle.map((name) => fault(`edits.${name}`, said)));
}

/** What a fork has of a record, and what it has different, as the guardrails of its agent leave that. */
async function takenOver(
  { entries, created }: SourceRecord,
  agent: AgentSnapshot,
  body: ForkRun,
  isForeign: boolean,
  images: ShownImages,
  rest: () => Promise<void>,
): Promise<{ prefix: Prefix; edits: ReadEdits }> {
  const { step_index: step } = body;
  const state = await foldInSlices(entries, rest).catch((error) => {
    throw damaged(error);
  });
  // Another agent looks at the record's input by guardrails of its own.
  const asked = { ...(body.agent === "current" && { input: givenOf(created) }), ...body.edits };
  // What the record shows already need not be there any more.
  const shown = new Map(imagesIn(askedIn(created)).map((image) => [image.file_id, image]));
  const imageOf: ImageOf = (part, path) => shown.get(part.file_id ?? "") ?? images.of(part, path);
  const edits = await readEdits(asked, toolOf(state, step), agent, imageOf);
  // And so does it at the documents that it begins with.
  const documents = step < 0 && edits.asked !== null && !isForeign;
  return { prefix: await forkable(entries, step, { ...edits.prefix, documents }, state, rest), edits };
}

/** What a run was asked, as its record has it. */
const askedIn = ({ input, images, earlier }: RunCreated): Asked => ({
  input,
  ...(images && { images }),
  ...(earlier && { earlier }),
});

/** The tool whose call a step is, as far as it is one. */
const toolOf = ({ calls }: RunState, step: number): string | null =>
  calls.find(({ step_index }) => step_index === step)?.tool ?? null;

/** Throws with the parameter that is wrong. */
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

/** A run of its own, for whom the source was, of no thread and with no parent; its time and its budget begin anew. */
function forked(
  source: RunCreated,
  agent: AgentSnapshot,
  { step_index, tools = "live", budget, timeout_ms, action_timeout_ms, on_disconnect, metadata }: ForkRun,
  { entries, later }: Prefix,
): Omit<RunCreated, "input"> {
  const { project_id, environment, session_id, user_id, file_ids, message_id, run_id, agent_hash } = source;
  // What a child run got was the rest of its parent's time.
  const time = source.parent_run_id === null ? source.timeout_ms : limits.run_timeout_ms;
  return {
    // Its own id comes with the write.
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
    budget: tightest(agent.budget, budget),
    metadata: metadata ?? source.metadata,
    request_id: null,
    forked_from: { run_id, step_index },
    recorded_to: entries.length + 1,
    recorded_ms: timeOf(entries),
    ...(tools !== "live" && { recorded: { mode: tools, calls: later } }),
  };
}

/** How long the steps of a record took, without what they waited. */
const timeOf = (entries: Prefix["entries"]): number =>
  entries.reduce((sum, { event }) => sum + (event.type === "step.completed" ? (event.latency_ms ?? 0) : 0), 0);

/** What is still to be fetched: no history, since a fork is in no thread; what the record has of it stays. */
function preparation(
  { prepare = [], file_ids }: RunCreated,
  agent: AgentSnapshot,
  step: number,
  { entries }: Prefix,
): Pick<RunCreated, "prepare"> {
  if (step < 0) return preparationsOf(agent, { thread_id: null, file_ids });
  const isLoaded = entries.some(({ event }) => event.type === "history.loaded");
  const left = prepare.filter((what) => what !== "history" || isLoaded);
  return left.length > 0 ? { prepare: left } : {};
}

/** The record with its own durations, so that it ends where the fork begins. */
function endingAt(at: number, { created_at, entries }: Prefix, run: RunCreated): JournalEntry[] {
  const later = at - (entries.at(-1)?.at ?? created_at);
  const first = { at: created_at, event: { type: "run.created", ...run } } as const;
  return [first, ...entries].map(({ at, event }, index) => ({ seq: index + 1, at: at + later, event }));
}

/** What is the fork's own: what guardrails say of the edits, and the calls that the record has no result for. */
function ownEvents(
  state: RunState,
  agent: AgentSnapshot,
  { findings }: ReadEdits,
  { step, finish, at }: { step: number; finish: FinishReason | null; at: number },
): RunEvent[] {
  const asked =
    ownMessages(state)
      .findLast((message) => message.role === "assistant")
      ?.parts.filter(isCall) ?? [];
  const about = (of: readonly Finding[], tool_call_id: string | undefined): Finding[] =>
    of.map((finding) => ({ ...finding, tool_call_id: tool_call_id ?? null }));
  const edited = state.calls.find(({ step_index }) => step_index === step);
  const decided = decidedEvents(
    [
      ...findings.input,
      ...about(findings.tool_output, edited?.id),
      ...findings.said,
      ...findings.calls.flatMap((of, place) => about(of, asked[place]?.id)),
    ],
    state.steps,
    Math.max(0, state.turns - 1),
  );
  const screened = applyAll(state, decided, at);
  const left = asked.filter(({ id }) => !state.calls.some((call) => call.id === id));
  return [...decided, ...requestCalls(left, screened, agent, { words: wordsOf(screened.decisions), finish })];
}

/** How the newest answer of a record ended. */
function lastFinish(record: readonly JournalEntry[]): FinishReason | null {
  const last = record.findLast(({ event }) => event.type === "step.completed" && event.step_type === "model_call");
  return last?.event.type === "step.completed" ? (last.event.answer?.finish ?? null) : null;
}

const isCall = (part: AssistantPart) => part.type === "tool_call";
