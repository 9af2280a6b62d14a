import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { Condition, RowFilter } from "./row-filter.ts";
import { sortedIds } from "./sorted-ids.ts";

const sqlite = new Database(":memory:");
const rows = 30_000;
sqlite.run("CREATE TABLE items (owner TEXT, value INTEGER, id TEXT PRIMARY KEY, wanted INTEGER, known INTEGER)");
sqlite.run("CREATE INDEX items_by_value ON items (owner, value, id) WHERE known = 1");
// A third of the rows has no value, a third shares one value, and a third shares values in small groups.
sqlite.run(
  `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows - 1})
   INSERT INTO items (owner, value, id, wanted, known) SELECT iif(n % 5 = 0, 'other', 'own'), CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN 7 ELSE n / 40 END,
     printf('%05d', (n * 7919) % ${rows}), n % 97 = 0, n % 11 <> 0 FROM numbers`,
);

const own: Condition = { sql: "owner = ?", values: ["own"] };
const wanted: Condition = { sql: "wanted = 1", values: [] };
const list = {
  table: "items",
  column: "value",
  by: "id",
  within: own,
  indexCondition: "known = 1",
  where: [own, wanted],
};

const expected = sqlite
  .query<{ id: string }, []>("SELECT id FROM items WHERE owner = 'own' AND wanted = 1 AND known = 1 ORDER BY value, id")
  .all()
  .map(({ id }) => id);

/** Filters like a word index that knows the wanted rows. */
const narrow: RowFilter = async (after, _) => {
  const last = sqlite
    .query<{ id: string }, [string]>(
      "SELECT id FROM items WHERE wanted = 1 AND id < ? ORDER BY id DESC LIMIT 1 OFFSET 9",
    )
    .get(after ?? "~");
  return last ? { sql: "id >= ?", values: [last.id], until: last.id } : { sql: "TRUE", values: [], until: null };
};

async function pages(order: "asc" | "desc", length: number, more: { rowFilter?: RowFilter }): Promise<string[]> {
  const found: string[] = [];
  for (let before = -1; found.length > before; ) {
    before = found.length;
    const ids = sortedIds(sqlite, { ...list, ...more, descending: order === "desc" }, found.at(-1) ?? null);
    for await (const id of ids) if (found.push(id) === before + length) break;
  }
  return found;
}

describe.each([
  ["by the column's index", {}],
  ["by what an index of words knows", { rowFilter: narrow }],
] as const)("%s", (_, more) => {
  test.each(["asc", "desc"] as const)(
    "every row comes once and in order, with many equal and many missing values: %s",
    async (order) => {
      expect(expected.length).toBeGreaterThan(200);
      const inOrder = order === "asc" ? expected : expected.toReversed();
      expect(await pages(order, rows, more)).toEqual(inOrder);
      expect(await pages(order, 7, more)).toEqual(inOrder);
    },
  );

  test("a cursor whose row is gone or belongs to another project returns nothing", async () => {
    const { id } = sqlite.query<{ id: string }, []>("SELECT id FROM items WHERE owner = 'other' LIMIT 1").get()!;
    for (const cursor of ["none", id])
      expect(await Array.fromAsync(sortedIds(sqlite, { ...list, ...more, descending: true }, cursor))).toEqual([]);
  });
});

test.each([true, false])(
  "the index bounds the first window at both ends, so that no more rows are read: %p",
  async (descending) => {
    const plans: string[] = [];
    const spied = {
      query(sql: string) {
        const values = Array(sql.split("?").length - 1).fill(null);
        const plan = sqlite.query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
        if (sql.includes("AS id") && sql.includes("9e999")) plans.push(...plan.map(({ detail }) => detail));
        return sqlite.query(sql);
      },
    } as Database;
    await Array.fromAsync(sortedIds(spied, { ...list, descending }, null));
    expect(plans).toEqual(["SEARCH items USING INDEX items_by_value (owner=? AND value>? AND value<?)"]);
  },
);
