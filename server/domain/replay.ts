import { canonicalJson } from "../lib/canonical-json.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { LocatedDivergence } from "./divergence.ts";
import { preModelSteps } from "./pre-model-steps.ts";
import { replayDecision } from "./replay-check.ts";
import { createdEvent, type JournalEntry, type RunCreated } from "./run-event.ts";
import { apply, type InitialState, initialState, type RunState } from "./run-state.ts";
import { triggerOf } from "./run-trigger.ts";

/** The agent for a replay. */
interface Against {
  agent: AgentSnapshot;
  /** The agent of the recorded run. */
  pinned: AgentSnapshot;
  /** Returns the divergences of guardrail decisions between the two agents. */
  screen(entry: JournalEntry, before: RunState | InitialState): Promise<LocatedDivergence[]>;
  /** Called after each entry; may yield, because a long run has many prompts. */
  rest(): Promise<void>;
}

/**
 * Replays a recorded run without calling models, tools or people: external data (answers, results, decisions,
 * judgements) comes from the record, and the loop's own functions decide again. Yields the divergences, in the order of
 * the record.
 */
export async function* replay(
  entries: readonly JournalEntry[],
  { agent, pinned, screen, rest }: Against,
): AsyncGenerator<LocatedDivergence> {
  const first = beginning(entries, agent, pinned);
  const deciding = withoutJudges(agent);
  const checkedFrom = first.forked_to ?? 0;
  let state: RunState | InitialState = initialState;
  for (const [index, entry] of entries.entries()) {
    const isChecked = entry.seq > checkedFrom;
    if (isChecked && state.run) yield* replayDecision({ state, entry, entries, index, agent: deciding });
    const before = state;
    state = after(state, index === 0 ? { ...entry, event: { type: "run.created", ...first } } : entry);
    if (isChecked) yield* await screen(entry, before);
    await rest();
  }
}

/** Returns the start of the run for this agent. Recorded usage counts here, because budgets depend on it. */
function beginning(entries: readonly JournalEntry[], agent: AgentSnapshot, pinned: AgentSnapshot): RunCreated {
  const event = createdEvent(entries);
  const { type: _, recorded_to, ...created } = event;
  const forked_to = lastCopiedSeq(event);
  const own = { ...created, ...(forked_to && { forked_to, recorded_to: forked_to }) };
  if (canonicalJson(agent) === canonicalJson(pinned)) return own;
  const { prepare, ...rest } = own;
  // A copy has no thread, so conclude from its recorded preparations that the original had one.
  const thread_id = prepare?.includes("history") ? "thread" : own.thread_id;
  const fetched = preModelSteps(agent, { ...own, thread_id });
  return { ...rest, ...fetched, model: agent.model, max_turns: agent.max_turns };
}

/** Returns the last `seq` of another agent's record: the part that a fork copied from its source run. */
export function lastCopiedSeq(created: RunCreated): number | undefined {
  return created.forked_to ?? (triggerOf(created) === "fork" ? created.recorded_to : undefined);
}

/** Removes judges, which are models: their recorded decisions are used instead. */
const withoutJudges = ({ guardrails, team, ...agent }: AgentSnapshot): AgentSnapshot => ({
  ...agent,
  ...(team && { team: team.map(withoutJudges) }),
  ...(guardrails && { guardrails: guardrails.filter(({ type }) => type !== "llm_judge") }),
});

/** Continues as recorded, even if this agent would have fetched something first. */
function after(state: RunState | InitialState, entry: JournalEntry): RunState {
  const next = apply(state, entry);
  const { event } = entry;
  const isAsked = event.type === "step.started" && event.step_type === "model_call";
  return isAsked && next.to_prepare.length > 0 ? { ...next, to_prepare: [] } : next;
}
