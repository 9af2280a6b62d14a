import { hashJson } from "../lib/hash.ts";
import type { AgentSnapshot, PinnedStore, Rerank } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import type { RetrievedPassage, RunEvent } from "./run-event.ts";
import type { RunState } from "./run-state.ts";
import { startStep } from "./step-events.ts";

/** Default number of passages for a reranker; chat models get fewer, because they cost more. */
const rerankDefault_candidates = { cross_encoder: 50, chat: 20 } as const;

/** Returns a reranker with defaults filled in. */
export const completeRerank = ({
  model,
  type = "cross_encoder",
  candidates,
}: Partial<Rerank> & Pick<Rerank, "model">): Rerank => ({
  model,
  candidates: candidates ?? rerankDefault_candidates[type],
  ...(type === "chat" && { type }),
});

/** Limit for all passages of one retrieval, which stay in every prompt. */
const passagesMax_bytes = 128 * 1024;

/** Returns the query for a run's stores: its input, cut at a character boundary if it is long. */
export function retrievalQuery(input: string): string {
  const { read } = new TextEncoder().encodeInto(input, new Uint8Array(limits.search_query_bytes));
  return input.slice(0, read);
}

// True if the query has a letter, digit or symbol: semantic search would return results even for spaces and
// punctuation.
const asks = (query: string): boolean => /[\p{L}\p{N}\p{S}\p{Co}]/u.test(query);

/** Returns the stores that are searched before the first model call; empty for an empty query. */
export const searchedStores = ({ memory }: AgentSnapshot, query: string): PinnedStore[] =>
  (memory?.stores ?? []).filter(({ auto_retrieve }) => auto_retrieve && asks(query));

/** Returns the start of a retrieval. */
export function startOfRetrieval(state: RunState, agent: AgentSnapshot): RunEvent {
  const query = retrievalQuery(state.run.input);
  return startStep({
    step_index: state.steps,
    step_type: "retrieval",
    turn_index: 0,
    name: "memory",
    input_hash: hashJson({ query, stores: searchedStores(agent, query) }),
  });
}

/** Merges the passages of several stores, best first, up to their total `top_k` and the size limit. */
export function mergePassages(
  found: readonly (readonly RetrievedPassage[])[],
  stores: readonly Pick<PinnedStore, "top_k">[],
): RetrievedPassage[] {
  const most = stores.reduce((sum, { top_k }) => sum + top_k, 0);
  let room = passagesMax_bytes;
  return found
    .flat()
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .filter(({ text }) => {
      const bytes = byteLength(text);
      if (bytes > room) return false;
      room -= bytes;
      return true;
    });
}
