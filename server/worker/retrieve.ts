import type { AgentSnapshot, PinnedStore } from "../core/agent-snapshot.ts";
import { decidedEvents } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import { mergedPassages, retrievalQuery } from "../core/retrieval.ts";
import type { MemoryRetrieved, RetrievedPassage, RunEvent, ToolError } from "../core/run-event.ts";
import type { RunState } from "../core/run-state.ts";
import { failpoint } from "../lib/failpoint.ts";
import { hashJson } from "../lib/hash.ts";
import { screenPassages } from "./screen-passages.ts";
import { Superseded, type Turn } from "./turn.ts";

// Spaces and punctuation ask for nothing, and a search by meaning finds something for everything.
const asks = (query: string): boolean => /[\p{L}\p{N}\p{S}\p{Co}]/u.test(query);

/** The stores that are searched before the model is first asked: none for an input that asks for nothing. */
const searchedStores = ({ memory }: AgentSnapshot, query: string): PinnedStore[] =>
  (memory?.stores ?? []).filter(({ auto_retrieve }) => auto_retrieve && asks(query));

export const openRetrieval = ({ open }: RunState) => open.find(({ step_type }) => step_type === "retrieval");

/** The intent to look into the agent's stores. */
export function startOfRetrieval(state: RunState, agent: AgentSnapshot): RunEvent {
  const query = retrievalQuery(state.run!.input);
  return {
    type: "step.started",
    step_id: newId("step"),
    step_index: state.steps,
    step_type: "retrieval",
    turn_index: 0,
    name: "memory",
    attempt: 1,
    tool_call_id: null,
    input_hash: hashJson({ query, stores: searchedStores(agent, query) }),
  };
}

/** One step: searches the agent's stores with the input, and records what the model will know of it. */
export async function retrieve(turn: Turn): Promise<void> {
  const { state, start, signal, record } = turn;
  const step = openRetrieval(state())!;
  if (step.run_attempt < state().attempt)
    await record(restartStep(step, processRestarted("the memory was being searched")));
  const begun = performance.now();
  const query = retrievalQuery(state().run!.input);
  const stores = searchedStores(start.agent, query);
  failpoint?.("before_effect.retrieval");
  const found = await Promise.all(stores.map((store) => search(store, query, turn)));
  failpoint?.("after_effect.retrieval");
  const merged = mergedPassages(
    found.map(({ matches }) => matches),
    stores,
  );
  const { passages, findings } = await screenPassages(merged, turn);
  if (signal.aborted) throw new Superseded();
  const latency_ms = Math.round(performance.now() - begun);
  const { step_index } = step;
  const blocked = findings.find(({ verdict }) => verdict === "blocked");
  const retrieved: RunEvent = {
    type: "memory.retrieved",
    ...{ step_index, query, latency_ms, matches: passages },
    stores: stores.map(({ memory_id, name }) => ({ memory_id, name })),
    failures: found.flatMap(({ failure }) => failure ?? []),
  };
  await record(
    ...(blocked ? [] : [retrieved]), // What is blocked is not written down.
    {
      type: "step.completed",
      ...{ step_index, step_type: "retrieval", status: blocked ? "failed" : "completed", latency_ms, answer: null },
      error: blocked ? { code: "guardrail_blocked", message: blocked.message, retryable: false } : null,
    },
    ...decidedEvents(findings, turn.takeSteps(findings.length), 0),
  );
}

interface Found {
  matches: RetrievedPassage[];
  failure: MemoryRetrieved["failures"][number] | null;
}

async function search(store: PinnedStore, query: string, { ports }: Turn): Promise<Found> {
  const { memory_id, top_k, score_threshold } = store;
  const answer = await ports.ask("search_memory", { memory_id, query, top_k, score_threshold });
  return "refused" in answer
    ? { matches: [], failure: failureOf(memory_id, answer.refused) }
    : { matches: answer.matches, failure: null };
}

const failureOf = (memory_id: string, { code, message }: ToolError) => ({ memory_id, code, message });
