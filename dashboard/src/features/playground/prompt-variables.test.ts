import { expect, test } from "bun:test";
import { fillVariables, parseStoredValues, variablesIn, variableValue } from "./prompt-variables.ts";

test("variables are found by name, each once, regardless of the surrounding text", () => {
  expect(variablesIn("Dear {{name}}, {{ order_id }}{{name}}", "{{city}} {{secret.KEY}} {{1}} {{}} { {x} }")).toEqual([
    "name",
    "order_id",
    "city",
  ]);
});

test("variables with a value are replaced, others stay, and values are not expanded again", () => {
  const values = { name: "Ada {{city}} $&", city: "Oslo", empty: "" };
  expect(fillVariables("{{ name }} in {{city}}: {{empty}} {{toString}} {{other}}", values)).toBe(
    "Ada {{city}} $& in Oslo: {{empty}} {{toString}} {{other}}",
  );
});

test("stored values of another shape are ignored", () => {
  expect(parseStoredValues('{"a": "1", "b": 2}')).toEqual({ a: "1" });
  for (const text of ["", "[", "[1]", "null"]) expect(parseStoredValues(text)).toEqual({});
});

test("variable names may use any script, and names of Object.prototype have no value at first", () => {
  expect(variablesIn("{{größe}} {{顧客}} {{constructor}} {{__proto__}} {{}} {{ }} {{1a}} {{{{x}}}}")).toEqual([
    "größe",
    "顧客",
    "constructor",
    "__proto__",
    "x",
  ]);
  for (const name of ["constructor", "__proto__", "toString"]) expect(variableValue({}, name)).toBe("");
  expect(fillVariables("{{constructor}} {{__proto__}}", {})).toBe("{{constructor}} {{__proto__}}");
});
