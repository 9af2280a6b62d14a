import { expect, test } from "bun:test";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import { type LabelDraft, labelBodyOf, labelDraftOf, labelFaults, labelFieldOf, otherPercent } from "./label-draft.ts";

const label = (held: Partial<AgentLabel>) =>
  ({ name: "production", version: null, split: null, rollback_on: null, revision: 4, ...held }) as AgentLabel;
const faultsOf = (change: Partial<LabelDraft>) =>
  Object.keys(labelFaults({ ...labelDraftOf(label({ version: 3 }), 5), ...change }));

test("a label that is sent unchanged is what it was, whatever it holds", () => {
  const split = [
    { version: 5, percent: 12.5 },
    { version: 3, percent: 87.5 },
  ];
  const rule = { failure_rate: 0.07, score: { name: "feedback", below: -0.5 }, min_runs: 30 };
  for (const held of [
    { version: 3 },
    { split },
    { split: [...split].reverse(), rollback_on: rule },
    { version: 1, rollback_on: { score: rule.score, min_runs: 1 } },
  ]) {
    const draft = labelDraftOf(label(held), 5);
    expect(labelFaults(draft)).toEqual({});
    const { version, split: shares } = { version: undefined, split: undefined, ...held };
    expect(labelBodyOf(draft, 4)).toEqual({
      ...(version === undefined ? { split } : { version }),
      rollback_on: (held as Partial<AgentLabel>).rollback_on ?? null,
      expected_revision: 4,
    });
    expect(draft.holds).toBe(shares ? "split" : "one");
  }
});

test("a new label holds the newest version, and a new split gives it a tenth of the runs", () => {
  const draft = { ...labelDraftOf(null, 5), name: "beta" };
  expect(labelBodyOf(draft, 0)).toEqual({ version: 5, rollback_on: null, expected_revision: 0 });
  expect(labelBodyOf({ ...draft, holds: "split" }, 0).split).toEqual([
    { version: 5, percent: 10 },
    { version: 4, percent: 90 },
  ]);
});

test("the other version gets what is left of a hundred percent, exactly", () => {
  const rests = ["10", "33.33", "0", "100", "99.99", "0.07"].map((percent) => otherPercent({ percent }));
  expect(rests).toEqual([90, 66.67, 100, 0, 0.01, 99.93]);
  for (const percent of ["", "-1", "100.01", "1.234", "ten", "1e9"]) expect(otherPercent({ percent })).toBeNull();
});

test("each wrong value is reported at its field", () => {
  expect(faultsOf({ name: " " })).toEqual(["name"]);
  for (const name of ["Production", "7", "a b", "x".repeat(65), "a@b"]) expect(faultsOf({ name })).toEqual(["name"]);
  expect(faultsOf({ holds: "split", percent: "101", other: "3" })).toEqual(["percent", "other"]);
  expect(faultsOf({ rollsBack: true, failurePercent: "" })).toEqual(["failurePercent"]);
  expect(faultsOf({ rollsBack: true, failurePercent: "0" })).toEqual(["failurePercent"]);
  expect(faultsOf({ rollsBack: true, failurePercent: "", scoreName: "ok" })).toEqual(["scoreBelow"]);
  expect(faultsOf({ rollsBack: true, scoreBelow: "1" })).toEqual(["scoreName"]);
  expect(faultsOf({ rollsBack: true, minRuns: "1001" })).toEqual(["minRuns"]);
  // A rule that is off has no faults.
  expect(faultsOf({ failurePercent: "many", minRuns: "" })).toEqual([]);
});

test("an error of the API is shown at the field that it is about", () => {
  const fields = ["label", "split[0].version", "split[0].percent", "split[1].version", "version"].map(labelFieldOf);
  expect(fields).toEqual(["name", "version", "percent", "other", "version"]);
  expect(["rollback_on.score.name", "rollback_on.failure_rate"].map(labelFieldOf)).toEqual([
    "scoreName",
    "failurePercent",
  ]);
  expect(labelFieldOf("rollback_on")).toBeUndefined();
});
