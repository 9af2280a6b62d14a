import { isJsonObject, readJson } from "./json-text.ts";
import { mostRows } from "./most-rows.ts";

/** What is asked of an argument. Each is a keyword of JSON Schema, but `given`: that is to be in `required`. */
const conditionTests = [
  "given",
  "const",
  "enum",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "pattern",
  "type",
] as const;
export type ConditionTest = (typeof conditionTests)[number];

/** One thing that is asked of one argument of a tool. */
export interface Condition {
  name: string;
  test: ConditionTest;
  /** As somebody writes it; of `enum` a line each. */
  value: string;
}

const isTest = (word: string): word is ConditionTest =>
  word !== "given" && conditionTests.includes(word as ConditionTest);

/** A value in a line of a form: text as it is, unless it could be taken for another value. */
function shown(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = value.trim() === value && /^[^\r\n]+$/.test(value) && readJson(value).fault !== null;
  return isPlain ? value : JSON.stringify(value);
}

/** What a line means: JSON where it is some, else a text. */
function meant(line: string): unknown {
  const { value, fault } = readJson(line);
  return fault === null ? value : line;
}

const numeric: readonly ConditionTest[] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

function conditionOf(name: string, test: ConditionTest, value: unknown): Condition | null {
  if (numeric.includes(test)) return typeof value === "number" ? { name, test, value: String(value) } : null;
  if (test === "const") return { name, test, value: shown(value) };
  if (test === "enum") {
    const isList = Array.isArray(value) && value.length > 0;
    return isList ? { name, test, value: value.map(shown).join("\n") } : null;
  }
  const isLine = typeof value === "string" && value !== "" && !/[\r\n]/.test(value);
  return isLine ? { name, test, value } : null;
}

/** The conditions that a schema of arguments says, or null where it says more than they can. */
export function conditionsOf(schema: unknown): Condition[] | null {
  if (!isJsonObject(schema)) return null;
  const { type = "object", properties = {}, required = [], ...more } = schema;
  if (type !== "object" || !isJsonObject(properties) || Object.keys(more).length > 0) return null;
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string" && name !== "")) return null;
  const found: (Condition | null)[] = [];
  for (const [name, inner] of Object.entries(properties)) {
    const words = isJsonObject(inner) ? Object.entries(inner) : [];
    if (name === "" || words.length === 0) return null;
    for (const [word, value] of words) found.push(isTest(word) ? conditionOf(name, word, value) : null);
  }
  for (const name of required) found.push({ name, test: "given", value: "" });
  return found.length <= mostRows && found.every((each) => each !== null) ? found : null;
}

/** The schema that all conditions together are. What has no name or no value yet is left out. */
export function schemaOfConditions(conditions: readonly Condition[]): Record<string, unknown> {
  const said = conditions.filter(({ name, test, value }) => name !== "" && (test === "given" || value !== ""));
  const properties = new Map<string, Record<string, unknown>>();
  for (const { name, test, value } of said)
    if (test !== "given") properties.set(name, { ...properties.get(name), [test]: askedOf(test, value) });
  const required = [...new Set(said.filter(({ test }) => test === "given").map(({ name }) => name))];
  return {
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

function askedOf(test: ConditionTest, value: string): unknown {
  if (test === "enum") return value.split("\n").filter(Boolean).map(meant);
  if (test === "const") return meant(value);
  // What is no number is left as it is: the server says so.
  return numeric.includes(test) && Number.isFinite(Number(value)) ? Number(value) : value;
}
