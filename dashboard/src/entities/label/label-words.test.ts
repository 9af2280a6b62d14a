import { expect, test } from "bun:test";
import { holdsBriefly, holdsWords, labelReference, progressWords, ruleWords, sharesOf } from "./label-words.ts";

const split = {
  version: null,
  split: [
    { version: 2, percent: 87.5 },
    { version: 3, percent: 12.5 },
  ],
};

test("what a label holds is said with the newer version first and exact percents", () => {
  expect(holdsWords({ version: 3, split: null })).toBe("version 3");
  expect(holdsWords(split)).toBe("version 3 for 12.5%, version 2 for 87.5%");
  expect([holdsBriefly({ version: 3, split: null }), holdsBriefly(split)]).toEqual(["v3", "v3 12.5% · v2 87.5%"]);
  expect(sharesOf(split).map(({ version }) => version)).toEqual([3, 2]);
});

test("a rule for automatic rollback is said in words, with the version that it watches", () => {
  expect(ruleWords({ failure_rate: 0.2, min_runs: 20 }, split)).toBe(
    "If 20% or more of the runs of version 3 fail. Counts from 20 runs that ended.",
  );
  expect(ruleWords({ score: { name: "feedback", below: 0.5 }, min_runs: 1 }, { version: 4, split: null })).toBe(
    "If the mean of feedback is below 0.5. Counts from 1 run with this score.",
  );
  expect(ruleWords({ failure_rate: 0.005, score: { name: "ok", below: 1 }, min_runs: 5 }, split)).toBe(
    "If 0.5% or more of the runs of version 3 fail, or the mean of ok is below 1. Counts from 5 runs that ended.",
  );
});

test("how far a rule has come is said for each of its bounds", () => {
  const judged = { completed: 6, failed: 1, scores: [{ name: "feedback", count: 20, mean: 0.9 }] };
  const score = { name: "feedback", below: 0.5 };
  expect(progressWords({ failure_rate: 0.2, min_runs: 20 }, judged)).toBe("Ended: 7 of 20 runs.");
  expect(progressWords({ failure_rate: 0.2, score, min_runs: 7 }, judged)).toBe(
    "Ended: 7 runs: it counts. Scored: 20 runs: it counts.",
  );
  expect(progressWords({ score: { ...score, name: "other" }, min_runs: 1 }, judged)).toBe("Scored: 0 of 1 run.");
});

test("a reference names an agent whose name has an @ by its id", () => {
  expect(labelReference({ id: "agt_1", name: "refund-desk" }, "production")).toBe("refund-desk@production");
  expect(labelReference({ id: "agt_1", name: "help@acme" }, "production")).toBe("agt_1@production");
});
