import { expect, test } from "bun:test";
import { created, entriesOf, requested } from "../../domain/__fixtures__/events.ts";
import type { EndedRun } from "../../storage/journal/post-run-projections.ts";
import { facetWord } from "./facets.ts";
import { runTexts } from "./index-text.ts";

test("a run is found by at most a thousand tools, however many its model called", () => {
  const run = { model: "test/script", metadata: "{}", worked_ms: 1, summary: null } as EndedRun;
  const texts = runTexts(run);
  const ids = Array.from({ length: 5000 }, (_, index) => `call${index}`);
  for (const entry of entriesOf(created(), ...ids.map((id, index) => requested(id, index)))) texts.entry(entry);
  const found = new Set(texts.facets());
  const isFound = (id: string) => found.has(facetWord("tool", `tool_of_${id}`));
  expect(ids.filter(isFound)).toEqual(ids.slice(0, 1000));
});
