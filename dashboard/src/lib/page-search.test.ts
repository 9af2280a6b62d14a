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
])("of %p the place %p is read: nothing else reaches the server", (search, place) => {
  expect(readPageSearch(search, "run")).toEqual(place);
});

test("what is sought by name lies on no page", () => {
  expect(readNamedSearch({ q: "desk", after: "run_1" }, "run")).toEqual({ q: "desk" });
  expect(readNamedSearch({ q: "", after: "run_1" }, "run")).toEqual({ after: "run_1" });
  expect(readNamedSearch({ q: 4711 }, "run")).toEqual({ q: "4711" });
});

test("a word that is not known is none", () => {
  expect(readChoice("b", ["a", "b"])).toBe("b");
  expect(readChoice("c", ["a", "b"])).toBeUndefined();
});

test("a text that looks like a number stays a text, and a long one is cut", () => {
  expect(readText(42)).toBe("42");
  expect(readText("x".repeat(300))).toHaveLength(200);
  expect(readText("")).toBeUndefined();
});
