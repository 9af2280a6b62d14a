import { expect, test } from "bun:test";
import { detailsLine } from "./details-line.ts";

test("details are read as words, lists by their items", () => {
  expect(detailsLine({ name: "Support", version: 3, changes: ["instructions", "tools"], has_key: true })).toBe(
    "name: Support, version: 3, changes: instructions tools, has key: true",
  );
  expect(detailsLine({ changes: [] })).toBe("changes: none");
  expect(detailsLine({})).toBe("");
});
