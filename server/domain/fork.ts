import { firstItem } from "../lib/collections.ts";
import { equalJson } from "./equal.ts";
import { newId } from "./ids.ts";
import { interruptedCode } from "./interruption.ts";
import type { AssistantPart } from "./model-call.ts";
import { missingSeq, usedPositions } from "./replay-lookup.ts";
import { cutOffCode } from "./request-calls.ts";
import type { JournalEntry, ModelAnswer, RecordedCall, RunEvent, StepCompleted, ToolError } from "./run-event.ts";
import { fold, isResolved, type RunState, type ToolCall } from "./run-state.ts";
import { stepKinds } from "./step-kinds.ts";
import { noUsage, tokensOf } from "./usage.ts";

/** Changes that a fork makes to the recorded entries. */
export interface PrefixEdits {
  /** New result of the tool call at the fork's step. */
  tool_output?: { output: unknown; error: ToolError | null };
  /** New answer of the model call at the fork's step. */
  model_output?: { content: string; tool_calls: { name: string; arguments: Record<string, unknown> }[] };
  /** True if the run's input is changed, which voids its guardrail decisions. */
  input?: boolean;
  /** True if the run's documents are fetched again. */
  documents?: boolean;
}

/** Beginning of a fork, taken from the source run. */
export interface Prefix {
  /** Start time of the source run. */
  created_at: number;
  /** In recorded order, each with its recorded time; without `run.created`. */
  entries: Omit<JournalEntry, "seq">[];
  /** Recorded results that are not among the entries, in the order of their requests. */
  later: RecordedCall[];
}

