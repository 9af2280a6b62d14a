import type { AgentSnapshot } from "./agent-snapshot.ts";
import { divergence, type Found } from "./divergence.ts";
import { cutOffCode, requestCalls, wordsOf } from "./request-calls.ts";
import type { JournalEntry, RunEvent, ToolCompleted } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** An entry of a record, and all that was so before it. */
export interface Place {
  state: RunState;
  entry: JournalEntry;
  entries: readonly JournalEntry[];
  index: number;
  agent: AgentSnapshot;
}

type Answered = Extract<RunEvent, { type: "step.completed" }>;

/** Whether an answer asks for the same calls, with the same arguments and the same need for somebody. */
export function askedCalls({ state, entry, entries, index, agent }: Place, { answer, step_index }: Answered): Found[] {
  const behind = behindAnswer(entries, index);
  const recorded = requestsIn(behind, new Set(state.calls.map(({ id }) => id))).map((i) => callAt(behind, i, entry.at));
  const words = wordsOf(behind.flatMap(({ event }) => (event.type === "guardrail.decided" ? event : [])));
  // Earlier versions ran the calls of an answer that was cut off: such a record still replays.
  const isCut = behind.some(({ event }) => event.type === "tool.completed" && event.error?.code === cutOffCode);
  const finish = isCut ? (answer?.finish ?? null) : null;
  const events = requestCalls(answer?.parts ?? [], state, agent, { first: step_index + 1, words, finish });
  const actual = events.flatMap(({ type }, i) => (type === "tool.requested" ? [callAt(asEntries(events), i, 0)] : []));
  return Array.from({ length: Math.max(recorded.length, actual.length) }, (_, i) => {
    const [then, now] = [recorded[i] ?? null, actual[i] ?? null];
    const place = then?.step_index ?? step_index + 1 + i;
    const message = wrong(then?.told, now?.told);
    return divergence({ seq: then?.seq ?? entry.seq + 1 }, place, "tool_call", message, then?.told, now?.told);
  }).filter((found) => found !== null);
}

/** What follows an answer, up to the next one. */
function behindAnswer(entries: readonly JournalEntry[], index: number): JournalEntry[] {
  let end = index + 1;
  while (end < entries.length && !isOwnStep(entries[end]!)) end++;
  return entries.slice(index + 1, end);
}

/** The beginning of a step that no call of an answer is. */
const isOwnStep = ({ event }: JournalEntry): boolean => event.type === "step.started" && event.tool_call_id === null;

/** Where calls are asked for; not where one is asked for again, since it waits for somebody now. */
const requestsIn = (behind: readonly JournalEntry[], known: Set<string>): number[] =>
  behind.flatMap(({ event }, i) => {
    if (event.type !== "tool.requested" || known.has(event.call.id)) return [];
    known.add(event.call.id);
    return [i];
  });

const asEntries = (events: readonly RunEvent[]): JournalEntry[] => events.map((event) => ({ seq: 0, at: 0, event }));

interface Call {
  seq: number;
  step_index: number;
  told: Told;
}

type Told = Record<"id" | "tool" | "type" | "arguments" | "needs" | "recorded" | "refused", unknown>;

/** A request, and the error with which it was answered at once. */
function callAt(entries: readonly JournalEntry[], index: number, at: number): Call {
  const { seq, event } = entries[index]! as JournalEntry & { event: Extract<RunEvent, { type: "tool.requested" }> };
  const { id, step_index, tool, type, arguments: args, needs, recorded = null } = event.call;
  const result = entries[index + 2];
  const completed = result?.event.type === "tool.completed" && result.event.tool_call_id === id ? result.event : null;
  const refused = completed && result?.at === at && isRefusal(completed) ? completed.error!.code : null;
  // What is refused goes nowhere: what stands for its arguments was not always the same.
  return { seq, step_index, told: { id, tool, type, arguments: refused ? null : args, needs, recorded, refused } };
}

const refusals = new Set(["invalid_arguments", "tool_not_found", "guardrail_blocked", cutOffCode]);

const isRefusal = ({ attempts, submitted, error, latency_ms }: ToolCompleted): boolean =>
  attempts === 0 && latency_ms === 0 && !submitted && error !== null && refusals.has(error.code);

function wrong(then: Told | undefined, now: Told | undefined): string {
  if (!then) return `${now?.tool} is called, and the record has no such call.`;
  if (!now) return `${then.tool} is not called any more.`;
  const fields = Object.keys(then).filter(
    (field) => !Bun.deepEquals(then[field as keyof Told], now[field as keyof Told]),
  );
  return `The call of ${then.tool} is not the same: ${fields.join(", ")}.`;
}
