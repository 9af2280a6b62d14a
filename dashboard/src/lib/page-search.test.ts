import { expect, test } from "bun:test";
import { readChoice, readNamedSearch, readPageSearch, readText } from "./page-search.ts";

test.each([
  [{ after: "run_1" }, { after: "run_1" }],
  [{ before: "run_1" }, { before: "run_1" }],
  [{ after: "run_1", before: "run_2" }, { after: "run_1" }],
  [{ after: "agt_1" }, {}],
  [{ after: "run_<b>" }, {}],
  [{ after: 7 }, {}],
  [{}, {}],
])("%p is read as position %p, and nothing else reaches the server", (search, place) => {
  expect(readPageSearch(search, "run")).toEqual(place);
});

test("a search by name has no page", () => {
  expect(readNamedSearch({ q: "desk", after: "run_1" }, "run")).toEqual({ q: "desk" });
  expect(readNamedSearch({ q: "", after: "run_1" }, "run")).toEqual({ after: "run_1" });
  expect(readNamedSearch({ q: 4711 }, "run")).toEqual({ q: "4711" });
});

test("an unknown word is ignored", () => {
  expect(readChoice("b", ["a", "b"])).toBe("b");
  expect(readChoice("c", ["a", "b"])).toBeUndefined();
});

test("numeric text stays text, and long text is cut", () => {
  expect(readText(42)).toBe("42");
  expect(readText("x".repeat(300))).toHaveLength(200);
  expect(readText("")).toBeUndefined();
});
