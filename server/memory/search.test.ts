import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { silentLog } from "../lib/log.ts";
import { createEmbedders } from "../retrieval/embed/embedder.ts";
import type { StoreRow } from "./row.ts";
import { createMemorySearch } from "./search.ts";

test("a search does not wait for an embedding server that never answers", async () => {
  using silent = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => {}),
  });
  const embedders = createEmbedders({
    log: silentLog,
    resolve: (model) => ({
      connection: { name: "ollama", provider: "ollama", api_key: null, base_url: `${silent.url}v1` },
      model,
    }),
  });
  const sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE files (project_id, environment, id, filename)");
  const store = { kind: "vector", scope: "project", model: "ollama/m", dimensions: 8, generation: 1 } as StoreRow;
  const search = createMemorySearch({
    ...{ db: { sqlite } as never, stores: { find: () => store }, embedders, patience_ms: 200 },
    searcher: { search: () => Promise.reject(new Error("There is no vector to search by.")) },
  });
  const found = search({ project_id: "proj_1", environment: "live" }, "mem_1", { query: "harbour" });
  await expect(found).rejects.toMatchObject({ code: "embedding_failed" });
  embedders.stop();
  await silent.stop(true);
});
