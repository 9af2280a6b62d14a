import { expect, test } from "bun:test";
import { detailsLine } from "./details-line.ts";

test("details are formatted as words and lists by their items", () => {
  expect(detailsLine({ name: "Support", version: 3, changes: ["instructions", "tools"], has_key: true })).toBe(
    "name: Support, version: 3, changes: instructions tools, has key: yes",
  );
  expect(detailsLine({ changes: [] })).toBe("changes: none");
  expect(detailsLine({ expires_at: "2027-02-26T12:17:14.507Z", enabled: false })).toBe(
    "expires at: 26 Feb 2027, enabled: no",
  );
  expect(detailsLine({})).toBe("");
});
