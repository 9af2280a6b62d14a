import { isJsonObject, readJson } from "./json-text.ts";
import { maxSchemaRows } from "./max-schema-rows.ts";

/** Tests of an argument. Each is a JSON Schema keyword, except `given`, which stands for `required`. */
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

/** A test of one tool argument. */
export interface Condition {
  name: string;
  test: ConditionTest;
  /** Typed text; for `enum`, one value per line. */
  value: string;
}

const isTest = (word: string): word is ConditionTest =>
  word !== "given" && conditionTests.includes(word as ConditionTest);

/** Formats a value as a form line: strings as plain text unless that would be ambiguous. */
function formatFormLine(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = value.trim() === value && /^[^\r\n]+$/.test(value) && readJson(value).fault !== null;
  return isPlain ? value : JSON.stringify(value);
}

/** Parses a form line: JSON if valid, otherwise a string. */
function parseFormLine(line: string): unknown {
  const { value, fault } = readJson(line);
  return fault === null ? value : line;
}

const numeric: readonly ConditionTest[] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

function conditionOf(name: string, test: ConditionTest, value: unknown): Condition | null {
  if (numeric.includes(test)) return typeof value === "number" ? { name, test, value: String(value) } : null;
  if (test === "const") return { name, test, value: formatFormLine(value) };
  if (test === "enum") {
    const isList = Array.isArray(value) && value.length > 0;
    return isList ? { name, test, value: value.map(formatFormLine).join("\n") } : null;
  }
  const isLine = typeof value === "string" && value !== "" && !/[\r\n]/.test(value);
  return isLine ? { name, test, value } : null;
}

/** Converts a schema to conditions; null if they cannot express it. */
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
  return found.length <= maxSchemaRows && found.every((each) => each !== null) ? found : null;
}

/** Converts conditions to a schema, without incomplete ones. */
export function schemaOfConditions(conditions: readonly Condition[]): Record<string, unknown> {
  const completeConditions = conditions.filter(
    ({ name, test, value }) => name !== "" && (test === "given" || value !== ""),
  );
  const properties = new Map<string, Record<string, unknown>>();
  for (const { name, test, value } of completeConditions)
    if (test !== "given") properties.set(name, { ...properties.get(name), [test]: conditionsOfProperty(test, value) });
  const required = [...new Set(completeConditions.filter(({ test }) => test === "given").map(({ name }) => name))];
  return {
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

function conditionsOfProperty(test: ConditionTest, value: string): unknown {
  if (test === "enum") return value.split("\n").filter(Boolean).map(parseFormLine);
  if (test === "const") return parseFormLine(value);
  // Text that is no number stays text: the server reports the error.
  return numeric.includes(test) && Number.isFinite(Number(value)) ? Number(value) : value;
}