/** Error of an impossible fork; `param` is the invalid field of the request. */
export class CannotFork extends Error {
  constructor(
    readonly param: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns the part of a record that a fork keeps: everything up to and including a step, and all results of the same
 * answer, so that no call is repeated. Calls of that answer without a result are requested again under new ids. `step`
 * -1 is the start. Throws {@link CannotFork}. `state` is the fold of the record.
 */
export function prefixOf(
  entries: readonly JournalEntry[],
  step: number,
  edits: PrefixEdits = {},
  state: RunState = fold(entries),
): Prefix {
  const prefixSteps = makePrefix(entries, step, edits, state);
  for (;;) {
    const { done, value } = prefixSteps.next();
    if (done) return value;
  }
}

/** Like `prefixOf`, for a long record: `rest` is called after each entry and may yield. */
export async function prefixInSlices(
  entries: readonly JournalEntry[],
  step: number,
  edits: PrefixEdits,
  state: RunState,
  rest: () => Promise<void>,
): Promise<Prefix> {
  const making = makePrefix(entries, step, edits, state);
  for (;;) {
    const { done, value } = making.next();
    if (done) return value;
    await rest();
  }
}

function* makePrefix(
  entries: readonly JournalEntry[],
  step: number,
  edits: PrefixEdits,
  state: RunState,
): Generator<void, Prefix, void> {
  const end = step < 0 ? null : endOf(entries, step);
  requireFit(end?.event ?? null, edits);
  const turn = end && turnOf(entries, state, end, edits);
  const events: JournalEntry[] = [];
  const place = new Map([[1, 1]]);
  // Results of the step's answer may come after a message, which then belongs to the fork as well.
  const until = Math.max(end?.seq ?? 0, entries.findLast(({ event }) => callOf(event, turn))?.seq ?? 0);
  for (const entry of entries) {
    const { seq, event } = entry;
    if (seq > 1 && isKept(seq, event, entries, end, turn, edits, until)) place.set(seq, events.push(entry) + 1);
    yield;
  }
  const own: Prefix["entries"] = [];
  for (const { at, event } of events) {
    own.push({ at, event: applyEdits(renumber(event, place), step, turn, edits) });
    yield;
  }
  const later = [...laterCalls(entries, place), ...unusedCalls(state)];
  return { created_at: firstItem(entries).at, entries: own, later };
}

type Completed = Extract<RunEvent, { type: "step.completed" }>;

interface End {
  seq: number;
  event: Completed;
}

/** The answer that the step belongs to, and its calls. */
interface Turn {
  answer: End;
  parts: AssistantPart[];
  /** Calls that keep their results, by id. */
  kept: Map<string, ToolCall>;
  /** New ids of the other calls. */
  renamed: Map<string, string>;
}

function endOf(entries: readonly JournalEntry[], step: number): End {
  for (const { seq, event } of entries)
    if (event.type === "step.completed" && event.step_index === step) return { seq, event };
  const stepEntry = entries.find(
    ({ event }) => event.type !== "run.recovered" && "step_index" in event && event.step_index === step,
  );
  if (stepEntry?.event.type === "guardrail.decided")
    throw new CannotFork("step_index", `Step ${step} is a guardrail's check. Fork from the step that it checked.`);
  throw new CannotFork(
    "step_index",
    stepEntry
      ? `Step ${step} has not ended. Fork from an earlier step, or wait.`
      : `The run has no step ${step}. Its trace lists the steps.`,
  );
}

const isTool = ({ step_type }: StepCompleted): boolean => stepKinds[step_type].isCall === true;

function requireFit(event: Completed | null, { tool_output, model_output }: PrefixEdits): void {
  const name = event ? `Step ${event.step_index}` : "The start of a run";
  if (tool_output && !(event && isTool(event)))
    throw new CannotFork("edits.tool_output", `${name} is not a tool call: it has no tool output to edit.`);
  if (model_output && event?.step_type !== "model_call")
    throw new CannotFork("edits.model_output", `${name} is not a model call: it has no model output to edit.`);
  if (event && !isTool(event) && event.status !== "completed" && !model_output && !isOutcome(event))
    throw new CannotFork("step_index", `${name} did not complete. Fork from the step before it, or edit its output.`);
}

/**
 * True if the run went on after the step: with the compaction of a prompt that was refused, or with the message that
 * interrupted an answer.
 */
const isOutcome = ({ error }: Completed): boolean =>
  error?.code === "context_length_exceeded" || error?.code === interruptedCode;

function turnOf(entries: readonly JournalEntry[], state: RunState, end: End, edits: PrefixEdits): Turn | null {
  if (end.event.step_type !== "model_call" && !isTool(end.event)) return null;
  const answer = isTool(end.event) ? answerBehind(entries, state, end) : end;
  const { step_index } = end.event;
  const turnCalls = callsOf(answer.event.answer?.parts ?? []).flatMap(
    ({ id }) => state.calls.find((call) => call.id === id) ?? [],
  );
  const has = (call: ToolCall): boolean =>
    hasResult(call) || (edits.tool_output !== undefined && call.step_index === step_index);
  const own = turnCalls.find((call) => call.step_index === step_index);
  if (own && !has(own))
    throw new CannotFork(
      "step_index",
      `The tool call of step ${step_index} was cancelled. Fork from the step before it, or edit its output.`,
    );
  const parts = edits.model_output
    ? editedParts(edits.model_output, turnCalls.filter(has))
    : (answer.event.answer?.parts ?? []);
  const ids = new Set(callsOf(parts).map(({ id }) => id));
  const kept = new Map(turnCalls.flatMap((call) => (has(call) && ids.has(call.id) ? [[call.id, call] as const] : [])));
  const left = edits.model_output ? [] : turnCalls.filter((call) => !has(call));
  for (const { status, tool, step_index } of left)
    if (status === "running" || status === "unknown")
      throw new CannotFork(
        "step_index",
        `The result of ${tool} (step ${step_index}) is not known yet. Fork from an earlier step, or wait.`,
      );
  return { answer, parts, kept, renamed: new Map(left.map(({ id }) => [id, newId("tool_call")])) };
}

/** Returns the model call that requested the call of this step. */
function answerBehind(entries: readonly JournalEntry[], state: RunState, { event }: End): End {
  const turn_index = state.calls.find(({ step_index }) => step_index === event.step_index)?.turn_index;
  for (const { event: startEvent } of entries)
    if (
      startEvent.type === "step.started" &&
      startEvent.step_type === "model_call" &&
      startEvent.turn_index === turn_index
    )
      return endOf(entries, startEvent.step_index);
  throw new CannotFork(
    "step_index",
    `No model call of the run asked for step ${event.step_index}. Fork from another step.`,
  );
}

/** A call that was only cancelled with its run has no result. */
const hasResult = (call: ToolCall): boolean => isResolved(call) && call.status !== "cancelled";

const callsOf = (parts: readonly AssistantPart[]) => parts.filter((part) => part.type === "tool_call");

/** Matches edited calls to known calls with a result: equal ones are not made again. */
function editedParts(
  { content, tool_calls }: NonNullable<PrefixEdits["model_output"]>,
  known: readonly ToolCall[],
): AssistantPart[] {
  const left = [...known];
  const calls = tool_calls.map(({ name, arguments: args }): AssistantPart => {
    const found = left.findIndex((call) => call.tool === name && equalJson(call.arguments, args));
    const [known] = found === -1 ? [] : left.splice(found, 1);
    const id = known?.id ?? newId("tool_call");
    return { type: "tool_call", id, name, arguments: JSON.stringify(args) };
  });
  return [...(content === "" ? [] : [{ type: "text" as const, text: content }]), ...calls];
}

/** True if the fork keeps this entry. */
function isKept(
  seq: number,
  event: RunEvent,
  entries: readonly JournalEntry[],
  end: End | null,
  turn: Turn | null,
  edits: PrefixEdits,
  until: number,
): boolean {
  if (event.type === "run.steered") return end !== null && seq <= until;
  if (event.type.startsWith("run.")) return false;
  if (event.type === "guardrail.decided" && event.message_id !== undefined)
    return (
      end !== null &&
      handoffBefore(seq, entries) <= until &&
      entries.some((one) => one.seq <= until && isMessage(one.event, event.message_id))
    );
  const isWord = event.type === "guardrail.decided";
  // A decision about the input after a handoff belongs to its call.
  const isOfInput = isWord && event.guardrail.on === "input" && event.tool_call_id === null;
  // Documents of a message, and decisions about them, belong to the steps after it.
  if ((isOfInput || event.type === "documents.attached") && isLate(seq, entries)) return end !== null && seq <= until;
  if (isOfInput) return !edits.input;
  if (event.type === "history.loaded") return true;
  if (event.type === "documents.attached") return !edits.documents;
  if (!end) return false;
  const cut = (turn?.answer ?? end).seq;
  if (seq <= cut) return true;
  const call = callOf(event, turn);
  if (call && isWord && event.guardrail.on === "tool_output")
    return !(edits.tool_output && call.step_index === end.event.step_index);
  if (call) return true;
  return isWord && !edits.model_output && isDirectlyBehind(cut, seq, entries);
}

/** Returns the place of the handoff to the agent whose rules decided; 0 for the run's own agent. */
const handoffBefore = (seq: number, entries: readonly JournalEntry[]): number =>
  entries.slice(0, seq).findLast(({ event }) => event.type === "handoff.completed")?.seq ?? 0;

/** True after the first model call. */
const isLate = (seq: number, entries: readonly JournalEntry[]): boolean =>
  entries.slice(0, seq).some(({ event }) => event.type === "step.started" && event.step_type === "model_call");

const isMessage = (event: RunEvent, id: string | undefined): boolean =>
  event.type === "run.steered" && event.message_id === id;

/** Returns the kept call of an event. */
function callOf(event: RunEvent, turn: Turn | null): ToolCall | undefined {
  if (!turn) return undefined;
  if (event.type === "tool.requested") return turn.kept.get(event.call.id);
  if ("tool_call_id" in event && event.tool_call_id !== null) return turn.kept.get(event.tool_call_id);
  if (event.type !== "step.completed" && event.type !== "step.restarted") return undefined;
  return [...turn.kept.values()].find(({ step_index }) => step_index === event.step_index);
}

/** True if only guardrail decisions stand between the cut and this entry: they belong to the answer. */
function isDirectlyBehind(cut: number, seq: number, entries: readonly JournalEntry[]): boolean {
  return entries.slice(cut, seq).every(({ event }) => event.type === "guardrail.decided");
}

const renumber = (event: RunEvent, place: Map<number, number>): RunEvent =>
  event.type === "step.restarted" ? { ...event, discards: place.get(event.discards) ?? event.discards } : event;

function applyEdits(
  event: RunEvent,
  step: number,
  turn: Turn | null,
  { tool_output, model_output }: PrefixEdits,
): RunEvent {
  if (tool_output && event.type === "tool.completed" && event.step_index === step) {
    const { files: _, usage: __, by: ___, images: ____, ...rest } = event;
    return { ...rest, ...tool_output, status: tool_output.error ? "failed" : "completed", submitted: true };
  }
  if (tool_output && event.type === "step.completed" && event.step_index === step)
    return { ...event, status: tool_output.error ? "failed" : "completed" };
  if (event.type === "step.completed" && event.step_index === turn?.answer.event.step_index)
    return model_output
      ? withAnswer(event, turn.parts)
      : { ...event, answer: event.answer && withIds(event.answer, turn.renamed) };
  if (event.type === "tool.requested") {
    const { recorded: _, ...call } = event.call; // An index into the other run's recorded calls; this run gets its own.
    return { ...event, call };
  }
  if (event.type === "guardrail.decided" && event.tool_call_id !== null)
    return { ...event, tool_call_id: turn?.renamed.get(event.tool_call_id) ?? event.tool_call_id };
  return event;
}

/** Builds an answer with edited parts. It has no deltas, because it was never streamed. */
function withAnswer(event: Completed, parts: AssistantPart[]): Completed {
  const finish = callsOf(parts).length > 0 ? "tool_calls" : "stop";
  const answer: ModelAnswer = { ...(event.answer ?? emptyAnswer()), parts, deltas: [], finish };
  return { ...event, status: "completed", error: null, answer };
}

function emptyAnswer(): ModelAnswer {
  return {
    usage: tokensOf(noUsage),
    cost_usd: 0,
    estimated: false,
    parts: [],
    deltas: [],
    finish: null,
    time_to_first_token_ms: null,
    message_id: newId("message"),
  };
}

const withIds = (answer: ModelAnswer, ids: Turn["renamed"]): ModelAnswer => ({
  ...answer,
  parts: answer.parts.map((part) => (part.type === "tool_call" ? { ...part, id: ids.get(part.id) ?? part.id } : part)),
});

/** Matches by the model's own arguments, not by those that a person edited. */
function laterCalls(entries: readonly JournalEntry[], kept: ReadonlyMap<number, number>): RecordedCall[] {
  const requests = new Map<string, Pick<RecordedCall, "tool" | "arguments">>();
  const results = new Map<string, RecordedCall | null>();
  for (const { seq, event } of entries) {
    // "Not on record" is not a result.
    if (event.type === "tool.requested" && !requests.has(event.call.id) && event.call.recorded !== missingSeq) {
      requests.set(event.call.id, { tool: event.call.tool, arguments: event.call.arguments });
      results.set(event.call.id, null);
    }
    if (event.type !== "tool.completed" || event.status === "cancelled" || kept.has(seq)) continue;
    const { status, output, error, images, workspace } = event;
    // The model requested it again, so the result is that of the repeated call.
    const call = error?.code === cutOffCode ? undefined : requests.get(event.tool_call_id);
    if (!call) continue;
    const more = { ...(images && { images }), ...(workspace && { workspace }) };
    results.set(event.tool_call_id, { ...call, status, output, error, ...more });
  }
  return [...results.values()].filter((result) => result !== null);
}

/** Returns the recorded calls of the source run that this run has not used. */
function unusedCalls({ run, calls }: RunState): RecordedCall[] {
  const usedCalls = usedPositions(calls);
  return (run.recorded?.calls ?? []).filter((_, place) => !usedCalls.has(place));
}
