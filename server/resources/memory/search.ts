import { onlySpaces } from "../../domain/error-messages.ts";
import { AppError, type CodedError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { completeRerank } from "../../domain/retrieval.ts";
import { nameOf, type Scope, type ScopeColumns } from "../../domain/scope.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { createBreaker } from "../../lib/breaker.ts";
import { joinChunk } from "../../runtime/documents/join-chunks.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import { EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import { isLocalModel } from "../../runtime/retrieval/embeddings/models.ts";
import { checkFilter, type Filter } from "../../runtime/retrieval/vector-search/filter.ts";
import type { Match, Searcher } from "../../runtime/retrieval/vector-search/searcher.ts";
import type { Db } from "../../storage/db/open.ts";
import { type Embedders, embeddingRefusal } from "./embedding.ts";
import type { RankMatches, Reranked } from "./rerank.ts";
import type { VectorStoreRow } from "./row.ts";
import type { SearchMemory } from "./schema.ts";
import { type MemoryStores, requireVectors, scopeIdOf } from "./store.ts";

export type MemorySearch = ReturnType<typeof createMemorySearch>;

const defaultTopK = 10;
/** For diversity, selects from this multiple of the requested passages, up to this number. */
const [diverse_times, diverse_most] = [4, 100];
/** Milliseconds that a provider may take to embed a query, because the client waits and a run cannot start. */
const provider_ms = 5000;
/** Milliseconds that a failed provider is not called again. */
const rest_ms = 10_000;

/** Searches a memory store. */
export function createMemorySearch({
  db,
  findStore,
  searcher,
  embedders,
  rank,
  now = Date.now,
  patience_ms = provider_ms,
  breaker = createBreaker({ rest_ms }),
}: {
  db: Db;
  findStore: MemoryStores["find"];
  searcher: Pick<Searcher, "search">;
  embedders: Pick<Embedders, "of">;
  rank: RankMatches;
  now?: () => number;
  patience_ms?: number;
  /** Circuit breaker of external models. */
  breaker?: ReturnType<typeof createBreaker<unknown>>;
}) {
  const filenames = createFilenames(db);
  const withNeighbors = createNeighbors(db);

  async function vectorOf(
    { model, dimensions }: VectorStoreRow,
    query: string,
    payer: SpendGuard,
    signal?: AbortSignal,
  ) {
    const known = breaker.refusal(model);
    if (known) throw known;
    const limit = isLocalModel(model) ? [] : [AbortSignal.timeout(patience_ms)];
    const limited = AbortSignal.any([...limit, ...(signal ? [signal] : [])]);
    try {
      const [vector] = await embedders.of(model, dimensions, payer).embed([query], limited, "query");
      if (!vector) throw new EmbeddingError("embedding_failed", `${model} gave no vector.`);
      breaker.worked(model);
      return vector;
    } catch (error) {
      if (signal?.aborted) throw error;
      const refusal = embeddingRefusal(error, model);
      if (!isLocalModel(model) && isAway(error)) breaker.failed(model, refusal);
      throw refusal;
    }
  }

  async function matches(
    scope: SpendGuard,
    memoryId: string,
    body: SearchMemory,
    signal?: AbortSignal,
  ): Promise<Found> {
    const { query, top_k = defaultTopK, score_threshold = null, diversity = 0 } = body;
    let { mode = "hybrid" } = body;
    let degraded: Found["degraded"] = null;
    const scope_id = scopeIdOf(requireVectors(findStore(scope, memoryId)), body.scope_id);
    const filter = validatedFilter(body);
    for (;;) {
      const store = requireVectors(findStore(scope, memoryId));
      const vector =
        mode === "keyword"
          ? null
          : await vectorOf(store, query, scope, signal).catch((error) => {
              if (mode !== "hybrid" || !(error instanceof AppError)) throw error;
              // Fall back to keyword search, which needs no model.
              mode = "keyword";
              const { code } = error.cause instanceof EmbeddingError ? error.cause : error;
              degraded = { code: code === "budget_exceeded" ? code : error.code, message: error.message };
              return null;
            });
      const { number, generation, dimensions } = store;
      const isOld = () => requireVectors(findStore(scope, memoryId)).generation !== generation;
      // The embedding was changed meanwhile, so the query's vector is outdated: embed it again.
      if (isOld()) continue;
      try {
        const order = {
          owner: nameOf(scope),
          store: { number, generation, dimensions },
          scope_id,
          query,
          vector,
          mode,
          top_k,
          filter,
          score_threshold,
          now: now(),
          with_vectors: diversity > 0,
        };
        return { matches: await searcher.search(order, signal), degraded };
      } catch (error) {
        if (signal?.aborted || !isOld()) throw error;
      }
    }
  }

  /** Reranks more passages than requested, so that the threshold applies to the final scores. */
  async function inOrder(
    scope: SpendGuard,
    memoryId: string,
    body: SearchMemory,
    signal?: AbortSignal,
  ): Promise<Reranked & Found> {
    const { query, rerank, top_k = defaultTopK, score_threshold, diversity = 0 } = body;
    const candidateCount = diversity > 0 ? Math.min(diverse_times * top_k, diverse_most) : top_k;
    if (!rerank) {
      const { matches: found, degraded } = await matches(scope, memoryId, { ...body, top_k: candidateCount }, signal);
      return { matches: maximalMarginalRelevance(found, top_k, diversity), error: null, degraded };
    }
    const by = completeRerank(rerank);
    const wide = { ...body, top_k: Math.max(top_k, by.candidates), score_threshold: null };
    const { matches: found, degraded } = await matches(scope, memoryId, wide, signal);
    const ranked = await rank(found, { query, by, payer: scope }, signal);
    const best = ranked.matches.filter(({ score }) => score >= (score_threshold ?? 0));
    return { ...ranked, matches: maximalMarginalRelevance(best, top_k, diversity), degraded };
  }

  /** Searches a store; `scope` pays for the models' calls. */
  return async function search(scope: SpendGuard, memoryId: string, body: SearchMemory, signal?: AbortSignal) {
    const { matches: found, error, degraded } = await inOrder(scope, memoryId, body, signal);
    const names = filenames(scope, found);
    const { neighbors = 0 } = body;
    const data = found.map((match) => ({
      ...shownMatch(match, names),
      ...(neighbors > 0 && { context: withNeighbors(scope, match, neighbors) }),
    }));
    return {
      object: "list" as const,
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      ...(body.rerank && { reranked: error === null, rerank_error: error }),
      degraded: degraded !== null,
      ...(degraded && { degraded_error: degraded }),
    };
  };
}

/** True if the model's server is at fault, so that other searches skip it. */
const isAway = (error: unknown): boolean =>
  error instanceof EmbeddingError
    ? error.retryable && error.code !== "budget_exceeded"
    : error instanceof Error && error.name === "TimeoutError";

interface Found {
  matches: Match[];
  /** Reason why only keyword search was used, or null. */
  degraded: CodedError | null;
}

function validatedFilter({ query, filter }: SearchMemory): Filter | null {
  const isTooLong = Buffer.byteLength(query) > limits.search_query_bytes;
  const read = filter == null ? null : checkFilter(filter);
  throwIfInvalid([
    ...(query.trim() === "" ? [fault("query", onlySpaces)] : []),
    ...(isTooLong ? [fault("query", `Must have at most ${limits.search_query_bytes} bytes.`)] : []),
    ...(Array.isArray(read)
      ? read.map(({ param, message }) => ({ param, code: "invalid_value", message: `${param} ${message}` }))
      : []),
  ]);
  return read as Filter | null;
}

/** Looks up the file names of matches. */
function createFilenames({ sqlite }: Db) {
  const select = sqlite.query<{ id: string; filename: string }, ScopeColumns & { ids: string }>(
    `SELECT id, filename FROM files
     WHERE project_id = $project_id AND environment = $environment AND id IN (SELECT value FROM json_each($ids))`,
  );
  return ({ project_id, environment }: Scope, matches: readonly Match[]): Map<string, string> => {
    const ids = matches.flatMap(({ file_id }) => (file_id === null ? [] : [file_id]));
    if (ids.length === 0) return new Map();
    const rows = select.all({ project_id, environment, ids: JSON.stringify([...new Set(ids)]) });
    return new Map(rows.map(({ id, filename }) => [id, filename]));
  };
}

/** Serializes a match under its entry's id; an entry may have several matches. */
const shownMatch = (match: Match, filenames: ReadonlyMap<string, string>) => ({
  id: match.entry_id,
  object: "memory_match" as const,
  text: match.text,
  score: match.score,
  score_parts: match.score_parts,
  file_id: match.file_id,
  filename: match.file_id === null ? null : (filenames.get(match.file_id) ?? null),
  chunk_index: match.chunk_index,
  page: match.page,
  heading: match.heading,
  metadata: match.metadata,
});

/** A passage with its vector, or null. */
type Compared = Match & { vector?: Float32Array | null };

/** Selects passages by maximal marginal relevance. `diversity`: weight of similarity, from 0 (none) to 1 (only). */
export function maximalMarginalRelevance<Passage extends Compared>(
  passages: readonly Passage[],
  count: number,
  diversity: number,
): Passage[] {
  const candidates = passages.map((passage) => ({
    passage,
    unit: passage.vector ? unit(passage.vector) : null,
    likest: 0,
  }));
  const selection: Passage[] = [];
  const relevanceOf = ({ passage, likest }: (typeof candidates)[number]) =>
    (1 - diversity) * passage.score - diversity * likest;
  while (selection.length < count) {
    const [first] = candidates;
    if (!first) break;
    const one = candidates.reduce((best, each) => (relevanceOf(each) > relevanceOf(best) ? each : best), first);
    candidates.splice(candidates.indexOf(one), 1);
    selection.push(one.passage);
    for (const other of candidates) {
      const isSame = other.passage.text === one.passage.text;
      other.likest = Math.max(other.likest, isSame ? 1 : likeness(one.unit, other.unit));
    }
  }
  return selection;
}

/** Normalizes to length 1, so that a dot product is the cosine. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / (length || 1));
}

/** Cosine of two vectors, at least 0. */
function likeness(a: Float32Array | null, b: Float32Array | null): number {
  if (!a || !b) return 0;
  let product = 0;
  for (let index = 0; index < a.length; index++) product += (a[index] ?? 0) * (b[index] ?? 0);
  return Math.min(1, Math.max(0, product));
}

/** Most characters that a chunk repeats of the previous one. */
const overlapMax = 20_000;

/** Reads passages with their neighbors. */
function createNeighbors({ sqlite }: Db) {
  const around = sqlite.query<{ text: string }, ScopeColumns & { entry_id: string; first: number; last: number }>(
    `SELECT text FROM memory_chunks WHERE project_id = $project_id AND environment = $environment AND entry_id = $entry_id
     AND chunk_index BETWEEN $first AND $last ORDER BY chunk_index`,
  );
  /** Joins a passage with up to `count` chunks before and after it; overlaps are merged. */
  return ({ project_id, environment }: Scope, match: Match, count: number): string => {
    const { entry_id, chunk_index } = match;
    const [first, last] = [chunk_index - count, chunk_index + count];
    const chunks = around.all({ project_id, environment, entry_id, first, last });
    // The entry may have been deleted since it was found.
    return chunks.reduce((text, chunk) => joinChunk(text, chunk.text, overlapMax), "") || match.text;
  };
}
