import { canonicalJson } from "../lib/canonical-json.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { Found } from "./divergence.ts";
import { originOf } from "./origin.ts";
import { preparationsOf } from "./preparations.ts";
import { decided } from "./replayed-decision.ts";
import type { JournalEntry, RunCreated } from "./run-event.ts";
import { apply, initialState, type RunState } from "./run-state.ts";

/** What a record is held against. */
interface Against {
  agent: AgentSnapshot;
  /** The agent that the record was made with. */
  pinned: AgentSnapshot;
  /** What guardrails of the one say that those of the other did not. */
  screen(entry: JournalEntry, before: RunState): Promise<Found[]>;
  /** Called after each entry: the prompts of a long run are many, and the thread may serve others. */
  rest(): Promise<void>;
}

/**
 * Performs a recorded run again without asking anybody: what came from outside (answers, results, people's words, what
 * judges said) comes from the record, and wherever the loop decides, the same functions decide as in the loop. Yields
 * what comes out otherwise, in the order of the record.
 */
export async function* replay(
  entries: readonly JournalEntry[],
  { agent, pinned, screen, rest }: Against,
): AsyncGenerator<Found> {
  const first = beginning(entries, agent, pinned);
  const deciding = withoutJudges(agent);
  const checkedFrom = first.forked_to ?? 0;
  let state = initialState;
  for (const [index, entry] of entries.entries()) {
    const isChecked = entry.seq > checkedFrom;
    if (isChecked) yield* decided({ state, entry, entries, index, agent: deciding });
    const before = state;
    state = after(state, index === 0 ? { ...entry, event: { type: "run.created", ...first } } : entry);
    if (isChecked) yield* await screen(entry, before);
    await rest();
  }
}

/** The beginning of the run as this agent would have it. What was paid for before counts here: budgets decide by it. */
function beginning([first]: readonly JournalEntry[], agent: AgentSnapshot, pinned: AgentSnapshot): RunCreated {
  if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
  const { type: _, recorded_to, ...created } = first.event;
  const forked_to = forkedTo(first.event);
  const own = { ...created, ...(forked_to && { forked_to, recorded_to: forked_to }) };
  if (canonicalJson(agent) === canonicalJson(pinned)) return own;
  const { prepare, ...rest } = own;
  // A copy belongs to no thread; that it had one is seen by what it fetched.
  const thread_id = prepare?.includes("history") ? "thread" : own.thread_id;
  const fetched = preparationsOf(agent, { ...own, thread_id });
  return { ...rest, ...fetched, model: agent.model, max_turns: agent.max_turns };
}

/** Up to which entry the record is that of another agent: what a fork has of the run that it was made of. */
export function forkedTo(created: RunCreated): number | undefined {
  return created.forked_to ?? (originOf(created) === "fork" ? created.recorded_to : undefined);
}

/** Judges are models: what they said stands in the record, and nobody else is asked. */
const withoutJudges = ({ guardrails, ...agent }: AgentSnapshot): AgentSnapshot => ({
  ...agent,
  ...(guardrails && { guardrails: guardrails.filter(({ type }) => type !== "llm_judge") }),
});

/** The record goes on where it went on, also where this agent would have fetched something before. */
function after(state: RunState, entry: JournalEntry): RunState {
  const next = apply(state, entry);
  const { event } = entry;
  const isAsked = event.type === "step.started" && event.step_type === "model_call";
  return isAsked && next.to_prepare.length > 0 ? { ...next, to_prepare: [] } : next;
}
