import { expect, test } from "bun:test";
import { argumentsLine } from "./arguments-line.ts";

test("a call's arguments fit into one line", () => {
  expect(argumentsLine({ city: "Oslo", days: 3, near: [1, 2] })).toBe("city: Oslo, days: 3, near: [1,2]");
  expect(argumentsLine({})).toBe("");
  expect(argumentsLine(null)).toBe("");
  expect(argumentsLine({ text: "a".repeat(10_000), more: 1 })).toHaveLength(121);
});
