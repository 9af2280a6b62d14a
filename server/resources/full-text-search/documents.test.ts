import { expect, test } from "bun:test";
import { newId, timeOf } from "../../domain/ids.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { createDocuments, numberOf } from "./documents.ts";

test.each([
  ["of today", "01kav9ft00", 1_764_000_000_000],
  ["centuries ahead", "2ejj8my000", 86_400_000_000_000],
])("documents created in one millisecond have unique integer numbers, by a clock %s", (_, time, created_at_ms) => {
  const ids = Array.from({ length: 5 }, (_, index) => `file_${time}0000000000000${index}4c`);
  expect(ids.map(timeOf)).toEqual(ids.map(() => created_at_ms));
  const { sqlite, close } = openDatabase(":memory:");
  sqlite.run("PRAGMA foreign_keys = OFF"); // Their projects do not matter here.
  const documents = createDocuments(sqlite);
  for (const id of ids)
    documents.put({ project_id: "proj_a", environment: "live", id, created_at_ms }, "file", "place", {
      title: "A",
      text: "word",
    });
  const numbers = sqlite.query("SELECT number FROM search_documents ORDER BY number").values().flat();
  expect(numbers).toEqual(ids.map((id, index) => numberOf(id) + index));
  expect(numbers.every(Number.isSafeInteger)).toBe(true);
  close();
});

test("documents sort in the order of their creation while the clock stands still, however many there are", () => {
  const numbers = Array.from({ length: 3000 }, () => numberOf(newId("run", 1_700_000_000_000)));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
});
