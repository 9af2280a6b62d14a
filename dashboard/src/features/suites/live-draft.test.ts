import { expect, test } from "bun:test";
import { firstLiveDraft, liveBody, liveFaults } from "./live-draft.ts";

const live = { ...firstLiveDraft, goesOn: true };
const none = { cost: null, tokens: null, forks: null };

test("a replay alone sends nothing of a budget, whatever its fields say", () => {
  expect(liveBody({ ...firstLiveDraft, cost: "nonsense" })).toEqual({});
  expect(liveFaults({ ...firstLiveDraft, cost: "nonsense" })).toEqual(none);
});

test("what was written is the budget, and what is empty is no limit", () => {
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
] as const)("%s is not taken as %s", (field, text) => {
  expect(liveFaults({ ...live, [field]: text })[field]).not.toBeNull();
});

test("an amount without a leading zero is one", () => {
  expect(liveFaults({ ...live, cost: ".5" })).toEqual(none);
});
