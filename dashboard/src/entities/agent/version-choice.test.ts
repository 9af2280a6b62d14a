import { expect, test } from "bun:test";
import { chosenFields, readChoiceText, textOfChoice, versionOptions } from "./version-choice.ts";

test("a choice of a version survives its way through a form: a label, a version, or the newest", () => {
  for (const choice of [
    { version: null, label: "production" },
    { version: 3, label: null },
    { version: null, label: null },
  ])
    expect(readChoiceText(textOfChoice(choice))).toEqual(choice);
  expect([chosenFields("@beta"), chosenFields("3"), chosenFields("")]).toEqual([{ label: "beta" }, { version: 3 }, {}]);
});

const labels = [
  {
    name: "beta",
    version: null,
    split: [
      { version: 2, percent: 90 },
      { version: 3, percent: 10 },
    ],
  },
  { name: "production", version: 2, split: null },
];

test("the choices are the newest version, the labels with what they hold, and the versions", () => {
  expect(versionOptions({ newest: 3, labels, chosen: "" })).toEqual([
    { value: "", label: "Newest (v3)" },
    { value: "@beta", label: "beta (v3 10% · v2 90%)", group: "Labels" },
    { value: "@production", label: "production (v2)", group: "Labels" },
    { value: "3", label: "v3", group: "Versions" },
    { value: "2", label: "v2", group: "Versions" },
    { value: "1", label: "v1", group: "Versions" },
  ]);
  const few = versionOptions({ newest: 3, labels, chosen: "", onlyLabels: true });
  expect(few.map(({ value }) => value)).toEqual(["", "@beta", "@production"]);
});

test("what was chosen stays a choice: a label that was deleted, one that is still loading, a very old version", () => {
  const has = (value: string, given: Parameters<typeof versionOptions>[0]) =>
    versionOptions(given).find((option) => option.value === value)?.label;
  expect(has("@old", { newest: 3, labels, chosen: "@old" })).toBe("old (deleted)");
  expect(has("@old", { newest: undefined, labels: undefined, chosen: "@old" })).toBe("old");
  expect(has("7", { newest: 500, labels, chosen: "7" })).toBe("v7");
  expect(has("7", { newest: undefined, labels: undefined, chosen: "7" })).toBe("v7");
  expect(versionOptions({ newest: 500, labels, chosen: "" })).toHaveLength(1 + 2 + 100);
});
