import { expect, test } from "bun:test";
import { renderToStaticMarkup } from "react-dom/server";
import { JsonView } from "./json-view.tsx";

/** Text of the collapsed outermost value. */
const folded = (value: unknown): string => {
  const [, summary = ""] =
    /<summary[^>]*>(.*?)<\/summary>/s.exec(renderToStaticMarkup(<JsonView value={value} />)) ?? [];
  return summary.replaceAll(/<[^>]*>/g, "").trim();
};

test.each<[unknown, string]>([
  [Array.from({ length: 30 }, (_, at) => ({ at })), "[ 30 entries ]"],
  [[{ text: "a".repeat(100) }], "[ 1 entry ]"],
  [{ first: "a".repeat(100), second: [1] }, "{ 2 entries }"],
])("a collapsed list or object shows its size and its end", (value, seen) => {
  expect(folded(value)).toBe(seen);
});
