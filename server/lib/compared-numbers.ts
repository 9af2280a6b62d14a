import { type ExactNumber, isExactNumber } from "./exact-numbers.ts";
import { hasParts, isObject } from "./json.ts";
import { listKeywords, mapKeywords, single } from "./schema-graph.ts";

// The validator knows numbers and big integers, and compares the two exactly.

/** Converts a value for the validator: integers beyond the safe range become big integers. */
export function comparedValue(value: unknown): unknown {
  if (isExactNumber(value)) return comparedNumber(value);
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(comparedValue);
  if (!hasParts(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, comparedValue(inner)]));
}

const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "enum"];

/** Converts a schema so that it accepts a big integer where it accepted the number. */
export function comparedSchema(node: unknown): unknown {
  if (!isObject(node)) return node;
  const schema: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "type") schema.type = comparedType(value);
    else if (single.includes(keyword)) schema[keyword] = comparedSchema(value);
    else if (listKeywords.includes(keyword)) schema[keyword] = (value as unknown[]).map(comparedSchema);
    else if (mapKeywords.includes(keyword)) schema[keyword] = mappedSchemas(value as object);
    else if (bounds.includes(keyword)) schema[keyword] = comparedValue(value);
    else schema[keyword] = isExactNumber(value) ? Number(value.rawJSON) : value;
  }
  // A big integer can only be divided by a big integer. It is a multiple of every fraction of one, such as 0.01.
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

// Longer than any number that is meant seriously.
const longest = 1000;

/** Converts an exact number: integers become big integers, all others the nearest number. */
function comparedNumber({ rawJSON }: ExactNumber): number | bigint {
  const [, sign, whole = "", part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(rawJSON) ?? [];
  const digits = `${whole}${part}`;
  const end = whole.length + Number(power);
  if (end > 0 && end <= longest && digits.length <= longest && /^0*$/.test(digits.slice(end)))
    return BigInt(digits.slice(0, end).padEnd(end, "0")) * (sign ? -1n : 1n);
  const nearest = Number(rawJSON);
  return Number.isFinite(nearest) ? nearest : Math.sign(nearest) * Number.MAX_VALUE;
}
