import { expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { openDatabase } from "../db/open.ts";
import { listRows, readPage, toList } from "./page.ts";

const scope: Scope = { project_id: "p", environment: "test" };
const path = (query: string) => `http://localhost/v1/things?${query}`;

function things() {
  const { sqlite } = openDatabase(":memory:");
  sqlite.run("CREATE TABLE things (project_id, environment, id PRIMARY KEY, created_at_ms, metadata, type)");
  const insert = sqlite.query("INSERT INTO things VALUES (?, ?, ?, ?, ?, ?)");
  let made = 0;
  return {
    add(type = "a", metadata = {}, { project_id, environment }: Scope = scope) {
      const id = `thg_${String(++made).padStart(6, "0")}`;
      insert.run(project_id, environment, id, made * 1000, JSON.stringify(metadata), type);
      return id;
    },
    remove: (id: string) => sqlite.query("DELETE FROM things WHERE id = ?").run(id),
    list: (query: string, within = scope) => {
      const page = readPage(path(query), { type: ["a", "b"] });
      return toList(
        listRows<{ id: string }>({ sqlite }, { table: "things", columns: "id", scope: within, page }),
        (row) => row,
      );
    },
  };
}

const ids = (list: { data: { id: string }[] }) => list.data.map(({ id }) => id);

test("inserts and deletes between pages neither repeat nor hide what was there all the time", () => {
  const step = fc.record({ add: fc.nat(3), remove: fc.array(fc.nat(50), { maxLength: 3 }) });
  fc.assert(
    fc.property(
      fc.nat(25),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("asc", "desc"),
      fc.array(step),
      (count, limit, order, steps) => {
        const table = things();
        const initial = Array.from({ length: count }, () => table.add());
        const [removed, seen] = [new Set<string>(), [] as string[]];
        let cursor = "";
        for (let turn = 0; turn < 60; turn++) {
          const list = table.list(`limit=${limit}&order=${order}${cursor && `&starting_after=${cursor}`}`);
          seen.push(...ids(list));
          if (!list.has_more) break;
          cursor = list.last_id!;
          const { add, remove } = steps[turn] ?? { add: 0, remove: [] };
          for (let i = 0; i < add; i++) table.add();
          for (const index of remove) {
            const id = initial[index];
            if (id === undefined || id === cursor) continue;
            removed.add(id);
            table.remove(id);
          }
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(order === "asc" ? seen.toSorted() : seen.toSorted().reverse());
        expect(initial.filter((id) => !removed.has(id) && !seen.includes(id))).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test("paging back gives the page before, in the list's own order", () => {
  const table = things();
  const all = Array.from({ length: 7 }, () => table.add()).reverse();
  const second = table.list(`limit=3&ending_before=${all[6]}`);
  expect(ids(second)).toEqual(all.slice(3, 6));
  expect(second).toMatchObject({ has_more: true, first_id: all[3], last_id: all[5] });
  const first = table.list(`limit=3&ending_before=${second.first_id}`);
  expect([ids(first), first.has_more]).toEqual([all.slice(0, 3), false]);
});

test("a list holds nothing of another project or environment, and their ids are no cursors", () => {
  const table = things();
  const mine = table.add();
  const foreign = [
    table.add("a", {}, { ...scope, project_id: "q" }),
    table.add("a", {}, { ...scope, environment: "live" }),
    "thg_none",
    "' OR 1=1 --",
  ];
  expect(ids(table.list(""))).toEqual([mine]);
  for (const id of foreign)
    for (const name of ["starting_after", "ending_before"])
      expect(() => table.list(`${name}=${encodeURIComponent(id)}`)).toThrow("cursor");
});

test("filters hold together with each other", () => {
  const table = things();
  const wanted = table.add("b", { team: "red", 'we"ird.$[0] key': "1" });
  table.add("a", { team: "red" });
  table.add("b", { team: "blue" });
  expect(ids(table.list("type=b&metadata[team]=red"))).toEqual([wanted]);
  expect(ids(table.list(`metadata[${encodeURIComponent('we"ird.$[0] key')}]=1`))).toEqual([wanted]);
  expect(ids(table.list("created_at[gte]=1970-01-01T00:00:01Z&created_at[lt]=1970-01-01T01:00:02%2B01:00"))).toEqual([
    wanted,
  ]);
  expect(table.list("type=b&metadata[team]=green")).toEqual({
    object: "list",
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test("every fault of the parameters is named at once", () => {
  const query =
    "limit=0&order=up&created_at[gt]=yesterday&created_at[eq]=1&type=c&metadata[]=x&constructor=1&starting_after=x&ending_before=y&order=asc";
  try {
    readPage(path(query), { type: ["a", "b"] });
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
