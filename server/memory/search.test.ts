import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { silentLog } from "../lib/log.ts";
import { createEmbedders } from "../retrieval/embed/embedder.ts";
import { testApp } from "../testing/test-app.ts";
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
    rank: () => Promise.reject(new Error("Nothing is ranked.")),
    ...{ db: { sqlite } as never, stores: { find: () => store }, embedders, patience_ms: 200 },
    searcher: { search: () => Promise.reject(new Error("There is no vector to search by.")) },
  });
  const found = search({ project_id: "proj_1", environment: "live" }, "mem_1", { query: "harbour" });
  await expect(found).rejects.toMatchObject({ code: "embedding_failed" });
  embedders.stop();
  await silent.stop(true);
});

test("a client that leaves its search is no fault of the server", async () => {
  const faults: string[] = [];
  const log = { ...silentLog, error: (message: string) => void faults.push(message) };
  const asked = Promise.withResolvers<void>();
  const embed = (_texts: readonly string[], signal?: AbortSignal) => {
    asked.resolve();
    return new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  const embedders = { of: () => ({ embed }), probe: async () => 384, stop() {} } as never;
  await using server = testApp({ log, embedders });
  const { key, ...client } = await server.client();
  const { body: store } = await client.post("/v1/memory", { name: "m", kind: "vector" });
  const leave = new AbortController();
  const search = server.app.handle(
    new Request(`http://localhost/v1/memory/${store.id}/search`, {
      ...{ method: "POST", body: JSON.stringify({ query: "harbour" }), signal: leave.signal },
      headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
    }),
  );
  await asked.promise;
  leave.abort();
  await search;
  expect(faults).toEqual([]);
});
