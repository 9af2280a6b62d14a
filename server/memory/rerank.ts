import type { Rerank } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import type { Connection } from "../models/port.ts";
import { createReranker, RerankError } from "../models/rerank.ts";
import type { Match } from "../retrieval/search/searcher.ts";

export interface Reranked {
  /** The best first; as they were found where they could not be ranked. */
  matches: Match[];
  /** Why they could not be ranked. */
  error: { code: string; message: string } | null;
}

export type RankMatches = ReturnType<typeof createRankMatches>;

/** How long a search waits for a reranker. */
const patience_ms = 5000;

/** Puts what a search found in the order of a cross-encoder. A failure costs the new order, and never the search. */
export function createRankMatches({
  resolve,
  rerank = createReranker(),
  wait_ms = patience_ms,
}: {
  /** Where a model is reached; throws when it is not. */
  resolve(model: string): { connection: Connection; model: string };
  rerank?: ReturnType<typeof createReranker>;
  wait_ms?: number;
}) {
  return async function rank(
    matches: readonly Match[],
    { query, by }: { query: string; by: Rerank },
    signal?: AbortSignal,
  ): Promise<Reranked> {
    const limit = AbortSignal.timeout(wait_ms);
    try {
      const documents = matches.map(({ text }) => text);
      const order = { ...resolve(by.model), query, documents };
      const scores = await rerank(order, AbortSignal.any([limit, ...(signal ? [signal] : [])]));
      const ranked = matches.map((match, index) => ({ ...match, score: scores[index]! }));
      return { matches: ranked.sort((a, b) => b.score - a.score), error: null };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { matches: [...matches], error: reasonOf(error, limit.aborted, wait_ms) };
    }
  };
}

function reasonOf(error: unknown, isLate: boolean, wait_ms: number): Reranked["error"] {
  if (isLate)
    return { code: "rerank_failed", message: `The reranker did not answer within ${wait_ms / 1000} seconds.` };
  if (error instanceof RerankError || error instanceof AppError) return { code: error.code, message: error.message };
  throw error;
}
