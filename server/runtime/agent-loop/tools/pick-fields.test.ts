import { expect, test } from "bun:test";
import { pickFields } from "./pick-fields.ts";

const answer = {
  total: 2,
  results: [
    { title: "A", url: "https://a", meta: { by: { name: "Ada", id: 1 }, at: 3 } },
    { title: "B", score: null, meta: null },
  ],
  next: null,
};

test.each<[string[], unknown]>([
  [["total"], { total: 2 }],
  [["results.title"], { results: [{ title: "A" }, { title: "B" }] }],
  [
    ["results.title", "results.meta.by.name"],
    {
      results: [
        { title: "A", meta: { by: { name: "Ada" } } },
        { title: "B", meta: null },
      ],
    },
  ],
  [["next", "missing", "total.inner"], { next: null, total: 2 }],
  [["results.meta", "results.meta.at"], { results: [{ meta: answer.results[0]!.meta }, { meta: null }] }],
  [["results.meta.at", "results.meta"], { results: [{ meta: answer.results[0]!.meta }, { meta: null }] }],
  [["__proto__", "constructor", "results.__proto__.x"], { results: [{}, {}] }],
])("only the named fields of a response stay: %j", (paths, picked) => {
  expect(pickFields(answer, paths)).toEqual(picked);
});

test("a response that is a list, or no object at all, is read as well", () => {
  expect(pickFields([{ id: 1, x: 2 }, { id: 3 }], ["id"])).toEqual([{ id: 1 }, { id: 3 }]);
  expect(pickFields("text", ["id"])).toBe("text");
  expect(pickFields([[{ id: 1, x: 1 }]], ["id"])).toEqual([[{ id: 1 }]]);
});

test("without paths the response is unchanged", () => {
  expect(pickFields(answer, undefined)).toBe(answer);
});
