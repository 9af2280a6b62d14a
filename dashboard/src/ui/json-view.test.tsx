import { expect, test } from "bun:test";
import { renderToStaticMarkup } from "react-dom/server";
import { JsonView } from "./json-view.tsx";

/** What a reader sees of the outermost value while it is folded. */
const folded = (value: unknown): string => {
  const [, summary = ""] =
    /<summary[^>]*>(.*?)<\/summary>/s.exec(renderToStaticMarkup(<JsonView value={value} />)) ?? [];
  return summary.replaceAll(/<[^>]*>/g, "").trim();
};

test.each<[unknown, string]>([
  [Array.from({ length: 30 }, (_, at) => ({ at })), "[ 30 entries ]"],
  [[{ text: "a".repeat(100) }], "[ 1 entry ]"],
  [{ first: "a".repeat(100), second: [1] }, "{ 2 entries }"],
])("a folded list or object says how much is in it, and where it ends", (value, seen) => {
  expect(folded(value)).toBe(seen);
});
