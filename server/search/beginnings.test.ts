import { expect, spyOn, test } from "bun:test";
import { openDatabase } from "../db/open.ts";
import { createBeginnings } from "./beginnings.ts";

test("others are answered while the first words that begin so are looked for", async () => {
  const { sqlite, close } = openDatabase(":memory:");
  const words = Array.from({ length: 2000 }, (_, at) => `begin${1000 + at}`);
  sqlite.run("INSERT INTO search_words (rowid, place, title, text) VALUES (1, '', '', ?)", [words.join(" ")]);
  let now = 0;
  using _ = spyOn(performance, "now").mockImplementation(() => ++now); // Each word takes a millisecond or more.
  const order: string[] = [];
  const found = createBeginnings(sqlite)("begin").finally(() => order.push("found"));
  setImmediate(() => order.push("another"));
  expect(await found).toEqual(words.slice(0, 1500));
  expect(order).toEqual(["another", "found"]);
  close();
});
