import { expect, test } from "bun:test";
import type { Variable } from "../../../../server/domain/variable.ts";
import {
  fromVariableRow,
  missingVariable,
  newVariableRow,
  toVariableRow,
  typedValue,
  typedValues,
} from "./variable-rows.ts";

test("variables are the same after they were shown in the form", () => {
  const variables: Variable[] = [
    { name: "customer", type: "string", required: true, description: "Who asks." },
    { name: "days", type: "integer", default: 14 },
    { name: "is_new", type: "boolean", default: false },
    { name: "tone", type: "string", enum: ["kind", "short"], default: "kind" },
  ];
  expect(variables.map(toVariableRow).map(fromVariableRow)).toEqual(variables);
  expect(fromVariableRow({ ...newVariableRow, name: " x " })).toEqual({ name: "x", type: "string", required: true });
});

test("a typed text becomes a value of its type, and stays a text that the server refuses otherwise", () => {
  expect([typedValue("number", "2.5"), typedValue("integer", " 3 "), typedValue("boolean", "true")]).toEqual([
    2.5,
    3,
    true,
  ]);
  expect([typedValue("string", "5"), typedValue("integer", "x"), typedValue("boolean", "no")]).toEqual([
    "5",
    "x",
    "no",
  ]);
});

test("values that are not typed are not sent", () => {
  const variables: Variable[] = [
    { name: "customer", type: "string" },
    { name: "days", type: "integer" },
    { name: "toString", type: "string" },
  ];
  expect(typedValues(variables, { customer: "Ann", days: "", other: "x" })).toEqual({ customer: "Ann" });
});

test("a required variable is missing until it has a value, unless it has a default", () => {
  const variables: Variable[] = [
    { name: "days", type: "integer", required: true, default: 14 },
    { name: "tone", type: "string" },
    { name: "customer", type: "string", required: true },
  ];
  expect(missingVariable(variables, {})).toBe("customer");
  expect(missingVariable(variables, { customer: "Ann" })).toBeNull();
});
