import type { AgentSnapshot } from "./agent-snapshot.ts";
import { divergence, type LocatedDivergence } from "./divergence.ts";
import { cutOffCode, requestCalls, wordsOf } from "./request-calls.ts";
import type { JournalEntry, RunEvent, ToolCompleted } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** An entry of a record, and the state before it. */
export interface CallPosition {
  state: RunState;
  entry: JournalEntry;
  entries: readonly JournalEntry[];
  index: number;
  agent: AgentSnapshot;
}

type Answered = Extract<RunEvent, { type: "step.completed" }>;

/** Compares the calls that an answer requests: tools, arguments, and whether a person or client has to act. */
export function replayCalls(
  { state, entry, entries, index, agent }: CallPosition,
  { answer, step_index }: Answered,
): LocatedDivergence[] {
  const behind = behindAnswer(entries, index);
  const recorded = requestsIn(behind, new Set(state.calls.map(({ id }) => id))).map((i) => callAt(behind, i, entry.at));
  const words = wordsOf(behind.flatMap(({ event }) => (event.type === "guardrail.decided" ? event : [])));
  // Earlier versions ran the calls of a cut-off answer. Such records still replay.
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

/** Returns the entries after an answer, up to the next step of the run's own. */
function behindAnswer(entries: readonly JournalEntry[], index: number): JournalEntry[] {
  let end = index + 1;
  for (let entry = entries[end]; entry && !isOwnStep(entry); entry = entries[end]) end++;
  return entries.slice(index + 1, end);
}

/** True for the start of a step that is not a tool call. */
const isOwnStep = ({ event }: JournalEntry): boolean => event.type === "step.started" && event.tool_call_id === null;

/** Returns the indexes of first requests. A repeated request of a call, whose needs changed, is skipped. */
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

/** Returns a request, and the error that immediately followed it. */
function callAt(entries: readonly JournalEntry[], index: number, at: number): Call {
  const entry = entries[index];
  if (entry?.event.type !== "tool.requested") throw new Error(`Entry ${index} requests no call.`);
  const { id, step_index, tool, type, arguments: args, needs, recorded = null } = entry.event.call;
  const result = entries[index + 2];
  const completed = result?.event.type === "tool.completed" && result.event.tool_call_id === id ? result.event : null;
  const refused = completed && result?.at === at && isRefusal(completed) ? completed.error?.code : null;
  // Ignore the arguments of refused calls, because versions stored different substitutes for them.
  return {
    seq: entry.seq,
    step_index,
    told: { id, tool, type, arguments: refused ? null : args, needs, recorded, refused },
  };
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
