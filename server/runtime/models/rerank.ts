import { roundedJson } from "../../lib/json.ts";
import { textOf } from "./body-text.ts";
import type { Connection } from "./model.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";

/** Reason why passages could not be ranked. The message can be shown: it does not quote the server. */
export class RerankError extends Error {
  override readonly name = "RerankError";
  constructor(
    readonly code: "model_not_available" | "rerank_failed",
    message: string,
  ) {
    super(message);
  }
}

interface Ranking {
  /** Scores from 0 to 1, in the order of the documents. */
  scores: number[];
  /** Tokens used; null if the server does not report them. */
  tokens: number | null;
}

interface RerankOrder {
  connection: Connection;
  model: string;
  query: string;
  documents: readonly string[];
  /** Carries the connection's token, if it has one in place of a key. */
  fetch?: Fetch;
}

/** Request format: that of Cohere, Jina and vLLM, or that of Text Embeddings Inference. */
type Dialect = "documents" | "texts";
const others: Record<Dialect, Dialect> = { documents: "texts", texts: "documents" };

const answerMax_bytes = 1024 * 1024;
/** Statuses of a server that does not know the path, or misses a field. */
const notUnderstood: readonly number[] = [400, 404, 405, 422];

/**
 * Calls cross-encoders at `/rerank` of operators' connections. The dialect of each address is detected by its first
 * response and cached.
 */
export function createReranker() {
  const spoken = new Map<string, Dialect>();

  /** Scores the documents. Throws `RerankError`, or the signal's reason. */
  return async function rerank(order: RerankOrder, signal: AbortSignal): Promise<Ranking> {
    const { connection, documents } = order;
    const { base_url, provider } = connection;
    if (provider !== "openai_compatible" || base_url === null)
      throw new RerankError("model_not_available", `The provider ${provider} has no models that rank passages.`);
    if (documents.length === 0) return { scores: [], tokens: 0 };
    const known = spoken.get(base_url) ?? "documents";
    let dialect = known;
    let response = await sendRequest(dialect, order, base_url, signal);
    if (notUnderstood.includes(response.status)) {
      await response.body?.cancel();
      dialect = others[known];
      response = await sendRequest(dialect, order, base_url, signal);
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw failed(`The reranker returned status ${response.status}.`);
    }
    const answer = (roundedJson(await bodyOf(response, signal)) ?? null) as Answer | unknown[] | null;
    const scores = scoresOf(resultsOf(answer), documents.length);
    spoken.set(base_url, dialect);
    return { scores, tokens: tokensOf(answer) };
  };

  async function sendRequest(
    dialect: Dialect,
    order: RerankOrder,
    base_url: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const { connection, model, query, documents, fetch = modelFetch } = order;
    const base = base_url.replace(/\/+$/, "");
    const [at, body] =
      dialect === "documents"
        ? [base, { model, query, documents, top_n: documents.length }]
        : [base.replace(/\/v\d+$/, ""), { query, texts: documents, truncate: true }];
    const headers = {
      "content-type": "application/json",
      ...(connection.api_key && { authorization: `Bearer ${connection.api_key}` }),
    };
    try {
      return await fetch(`${at}/rerank`, { method: "POST", headers, body: JSON.stringify(body), signal });
    } catch {
      signal.throwIfAborted();
      throw failed("The reranker could not be reached.");
    }
  }
}

async function bodyOf(response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await textOf(response, answerMax_bytes);
  } catch {
    signal.throwIfAborted();
    throw failed("The reranker's response was cut off.");
  }
}

/** Returns the scores in order. Throws if a document is missing or repeated. */
function scoresOf(results: unknown[], count: number): number[] {
  if (results.length !== count) throw failed(`The reranker ranked ${results.length} of ${count} passages.`);
  const scores = new Map<number, number>();
  for (const result of results) {
    const { index, relevance_score, score = relevance_score } = (result ?? {}) as Record<string, unknown>;
    const isPlace = Number.isInteger(index) && (index as number) >= 0 && (index as number) < count;
    if (!isPlace || scores.has(index as number)) throw failed("The reranker returned a passage that it was not sent.");
    if (!Number.isFinite(score)) throw failed("The reranker returned a score that is not a number.");
    scores.set(index as number, score as number);
  }
  const inOrder = Array.from({ length: count }, (_, index) => scores.get(index)!);
  // Some servers return unbounded model output; the sigmoid keeps the order.
  return inOrder.every((score) => score >= 0 && score <= 1) ? inOrder : inOrder.map(sigmoid);
}

interface Answer {
  results?: unknown;
  usage?: { total_tokens?: unknown } | null;
  meta?: { tokens?: { input_tokens?: unknown } | null } | null;
}

function resultsOf(answer: Answer | unknown[] | null): unknown[] {
  const results = Array.isArray(answer) ? answer : answer?.results;
  if (Array.isArray(results)) return results;
  throw failed("The reranker's response cannot be read.");
}

/** Returns the tokens reported by Jina and vLLM, or by Cohere. */
function tokensOf(answer: Answer | unknown[] | null): number | null {
  if (Array.isArray(answer)) return null;
  const total_tokens = answer?.usage?.total_tokens ?? answer?.meta?.tokens?.input_tokens;
  return Number.isSafeInteger(total_tokens) && (total_tokens as number) >= 0 ? (total_tokens as number) : null;
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

const failed = (message: string) => new RerankError("rerank_failed", message);
