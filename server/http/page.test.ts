import { expect, test } from "bun:test";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { byteLength } from "../domain/byte-length.ts";
import { AppError } from "../domain/errors.ts";
import { firstIdAt, newId } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import type { Scope } from "../domain/scope.ts";
import { oneOf } from "../lib/schema.ts";
import { openDatabase } from "../storage/db/open.ts";
import { countRows, fillPage, type List, listPage, readPage } from "./page.ts";
import { withRequestId } from "./response.ts";

const scope: Scope = { project_id: "p", environment: "test" };
const path = (query: string) => `http://localhost/v1/things?${query}`;

const thingTable = sqliteTable("things", { id: text("id").notNull(), text: text("text").notNull() });

interface Thing {
  id: string;
  text: string;
  truncated?: string[];
}

function things({ isComplete = false } = {}) {
  const { sqlite } = openDatabase(":memory:");
  sqlite.run("CREATE TABLE things (project_id, environment, id PRIMARY KEY, created_at_ms, metadata, type, text)");
  const insert = sqlite.query(
    "INSERT INTO things (project_id, environment, id, created_at_ms, metadata, type, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  let made = 0;
  let shown = 0;
  return {
    add(type = "a", metadata = {}, { project_id, environment }: Scope = scope, text = "") {
      const id = newId("tool");
      insert.run(project_id, environment, id, ++made * 1000, JSON.stringify(metadata), type, text);
      return id;
    },
    remove: (id: string) => sqlite.query("DELETE FROM things WHERE id = ?").run(id),
    /** Number of items created so far. */
    shown: () => shown,
    list: (query: string, within = scope): Promise<List<Thing>> => {
      const page = readPage(path(query), { type: oneOf(["a", "b"]) });
      const columns = ["id", "text"] as const;
      return listPage(
        { sqlite },
        { table: thingTable, kind: "tool", columns, scope: within, page, isComplete },
        (row) => {
          shown++;
          return row;
        },
      );
    },
  };
}

const ids = (list: { data: { id: string }[] }) => list.data.map(({ id }) => id);

test("inserts and deletes between pages cause neither repeats nor gaps, whatever happened to the cursor's row", async () => {
  const step = fc.record({ add: fc.nat(3), remove: fc.array(fc.nat(50), { maxLength: 3 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(25),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("asc", "desc"),
      fc.array(step),
      fc.boolean(),
      async (count, limit, order, steps, loseCursor) => {
        const table = things();
        const initial = Array.from({ length: count }, () => table.add());
        const [removed, seen] = [new Set<string>(), [] as string[]];
        let cursor = "";
        for (let turn = 0; turn < 60; turn++) {
          const list = await table.list(`limit=${limit}&order=${order}${cursor && `&starting_after=${cursor}`}`);
          seen.push(...ids(list));
          if (!list.has_more) break;
          cursor = list.last_id!;
          const { add, remove } = steps[turn] ?? { add: 0, remove: [] };
          for (let i = 0; i < add; i++) table.add();
          for (const index of remove) {
            const id = initial[index];
            if (id === undefined) continue;
            removed.add(id);
            table.remove(id);
          }
          if (!loseCursor) continue;
          removed.add(cursor);
          table.remove(cursor);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(order === "asc" ? seen.toSorted() : seen.toSorted().reverse());
        expect(initial.filter((id) => !removed.has(id) && !seen.includes(id))).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test("paging back returns the page before, in the list's own order", async () => {
  const table = things();
  const all = Array.from({ length: 7 }, () => table.add()).reverse();
  const second = await table.list(`limit=3&ending_before=${all[6]}`);
  expect(ids(second)).toEqual(all.slice(3, 6));
  expect(second).toMatchObject({ has_more: true, first_id: all[3], last_id: all[5] });
  const first = await table.list(`limit=3&ending_before=${second.first_id}`);
  expect([ids(first), first.has_more]).toEqual([all.slice(0, 3), false]);
});

test("a list contains nothing of another project or environment, whose ids are cursors like ids that never existed", async () => {
  const table = things();
  const older = table.add();
  const never = newId("tool");
  const foreign = [
    table.add("a", {}, { ...scope, project_id: "q" }),
    table.add("a", {}, { ...scope, environment: "live" }),
  ];
  const newer = table.add();
  expect(ids(await table.list(""))).toEqual([newer, older]);
  for (const id of [never, ...foreign]) {
    expect(ids(await table.list(`starting_after=${id}`))).toEqual([older]);
    expect(ids(await table.list(`ending_before=${id}`))).toEqual([newer]);
  }
});

test.each(["tool_none", "' OR 1=1 --", newId("agent"), `${newId("tool")}x`])("%p is an invalid cursor", async (id) => {
  const table = things();
  table.add();
  for (const name of ["starting_after", "ending_before"])
    await expect(table.list(`${name}=${encodeURIComponent(id)}`)).rejects.toMatchObject({ code: "invalid_cursor" });
});

test("a body stays within its size limit, and pages that end early continue without gap or repeat", async () => {
  const text = fc.integer({ min: 0, max: 700 }).map((size) => "\u00e9\n".repeat(size * 256));
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 20 }),
      fc.constantFrom("asc", "desc"),
      fc.constantFrom("starting_after", "ending_before"),
      async (texts, order, way) => {
        const table = things({ isComplete: true });
        const all = texts.map((text) => table.add("a", {}, scope, text));
        const end = newId("tool");
        const sorted = order === "asc" ? all : all.toReversed();
        const seen: string[] = [];
        let cursor = way === "ending_before" ? `&${way}=${order === "asc" ? end : firstIdAt("tool", 0)}` : "";
        for (let turn = 0; turn <= texts.length; turn++) {
          const list = await table.list(`limit=100&order=${order}${cursor}`);
          expect(byteLength(withRequestId(list, newId("request")))).toBeLessThanOrEqual(limits.page_bytes);
          if (way === "starting_after") seen.push(...ids(list));
          else seen.unshift(...ids(list));
          if (!list.has_more) break;
          cursor = `&${way}=${way === "starting_after" ? list.last_id : list.first_id}`;
        }
        expect(seen).toEqual(sorted);
      },
    ),
    { numRuns: 15 },
  );
});

test("items that do not fit into the page are not created", async () => {
  const table = things({ isComplete: true });
  for (let i = 0; i < 50; i++) table.add("a", {}, scope, "x".repeat(400_000));
  const list = await table.list("limit=50");
  expect([list.data.length, list.has_more, table.shown()]).toEqual([2, true, 3]);
});

test("other requests run while a long page is built", async () => {
  let others = 0;
  const answerOthers = () => {
    others++;
    waiting = setImmediate(answerOthers);
  };
  let waiting = setImmediate(answerOthers);
  await fillPage(Array.from({ length: 30 }).keys(), 100, (item) => {
    for (const begun = performance.now(); performance.now() - begun < 10; );
    return { item };
  });
  clearImmediate(waiting);
  expect(others).toBeGreaterThanOrEqual(10);
});

test("a long text in a list item is truncated and marked", async () => {
  const table = things();
  const id = table.add("a", {}, scope, `${"x".repeat(4095)}\u{1f600}y`);
  table.add("a", {}, scope, "x".repeat(4096));
  const { data } = await table.list("");
  expect(data[0]).toEqual({ id: expect.any(String), text: "x".repeat(4096) });
  expect(data[1]).toEqual({ id, text: "x".repeat(4095), truncated: ["text"] });
});

test("filters are combined", async () => {
  const table = things();
  const wanted = table.add("b", { team: "red", 'we"ird.$[0] key': "1" });
  table.add("a", { team: "red" });
  table.add("b", { team: "blue" });
  expect(ids(await table.list("type=b&metadata[team]=red"))).toEqual([wanted]);
  expect(ids(await table.list(`metadata[${encodeURIComponent('we"ird.$[0] key')}]=1`))).toEqual([wanted]);
  expect(
    ids(await table.list("created_at[gte]=1970-01-01T00:00:01Z&created_at[lt]=1970-01-01T01:00:02%2B01:00")),
  ).toEqual([wanted]);
  expect(await table.list("type=b&metadata[team]=green")).toEqual({
    object: "list",
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test("all faulty parameters are reported at once", () => {
  const query =
    "limit=0&order=up&created_at[gt]=yesterday&created_at[eq]=1&type=c&metadata[]=x&constructor=1&starting_after=x&ending_before=y&order=asc";
  try {
    readPage(path(query), { type: oneOf(["a", "b"]) });
    throw new Error("nothing was refused");
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    const { errors, code } = error as AppError;
    expect(code).toBe("validation_failed");
    expect(errors?.map(({ param }) => param)).toEqual([
      "limit",
      "order",
      "created_at[gt]",
      "created_at[eq]",
      "type",
      "metadata[]",
      "constructor",
      "order",
      "ending_before",
    ]);
  }
});

test.each(["", "1.5", "1e1", "101", "-1", " 5", "0x5", "٥"])("the limit %p is refused", (limit) => {
  expect(() => readPage(path(`limit=${encodeURIComponent(limit)}`))).toThrow("limit");
});

test("reading a list stops when the client disconnects", async () => {
  const { sqlite } = openDatabase(":memory:");
  sqlite.run("CREATE TABLE things (project_id, environment, id PRIMARY KEY, created_at_ms, metadata, type, text)");
  const leave = new AbortController();
  const endless = async () => ({ sql: "FALSE", values: [], until: newId("tool") });
  const list = { table: thingTable, kind: "tool", scope, page: readPage(path("")), rowFilter: endless } as const;
  const sort = { column: "id", indexCondition: "TRUE" } as const;
  const asked = [
    listPage({ sqlite }, { ...list, signal: leave.signal }, (row) => row),
    listPage({ sqlite }, { ...list, sort, signal: leave.signal }, (row) => row),
    countRows({ sqlite }, { ...list, signal: leave.signal }, 10),
  ];
  setImmediate(() => leave.abort());
  for (const one of await Promise.allSettled<unknown>(asked))
    expect(one).toMatchObject({ status: "rejected", reason: leave.signal.reason });
});
