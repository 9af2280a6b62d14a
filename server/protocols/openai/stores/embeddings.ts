import { type Static, Type } from "@sinclair/typebox";
import { onlySpaces, runScopeExpected } from "../../../domain/error-messages.ts";
import { AppError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { clientTokenRefused } from "../../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../../http/errors.ts";
import { readJsonBody } from "../../../http/json-body.ts";
import type { Principal } from "../../../http/principal.ts";
import { createYielder } from "../../../lib/cooperative-yield.ts";
import { requireValue } from "../../../lib/require-value.ts";
import { open } from "../../../lib/schema.ts";
import { type Embedders, embeddingRefusal } from "../../../resources/memory/embedding.ts";
import type { MemoryStores } from "../../../resources/memory/store.ts";
import { estimateTokens } from "../../../runtime/documents/estimate-tokens.ts";
import { EmbeddingError } from "../../../runtime/retrieval/embeddings/embedder.ts";
import { defaultModel, isBuiltIn } from "../../../runtime/retrieval/embeddings/models.ts";
import { readMax_chars } from "../../../runtime/retrieval/embeddings/pieces.ts";
import { json, readerOf } from "../api-calls.ts";
import { nullable } from "../chat-schema.ts";

/** Name of the default built-in embedding model for clients. */
export const embedderId = "runnel/embedder";

/** OpenAI's own limit. */
const textsMax = 2048;

const CreateEmbedding = open({
  model: Type.String(),
  input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1, maxItems: textsMax })]),
  encoding_format: nullable(Type.Union([Type.Literal("float"), Type.Literal("base64")])),
  dimensions: nullable(Type.Integer({ minimum: 1, maximum: limits.embedding_dimensions })),
});
type CreateEmbedding = Static<typeof CreateEmbedding>;

const read = readerOf(CreateEmbedding);

interface Deps {
  embedders: Pick<Embedders, "of">;
  stores: Pick<MemoryStores, "isUsing">;
  /** Time limit for all texts of a request. */
  patience_ms?: number;
}

/** Embeddings, by the models that memory stores use. */
export function createEmbeddings({ embedders, stores, patience_ms = 300_000 }: Deps) {
  /** Returns the embedder's name of the requested model. Throws if the key may not use it. */
  function modelOf(principal: Principal, model: string): string {
    const { token, scopes, agent_ids } = principal;
    const isAdmin = scopes.has("admin");
    if (token) throw clientTokenRefused("run");
    if (!(isAdmin || scopes.has("run")))
      throw new AppError("insufficient_scope", runScopeExpected, { details: { required_scope: "run" } });
    if (model === embedderId) return defaultModel;
    // Models that cost money need an administrator's consent: their key, or a store that uses the model.
    const mayUse = model.includes("/") && agent_ids === null && (isAdmin || stores.isUsing(principal, model));
    if (mayUse || isBuiltIn(model)) return model;
    throw new AppError("resource_not_found", `There is no embedding model "${model.slice(0, 100)}" for this key.`, {
      param: "model",
    });
  }

  return async function embed(request: Request, principal: Principal): Promise<Response> {
    const body = read(await readJsonBody(request));
    const texts = textsOf(body);
    const model = modelOf(principal, body.model);
    if (isBuiltIn(model)) refuseLong(texts);
    const limit = AbortSignal.timeout(patience_ms);
    try {
      const embedder = embedders.of(model, body.dimensions ?? null, principal);
      const vectors = await embedder.embed(texts, AbortSignal.any([request.signal, limit]));
      return json(200, await embeddingList(body, texts, vectors));
    } catch (error) {
      if (request.signal.aborted) return new Response(null, { status: 400 }); // The client has disconnected.
      if (error === limit.reason) throw tookTooLong(patience_ms);
      throw dimensionsRefusal(error) ?? embeddingRefusal(error, body.model, "model");
    }
  };
}

function textsOf({ input }: CreateEmbedding): string[] {
  const texts = typeof input === "string" ? [input] : input;
  const faults = texts.flatMap((text, index) => {
    const param = typeof input === "string" ? "input" : `input[${index}]`;
    if (typeof text !== "string") return [fault(param, "Must be text. Lists of tokens are not read.")];
    return text.trim() === "" ? [fault(param, onlySpaces)] : [];
  });
  throwIfInvalid(faults.slice(0, 1));
  return texts as string[];
}

/** Refuses longer texts, because the model would silently ignore their end. */
function refuseLong(texts: readonly string[]): void {
  const index = texts.findIndex((text) => text.length > readMax_chars);
  if (index !== -1) throw invalid(`input[${index}]`, `Must have at most ${readMax_chars} characters.`);
}

const tookTooLong = (ms: number): AppError =>
  new AppError("embedding_failed", `These texts take longer than ${ms / 1000} seconds. Send fewer at once.`, {
    param: "input",
  });

const dimensionsRefusal = (error: unknown): AppError | null =>
  error instanceof EmbeddingError && error.code === "dimensions_mismatch" ? invalid("dimensions", error.message) : null;

/** Serializes the body in slices, because thousands of vectors are millions of digits. */
async function embeddingList(body: CreateEmbedding, texts: readonly string[], vectors: readonly Float32Array[]) {
  const rest = createYielder();
  const items: string[] = [];
  let tokens = 0;
  for (const [index, vector] of vectors.entries()) {
    tokens += estimateTokens(requireValue(texts[index], `Text ${index}`));
    const embedding = body.encoding_format === "base64" ? base64Of(vector) : [...vector];
    items.push(JSON.stringify({ object: "embedding", index, embedding }));
    await rest();
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return `{"object":"list","data":[${items.join(",")}],${JSON.stringify({ model: body.model, usage }).slice(1)}`;
}

/** Encodes the numbers as little-endian 32-bit floats. */
const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
