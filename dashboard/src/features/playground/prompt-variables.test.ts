import { expect, test } from "bun:test";
import { filled, givenFor, keptValues, variablesIn } from "./prompt-variables.ts";

test("variables are found by name, each once, whatever stands around them", () => {
  expect(variablesIn("Dear {{name}}, {{ order_id }}{{name}}", "{{city}} {{secret.KEY}} {{1}} {{}} { {x} }")).toEqual([
    "name",
    "order_id",
    "city",
  ]);
});

test("what has a value is replaced, what has none stays, and a value is not read again", () => {
  const values = { name: "Ada {{city}} $&", city: "Oslo", empty: "" };
  expect(filled("{{ name }} in {{city}}: {{empty}} {{toString}} {{other}}", values)).toBe(
    "Ada {{city}} $& in Oslo: {{empty}} {{toString}} {{other}}",
  );
});

test("what is kept of another shape is nothing", () => {
  expect(keptValues('{"a": "1", "b": 2}')).toEqual({ a: "1" });
  for (const text of ["", "[", "[1]", "null"]) expect(keptValues(text)).toEqual({});
});

test("names of any script are variables, and those of what every object has are empty at first", () => {
  expect(variablesIn("{{größe}} {{顧客}} {{constructor}} {{__proto__}} {{}} {{ }} {{1a}} {{{{x}}}}")).toEqual([
    "größe",
    "顧客",
    "constructor",
    "__proto__",
    "x",
  ]);
  for (const name of ["constructor", "__proto__", "toString"]) expect(givenFor({}, name)).toBe("");
  expect(filled("{{constructor}} {{__proto__}}", {})).toBe("{{constructor}} {{__proto__}}");
});
