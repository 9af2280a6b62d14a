import type { PinnedStore } from "../../domain/agent-snapshot.ts";
import { decidedEvents, isBlocked } from "../../domain/guardrail-event.ts";
import { processRestarted, restartStep } from "../../domain/restart.ts";
import { mergePassages, retrievalQuery, searchedStores } from "../../domain/retrieval.ts";
import type { MemoryRetrieved, RetrievedPassage, RunEvent, RunUsage, ToolError } from "../../domain/run-event.ts";
import { endStep } from "../../domain/step-events.ts";
import { addChildRun } from "../../domain/usage.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { standingOf } from "../models/spend-guard.ts";
import { currentStep, type RunContext, Superseded } from "./run-context.ts";
import { screenPassages } from "./screen-passages.ts";

/** Runs one step: searches the agent's stores for the input, and records the passages for the model. */
export async function retrieve(context: RunContext): Promise<void> {
  const { state, start, signal, record } = context;
  const step = currentStep(context, "retrieval");
  if (step.run_attempt < state().attempt)
    await record(restartStep(step, processRestarted("the memory was being searched")));
  const startedAt = performance.now();
  const query = retrievalQuery(state().run.input);
  const stores = searchedStores(start.agent, query);
  failpoint?.("before_effect.retrieval");
  const found = await Promise.all(stores.map((store) => search(store, query, context)));
  failpoint?.("after_effect.retrieval");
  const merged = mergePassages(
    found.map(({ matches }) => matches),
    stores,
  );
  const { passages, findings } = await screenPassages(merged, context);
  if (signal.aborted) throw new Superseded();
  const latency_ms = Math.round(performance.now() - startedAt);
  const { step_index } = step;
  const blocked = findings.find(isBlocked);
  const reranks = found.flatMap(({ reranks }) => reranks);
  const degradations = found.flatMap(({ degradations }) => degradations);
  const usages = found.flatMap(({ usage }) => usage ?? []);
  const retrieved: RunEvent = {
    type: "memory.retrieved",
    step_index,
    query,
    latency_ms,
    matches: passages,
    stores: stores.map(({ memory_id, name }) => ({ memory_id, name })),
    failures: found.flatMap(({ failure }) => failure ?? []),
    ...(reranks.length > 0 && { reranks }),
    ...(degradations.length > 0 && { degradations }),
    ...(usages.length > 0 && { usage: usages.reduce(addChildRun) }),
  };
  await record(
    ...(blocked ? [] : [retrieved]), // Blocked content is not journaled.
    endStep({
      step_index,
      step_type: "retrieval",
      status: blocked ? "failed" : "completed",
      latency_ms,
      error: blocked ? { code: "guardrail_blocked", message: blocked.message, retryable: false } : null,
    }),
    ...decidedEvents(findings, context.takeSteps(findings.length), 0),
  );
}

interface Found {
  matches: RetrievedPassage[];
  reranks: NonNullable<MemoryRetrieved["reranks"]>;
  degradations: NonNullable<MemoryRetrieved["degradations"]>;
  failure: MemoryRetrieved["failures"][number] | null;
  usage?: RunUsage;
}

async function search(store: PinnedStore, query: string, { ports, state }: RunContext): Promise<Found> {
  const { memory_id, top_k, score_threshold, rerank, diversity, neighbors } = store;
  const standing = standingOf(state());
  const order = { memory_id, query, top_k, score_threshold, rerank, diversity, neighbors, standing };
  const answer = await ports.ask("search_memory", order);
  if ("refused" in answer)
    return { matches: [], reranks: [], degradations: [], failure: failureOf(memory_id, answer.refused) };
  const { matches, reranked, degraded, usage } = answer;
  const reranks = reranked ? [{ memory_id, reranked: reranked.error === null, error: reranked.error }] : [];
  const degradations = degraded ? [{ memory_id, error: degraded }] : [];
  return { matches, reranks, degradations, failure: null, usage };
}

const failureOf = (memory_id: string, { code, message }: ToolError) => ({ memory_id, code, message });
