import { type ExactNumber, isExactNumber } from "./exact-numbers.ts";
import { hasParts, isObject } from "./json.ts";
import { listed, mapped, single } from "./schema-graph.ts";

// A validator knows numbers and big integers, and compares the two exactly.

/** A value as a validator compares it: whole numbers beyond the safe ones as big integers. */
export function comparedValue(value: unknown): unknown {
  if (isExactNumber(value)) return comparedNumber(value);
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(comparedValue);
  if (!hasParts(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, comparedValue(inner)]));
}

const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "enum"];

/** A schema that takes such a value for what it took the number for. */
export function comparedSchema(node: unknown): unknown {
  if (!isObject(node)) return node;
  const schema: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "type") schema.type = comparedType(value);
    else if (single.includes(keyword)) schema[keyword] = comparedSchema(value);
    else if (listed.includes(keyword)) schema[keyword] = (value as unknown[]).map(comparedSchema);
    else if (mapped.includes(keyword)) schema[keyword] = mappedSchemas(value as object);
    else if (bounds.includes(keyword)) schema[keyword] = comparedValue(value);
    else schema[keyword] = isExactNumber(value) ? Number(value.rawJSON) : value;
  }
  // A big integer is divided by nothing but another one. It is a multiple of every part of one, such as 0.01.
  if (schema.multipleOf === undefined || Number.isInteger(schema.multipleOf)) return schema;
  const { multipleOf, allOf, ...rest } = schema;
  return { ...rest, allOf: [...((allOf as unknown[]) ?? []), { if: { type: "bigint" }, else: { multipleOf } }] };
}

const mappedSchemas = (schemas: object): object =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, comparedSchema(schema)]));

function comparedType(type: unknown): unknown {
  const types = [type].flat();
  return types.includes("integer") || types.includes("number") ? [...types, "bigint"] : type;
}

// More digits than any number has that is meant.
const longest = 1000;

/** What is no whole number is compared as the nearest one that there is. */
function comparedNumber({ rawJSON }: ExactNumber): number | bigint {
  const [, sign, whole, part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(rawJSON)!;
  const digits = `${whole}${part}`;
  const end = whole!.length + Number(power);
  if (end > 0 && end <= longest && digits.length <= longest && /^0*$/.test(digits.slice(end)))
    return BigInt(digits.slice(0, end).padEnd(end, "0")) * (sign ? -1n : 1n);
  const nearest = Number(rawJSON);
  return Number.isFinite(nearest) ? nearest : Math.sign(nearest) * Number.MAX_VALUE;
}
