import { expect, spyOn, test } from "bun:test";
import { vecLibrary } from "../../../lib/assets.ts";
import { silentLog } from "../../../lib/log.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { createMemoryStore, searchOrder } from "../../../testing/memory-store.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { createSearcher, type SearchOrder } from "./searcher.ts";
import { addWords, removeChunks } from "./tables.ts";

/** Records every statement prepared meanwhile. */
async function statementsOf(sqlite: ReturnType<typeof openDatabase>["sqlite"], work: () => Promise<void>) {
  using prepare = spyOn(sqlite, "prepare");
  using query = spyOn(sqlite, "query");
  await work();
  return new Set([...prepare.mock.calls, ...query.mock.calls].map(([sql]) => sql));
}

test("no statement of a search scans a whole table", async () => {
  using folder = temporaryFolder();
  const { sqlite, ...db } = openDatabase(":memory:", { vecLibrary: vecLibrary(folder.path) });
  const tables = { number: 1, generation: 1, dimensions: 4 };
  const store = createMemoryStore(sqlite, tables);
  const numbers = store.add(
    Array.from({ length: 6000 }, (_, index) => ({
      vector: Float32Array.of(1, index, 0, 0),
      text: `common word${index}`,
      scope_id: index % 2 ? "ann" : "",
      expires_at_ms: index < 5990 ? 1 : null,
      metadata: { index },
    })),
  );
  const whole = createSearcher({ path: null, sqlite, log: silentLog });
  const little = createSearcher({ path: null, sqlite, log: silentLog, most_bytes: 100_000 });
  const orders: Partial<SearchOrder>[] = [
    {},
    { now: 1 }, // Most of the nearest have expired.
    { scope_id: "ann" },
    { scope_id: "ann", filter: { field: "index", is: "$gt", value: 3 } },
    { filter: { field: "index", is: "$eq", value: 4 } },
  ];
  const statements = await statementsOf(sqlite, async () => {
    for (const order of orders)
      for (const mode of ["vector", "keyword", "hybrid"] as const)
        for (const searcher of [whole, little])
          await searcher.search(
            searchOrder(tables, { ...order, mode, query: "common word7", vector: Float32Array.of(1, 2, 3, 4) }),
          );
    addWords(sqlite, 1, [{ number: numbers[0]!, text: "common word0" }]);
    removeChunks(sqlite, tables, numbers.slice(0, 3));
  });
  expect(statements.size).toBeGreaterThan(15);
  // It queries tables of earlier versions, which this store never had.
  const made = [...statements].filter((sql) => !/memory_1_(words|terms) /.test(sql));
  const scans = made.flatMap((sql) =>
    sqlite
      .prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .filter(({ detail }) => /^SCAN (?!\(|sqlite_schema)/.test(detail) && !/VIRTUAL TABLE/.test(detail))
      .map(({ detail }) => `${detail}: ${sql}`),
  );
  // The count of vectors when a store is loaded: from the metadata of each sixteen.
  expect(scans.filter((each) => !each.includes("count(*) * max(size)"))).toEqual([]);
  db.close();
});
