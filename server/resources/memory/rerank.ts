import type { Rerank } from "../../domain/agent-snapshot.ts";
import { AppError, type CodedError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/scope.ts";
import { createBreaker } from "../../lib/breaker.ts";
import { collectText, idleTimeout } from "../../runtime/agent-loop/collect-text.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { createModelCache } from "../../runtime/models/model-cache.ts";
import type { Fetch } from "../../runtime/models/model-fetch.ts";
import { openModel as openWith } from "../../runtime/models/registry.ts";
import { createReranker, RerankError } from "../../runtime/models/rerank.ts";
import { BudgetError, type Pay, read, readingOf, type SpendGuard, unpaid } from "../../runtime/models/spend-guard.ts";
import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";
import { rankRequest, readScores } from "./llm-reranker.ts";

export interface Reranked {
  /** Best first; in search order if ranking failed. */
  matches: Match[];
  /** Reason why ranking failed, or null. */
  error: CodedError | null;
}

export type RankMatches = ReturnType<typeof createRankMatches>;

/** Milliseconds that a search waits for a reranker, and that one is not called again after a failure. */
const [patience_ms, chatPatience_ms, rest_ms] = [5000, 20_000, 10_000];

interface Order {
  query: string;
  by: Rerank;
  payer: SpendGuard;
}

/**
 * Reranks search results with a cross-encoder or a chat model. After a failure, or if the budget is exhausted, the
 * search order stays.
 */
export function createRankMatches({
  resolve,
  pay = unpaid,
  rerank = createReranker(),
  wait_ms,
}: {
  /** Resolves a model to its connection. Throws if it is not available. */
  resolve(model: string, environment: Environment): { connection: Connection; model: string; fetch?: Fetch };
  pay?: Pay;
  rerank?: ReturnType<typeof createReranker>;
  wait_ms?: number;
}) {
  const openModel = createModelCache();
  const breaker = createBreaker<CodedError>({ rest_ms });

  function byCrossEncoder({ query, by, payer }: Order, documents: string[], signal: AbortSignal): Promise<number[]> {
    const request = readingOf(documents.map((document) => `${query} ${document}`));
    return pay(payer, { model: by.model, request, signal }, async (count) => {
      const { scores, tokens } = await rerank({ ...resolve(by.model, payer.environment), query, documents }, signal);
      if (documents.length > 0) count(read(tokens));
      return scores;
    });
  }

  async function byChat({ query, by, payer }: Order, passages: string[], signal: AbortSignal): Promise<number[]> {
    if (passages.length === 0) return [];
    const { connection, model, fetch } = resolve(by.model, payer.environment);
    const request = rankRequest(query, passages);
    return await pay(payer, { model: by.model, request, signal }, async (count) => {
      const bounds = { idle_ms: idleTimeout({ connection }), max_ms: 2 * chatPatience_ms };
      const response = await collectText(
        await (fetch ? openWith(connection, model, fetch) : openModel(connection, model)),
        request,
        signal,
        bounds,
      );
      count(response);
      signal.throwIfAborted();
      if (response.error) throw new RerankError("rerank_failed", response.error.message);
      const scores = readScores(response.answer, passages.length);
      if (!scores) throw new RerankError("rerank_failed", "The model's answer is no list of scores.");
      return scores;
    });
  }

  return async function rank(matches: readonly Match[], order: Order, signal?: AbortSignal): Promise<Reranked> {
    const { model, type } = order.by;
    const name = `${type} ${model}`;
    const known = breaker.refusal(name);
    if (known) return { matches: [...matches], error: known };
    const max_ms = wait_ms ?? (type === "chat" ? chatPatience_ms : patience_ms);
    const limit = AbortSignal.timeout(max_ms);
    try {
      const either = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
      const texts = matches.map(({ text }) => text);
      const scores = await (type === "chat" ? byChat : byCrossEncoder)(order, texts, either);
      breaker.worked(name);
      const ranked = matches.map((match, index) => ({ ...match, score: scores[index] ?? 0 }));
      return { matches: ranked.sort((a, b) => b.score - a.score), error: null };
    } catch (error) {
      if (signal?.aborted) throw error;
      const fault = reasonOf(error, limit.aborted, max_ms);
      if (limit.aborted) breaker.failed(name, fault);
      return { matches: [...matches], error: fault };
    }
  };
}

function reasonOf(error: unknown, isLate: boolean, wait_ms: number): CodedError {
  if (isLate)
    return { code: "rerank_failed", message: `The reranker did not answer within ${wait_ms / 1000} seconds.` };
  if (error instanceof RerankError || error instanceof BudgetError || error instanceof AppError)
    return { code: error.code, message: error.message };
  throw error;
}
