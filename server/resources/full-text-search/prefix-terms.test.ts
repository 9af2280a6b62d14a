import { expect, spyOn, test } from "bun:test";
import { openDatabase } from "../../storage/db/open.ts";
import { createPrefixTerms } from "./prefix-terms.ts";

test("other requests are answered while prefix terms are looked up", async () => {
  const { sqlite, close } = openDatabase(":memory:");
  const words = Array.from({ length: 2000 }, (_, at) => `begin${1000 + at}`);
  sqlite.run("INSERT INTO search_words (rowid, place, title, text) VALUES (1, '', '', ?)", [words.join(" ")]);
  let now = 0;
  using _ = spyOn(performance, "now").mockImplementation(() => ++now); // Each term takes a millisecond or more.
  const order: string[] = [];
  const found = createPrefixTerms(sqlite)("begin").finally(() => order.push("found"));
  setImmediate(() => order.push("another"));
  expect(await found).toEqual(words.slice(0, 1500));
  expect(order).toEqual(["another", "found"]);
  close();
});
