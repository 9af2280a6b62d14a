import { Elysia } from "elysia";
import type { ProtocolAccess } from "../../../http/internal-client.ts";
import { withDeclaration } from "../../../http/operation.ts";
import type { Principal } from "../../../http/principal.ts";
import type { Embedders } from "../../../resources/memory/embedding.ts";
import type { EntryStore } from "../../../resources/memory/entries.ts";
import type { MemoryStores } from "../../../resources/memory/store.ts";
import { createApiCalls } from "../api-calls.ts";
import { createEmbeddings } from "./embeddings.ts";
import { createFiles } from "./files.ts";
import { createVectorStores } from "./vector-stores.ts";

interface Deps extends ProtocolAccess {
  embedders: Pick<Embedders, "of">;
  stores: Pick<MemoryStores, "isUsing">;
  entries: EntryStore;
}

interface Context {
  request: Request;
  /** Absent if the path has no parameter. */
  params?: { id?: string; file_id?: string; batch?: string };
  set: { headers: Record<string, unknown> };
}

type Handler = (request: Request, id: string, within: string) => Promise<Response>;

const raw = { parse: "none" } as const;
/** Routes without writes stay available while the disk is nearly full. */
const writesNothing = { ...raw, ...withDeclaration({ needsRoom: false }) };

/** OpenAI's embeddings, files and vector stores. */
export function storeRoutes({ embedders, stores, entries, ...access }: Deps) {
  const calls = createApiCalls(access);
  const embed = createEmbeddings({ embedders, stores });
  const files = createFiles(calls);
  const vectors = createVectorStores({ ...calls, entries });

  /** Calls the handler with the ids of the path. */
  const by =
    (handler: Handler) =>
    ({ params: { id = "", file_id, batch } = {}, ...context }: Context) =>
      calls.guarded(context, () => handler(context.request, id, file_id ?? batch ?? ""));

  return new Elysia({ prefix: "/openai/v1" })
    .post(
      "/embeddings",
      (context) => calls.guarded(context, (principal: Principal) => embed(context.request, principal)),
      writesNothing,
    )
    .post("/files", by(files.upload), raw)
    .get("/files", by(files.list))
    .get("/files/:id", by(files.get))
    .get("/files/:id/content", by(files.content))
    .delete("/files/:id", by(files.remove))
    .post("/vector_stores", by(vectors.create), raw)
    .get("/vector_stores", by(vectors.list))
    .get("/vector_stores/:id", by(vectors.get))
    .post("/vector_stores/:id", by(vectors.update), raw)
    .delete("/vector_stores/:id", by(vectors.remove))
    .post("/vector_stores/:id/search", by(vectors.search), writesNothing)
    .post("/vector_stores/:id/files", by(vectors.addFile), raw)
    .get("/vector_stores/:id/files", by(vectors.listFiles))
    .get("/vector_stores/:id/files/:file_id", by(vectors.getFile))
    .get("/vector_stores/:id/files/:file_id/content", by(vectors.content))
    .delete("/vector_stores/:id/files/:file_id", by(vectors.removeFile))
    .post("/vector_stores/:id/file_batches", by(vectors.addFiles), raw)
    .get("/vector_stores/:id/file_batches/:batch", by(vectors.batch))
    .get("/vector_stores/:id/file_batches/:batch/files", by(vectors.batchFiles));
}
