import { hashJson } from "../lib/hash.ts";
import type { AgentSnapshot, PinnedStore, Rerank } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import type { RetrievedPassage, RunEvent } from "./run-event.ts";
import type { RunState } from "./run-state.ts";
import { startStep } from "./step-events.ts";

/** How many of the passages found a reranker is shown where nothing else is said: a chat model costs more. */
const rerankDefault_candidates = { cross_encoder: 50, chat: 20 } as const;

/** A reranker with all that was left out. */
export const completeRerank = ({
  model,
  type = "cross_encoder",
  candidates,
}: Partial<Rerank> & Pick<Rerank, "model">): Rerank => ({
  model,
  candidates: candidates ?? rerankDefault_candidates[type],
  ...(type === "chat" && { type }),
});

/** Of all passages of one retrieval, which stay in the prompt of every model call. */
const passagesMax_bytes = 128 * 1024;

/** What a run's stores are searched with: its input, or the beginning of a long one, without half a character at its end. */
export function retrievalQuery(input: string): string {
  const { read } = new TextEncoder().encodeInto(input, new Uint8Array(limits.search_query_bytes));
  return input.slice(0, read);
}

// Spaces and punctuation ask for nothing, and a search by meaning finds something for everything.
const asks = (query: string): boolean => /[\p{L}\p{N}\p{S}\p{Co}]/u.test(query);

/** The stores that are searched before the model is first asked: none for an input that asks for nothing. */
export const searchedStores = ({ memory }: AgentSnapshot, query: string): PinnedStore[] =>
  (memory?.stores ?? []).filter(({ auto_retrieve }) => auto_retrieve && asks(query));

/** The intent to look into the agent's stores. */
export function startOfRetrieval(state: RunState, agent: AgentSnapshot): RunEvent {
  const query = retrievalQuery(state.run!.input);
  return startStep({
    step_index: state.steps,
    step_type: "retrieval",
    turn_index: 0,
    name: "memory",
    input_hash: hashJson({ query, stores: searchedStores(agent, query) }),
  });
}

/** What several stores found, as one list: the best first, as many as they may give together, and as fit. */
export function mergedPassages(
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
