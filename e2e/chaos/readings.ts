import type { Json, Runnel } from "../harness.ts";
import type { RecordedRun, Row } from "./record.ts";

// Reads the journal by independent rules, because the server's own fold is under test.

const ends: { [type: string]: string } = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
};

export const isEnd = ({ type }: Row): boolean => type in ends;
export const isStart = ({ type }: Row): boolean => type === "step.started" || type === "step.restarted";
export const isStep = ({ type }: Pick<Row, "type">): boolean => type === "step.completed";

const isModelStep = ({ event }: Row): boolean => event.step_type === "model_call";

/** Returns the `step_index` of each turn, in order. */
export const modelSteps = (rows: readonly Row[]): number[] =>
  rows.filter((row) => row.type === "step.started" && isModelStep(row)).map(({ event }) => event.step_index);

/**
 * Returns the calls with a recorded result, by id, and the turns with a recorded answer, by the run's input and turn
 * number.
 */
export function resultsOf(runs: Iterable<RecordedRun>): { calls: Set<string>; turns: Set<string> } {
  const results = { calls: new Set<string>(), turns: new Set<string>() };
  for (const { rows } of runs) {
    for (const { type, event } of rows) if (type === "tool.completed") results.calls.add(event.tool_call_id);
    const answers = rows.filter((row) => isStep(row) && isModelStep(row));
    for (const turn of answers.keys()) results.turns.add(turnName(inputOf(rows), turn));
  }
  return results;
}

export const inputOf = (rows: readonly Row[]): string => rows[0]!.event.input;
export const turnName = (input: string, turn: number): string => `${input}: turn ${turn}`;

/** Inputs of a storm's runs begin with this word, so that they differ from messages and notes. */
export const inputWord = "run";

/** Returns the turn of a model request. The runs before it in its thread have inputs and answers of their own. */
export function turnOf({ messages }: { messages: Json[] }): string {
  const isInput = ({ role, content }: Json) => role === "user" && String(content).startsWith(`${inputWord} `);
  const at = messages.findLastIndex(isInput);
  const answers = messages.slice(at).filter(({ role }) => role === "assistant");
  return turnName(messages[at].content, answers.length);
}

/** Returns the text of each turn by the `seq` of its start, which its deltas refer to. */
export function textsOf(rows: readonly Row[]): Map<number, string> {
  const texts = new Map<number, string>();
  for (const row of rows.filter((row) => isStep(row) && isModelStep(row) && row.event.answer)) {
    const start = rows.findLast((one) => isStart(one) && one.event.step_index === row.event.step_index)!;
    const said = row.event.answer.parts.map((part: Json) => (part.type === "text" ? part.text : "")).join("");
    if (said !== "") texts.set(start.seq, said);
  }
  return texts;
}

/** Finds partial transactions: half a result, an answer without its calls, an outdated row. */
export function tornOf({ id, status, seq, rows }: RecordedRun): string[] {
  const steps = new Set(rows.filter(isStep).map(({ event }) => event.step_index));
  const results = new Set(rows.filter(({ type }) => type === "tool.completed").map(({ event }) => event.step_index));
  const asked = new Set(rows.filter(({ type }) => type === "tool.requested").map(({ event }) => event.call.id));
  const faults: string[] = [];
  for (const step of results) if (!steps.has(step)) faults.push(`step ${step} has a result and no end`);
  for (const { event } of rows.filter(isStep)) {
    if (event.step_type === "tool_call" && !results.has(event.step_index))
      faults.push(`step ${event.step_index} has an end and no result`);
    for (const part of event.answer?.parts ?? [])
      if (part.type === "tool_call" && !asked.has(part.id)) faults.push(`${part.id} was asked for and is not there`);
  }
  if (seq !== rows.length) faults.push(`the row is at ${seq} and the journal at ${rows.length}`);
  if (status !== statusOf(rows)) faults.push(`the row says ${status} and the journal ${statusOf(rows)}`);
  return faults.map((text) => `${id}: ${text}`);
}

/** Statuses after events that do not end a run. */
const standings: Record<string, string> = {
  "run.requires_action": "requires_action",
  "run.resumed": "in_progress",
  "run.paused": "paused",
  "run.queued": "queued",
  "run.started": "in_progress",
};

function statusOf(rows: readonly Row[]): string {
  const last = rows.findLast(({ type }) => type in ends || type in standings);
  if (!last) return "in_progress";
  return ends[last.type] ?? standings[last.type]!;
}

/** Returns a run's events as the API lists them. */
export async function listEvents(server: Runnel, id: string): Promise<{ event: string; data: Json }[]> {
  const events: { event: string; data: Json }[] = [];
  for (let more = true; more; ) {
    const after = events.length > 0 ? `&starting_after=${events.length}` : "";
    const { body } = await server.get(`/v1/runs/${id}/events?limit=100${after}`);
    events.push(...body.data.map(({ event, data }: Json) => ({ event, data })));
    more = body.has_more;
  }
  return events;
}

export function countBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
