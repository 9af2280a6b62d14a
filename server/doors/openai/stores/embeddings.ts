import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../../core/errors.ts";
import { limits } from "../../../core/limits.ts";
import { estimateTokens } from "../../../documents/estimate-tokens.ts";
import { noToken } from "../../../http/auth.ts";
import { fault, invalid, refuse } from "../../../http/errors.ts";
import { readJsonBody } from "../../../http/json-body.ts";
import type { Principal } from "../../../http/principal.ts";
import { open } from "../../../lib/schema.ts";
import { inSlices } from "../../../lib/slices.ts";
import { type Embedders, embeddingRefusal } from "../../../memory/embedding.ts";
import type { MemoryStores } from "../../../memory/store.ts";
import { EmbeddingError } from "../../../retrieval/embed/embedder.ts";
import { defaultModel, isHere } from "../../../retrieval/embed/models.ts";
import { readMax_chars } from "../../../retrieval/embed/pieces.ts";
import { given } from "../chat-schema.ts";
import { json, readerOf } from "../door.ts";

/** The default among the built-in embedding models, by the name that clients give. */
export const embedderId = "runnel/embedder";

/** As many as OpenAI takes. */
const textsMax = 2048;

const CreateEmbedding = open({
  model: Type.String(),
  input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1, maxItems: textsMax })]),
  encoding_format: given(Type.Union([Type.Literal("float"), Type.Literal("base64")])),
  dimensions: given(Type.Integer({ minimum: 1, maximum: limits.embedding_dimensions })),
});
type CreateEmbedding = Static<typeof CreateEmbedding>;

const read = readerOf(CreateEmbedding);

interface Deps {
  embedders: Pick<Embedders, "of">;
  stores: Pick<MemoryStores, "isUsing">;
  /** How long all texts of a request may take. */
  patience_ms?: number;
}

/** Vectors of texts, by the model that memory stores use too. */
export function createEmbeddings({ embedders, stores, patience_ms = 300_000 }: Deps) {
  /** The model that is meant, by the name that the embedders have for it. */
  function modelOf(principal: Principal, model: string): string {
    const { token, scopes, agent_ids } = principal;
    const isAdmin = scopes.has("admin");
    if (token) throw noToken("run");
    if (!(isAdmin || scopes.has("run")))
      throw new AppError("insufficient_scope", 'This needs the scope "run".', { details: { required_scope: "run" } });
    if (model === embedderId) return defaultModel;
    // What the operator pays for is used where an administrator has said so: by a store.
    const mayUse = model.includes("/") && agent_ids === null && (isAdmin || stores.isUsing(principal, model));
    if (mayUse || isHere(model)) return model;
    throw new AppError("resource_not_found", `There is no embedding model "${model.slice(0, 100)}" for this key.`, {
      param: "model",
    });
  }

  return async function embed(request: Request, principal: Principal): Promise<Response> {
    const body = read(await readJsonBody(request));
    const texts = textsOf(body);
    const model = modelOf(principal, body.model);
    if (isHere(model)) refuseLong(texts);
    const limit = AbortSignal.timeout(patience_ms);
    try {
      const embedder = embedders.of(model, body.dimensions ?? null, principal);
      const vectors = await embedder.embed(texts, AbortSignal.any([request.signal, limit]));
      return json(200, await written(body, texts, vectors));
    } catch (error) {
      if (request.signal.aborted) return new Response(null, { status: 400 }); // Nobody is there to read it.
      if (error === limit.reason) throw tookTooLong(patience_ms);
      throw dimensionsRefusal(error) ?? embeddingRefusal(error, body.model, "model");
    }
  };
}

function textsOf({ input }: CreateEmbedding): string[] {
  const texts = typeof input === "string" ? [input] : input;
  const faults = texts.flatMap((text, index) => {
    const param = typeof input === "string" ? "input" : `input[${index}]`;
    if (typeof text !== "string") return [fault(param, "Expected text. Lists of tokens are not read.")];
    return text.trim() === "" ? [fault(param, "Expected more than spaces.")] : [];
  });
  refuse(faults.slice(0, 1));
  return texts as string[];
}

/** Of a longer text the model would read the beginning, and nobody would know. */
function refuseLong(texts: readonly string[]): void {
  const index = texts.findIndex((text) => text.length > readMax_chars);
  if (index !== -1) throw invalid(`input[${index}]`, `Expected at most ${readMax_chars} characters.`);
}

const tookTooLong = (ms: number): AppError =>
  new AppError("embedding_failed", `These texts take longer than ${ms / 1000} seconds. Send fewer at once.`, {
    param: "input",
  });

const dimensionsRefusal = (error: unknown): AppError | null =>
  error instanceof EmbeddingError && error.code === "dimensions_mismatch" ? invalid("dimensions", error.message) : null;

/** The body, some vectors at a time: thousands of them are millions of digits. */
async function written(body: CreateEmbedding, texts: readonly string[], vectors: readonly Float32Array[]) {
  const rest = inSlices();
  const items: string[] = [];
  let tokens = 0;
  for (const [index, vector] of vectors.entries()) {
    tokens += estimateTokens(texts[index]!);
    const embedding = body.encoding_format === "base64" ? base64Of(vector) : [...vector];
    items.push(JSON.stringify({ object: "embedding", index, embedding }));
    await rest();
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return `{"object":"list","data":[${items.join(",")}],${JSON.stringify({ model: body.model, usage }).slice(1)}`;
}

/** Its numbers as they lie in memory: 32 bits each, the lowest byte first. */
const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
