import { expect, test } from "bun:test";
import { firstLiveDraft, liveBody, liveFaults } from "./live-draft.ts";

const live = { ...firstLiveDraft, continuesLive: true };
const none = { cost: null, tokens: null, forks: null };

test("a replay-only run sends no budget, whatever the fields contain", () => {
  expect(liveBody({ ...firstLiveDraft, cost: "nonsense" })).toEqual({});
  expect(liveFaults({ ...firstLiveDraft, cost: "nonsense" })).toEqual(none);
});

test("typed values become the budget, and an empty field means no limit", () => {
  expect(liveBody(live)).toEqual({ live: { max_cost_usd: 1, max_runs: 20 } });
  expect(liveBody({ ...live, cost: " ", tokens: "5000", forks: "" })).toEqual({ live: { max_total_tokens: 5000 } });
});

test.each([
  ["cost", "0"],
  ["cost", "-1"],
  ["cost", "a lot"],
  ["tokens", "1.5"],
  ["forks", "0"],
  ["forks", "501"],
] as const)("the field %s rejects %s", (field, text) => {
  expect(liveFaults({ ...live, [field]: text })[field]).not.toBeNull();
});

test("an amount may omit the leading zero", () => {
  expect(liveFaults({ ...live, cost: ".5" })).toEqual(none);
});
