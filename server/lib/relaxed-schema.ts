import { isObject } from "./json.ts";
import { isSafePattern } from "./redos-check.ts";
import { listKeywords, mapKeywords, single } from "./schema-graph.ts";

type Schema = Record<string, unknown>;

const relaxedSchemas = new WeakMap<Schema, Schema>();

/**
 * Returns the schema without patterns that cannot be run safely. It accepts all values that the schema accepts, and
 * perhaps more: keywords that would become stricter are left out too. Without such patterns it is the schema itself.
 */
export function relaxedSchema(schema: Schema): Schema {
  const known = relaxedSchemas.get(schema);
  if (known) return known;
  const relaxed = hasUnsafePattern(schema) ? (relax(schema) as Schema) : schema;
  relaxedSchemas.set(schema, relaxed);
  return relaxed;
}

function hasUnsafePattern(node: unknown): boolean {
  if (!isObject(node)) return false;
  if (typeof node.pattern === "string" && !isSafePattern(node.pattern)) return true;
  const { patternProperties } = node;
  if (isObject(patternProperties) && !Object.keys(patternProperties).every(isSafePattern)) return true;
  return subschemas(node).some(hasUnsafePattern);
}

function subschemas(node: Schema): unknown[] {
  const lists = listKeywords.flatMap((keyword) => (Array.isArray(node[keyword]) ? (node[keyword] as unknown[]) : []));
  const maps = mapKeywords.flatMap((keyword) => (isObject(node[keyword]) ? Object.values(node[keyword]) : []));
  return [...single.filter((keyword) => keyword in node).map((keyword) => node[keyword]), ...lists, ...maps];
}

/** True if a relaxed schema accepts more than this one, or may: a reference may lead to a pattern. */
const isUncertain = (node: unknown): boolean => hasUnsafePattern(node) || hasReference(node);

const hasReference = (node: unknown): boolean =>
  isObject(node) && ("$ref" in node || subschemas(node).some(hasReference));

function relax(node: unknown): unknown {
  if (!isObject(node)) return node;
  const relaxed: Schema = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "pattern" && typeof value === "string" && !isSafePattern(value)) continue;
    // Without an unsafe pattern fewer parts count as evaluated.
    if (keyword === "unevaluatedProperties" || keyword === "unevaluatedItems") continue;
    if (single.includes(keyword)) relaxed[keyword] = relax(value);
    else if (listKeywords.includes(keyword) && Array.isArray(value)) relaxed[keyword] = value.map(relax);
    else if (mapKeywords.includes(keyword) && isObject(value))
      relaxed[keyword] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, relax(inner)]));
    else relaxed[keyword] = value;
  }
  if (isObject(relaxed.patternProperties)) leaveOutNames(relaxed, relaxed.patternProperties);
  if (isUncertain(node.not)) delete relaxed.not;
  if (isUncertain(node.if)) for (const keyword of ["if", "then", "else"]) delete relaxed[keyword];
  if (isUncertain(node.contains)) delete relaxed.maxContains;
  if (Array.isArray(node.oneOf) && node.oneOf.some(isUncertain)) {
    const { oneOf, allOf } = relaxed;
    delete relaxed.oneOf;
    relaxed.allOf = [...((allOf as unknown[] | undefined) ?? []), { anyOf: oneOf }];
  }
  return relaxed;
}

/** Leaves out names of properties that cannot be matched safely, and the rule for all names that match none. */
function leaveOutNames(schema: Schema, patternProperties: Schema): void {
  const safe = Object.entries(patternProperties).filter(([name]) => isSafePattern(name));
  if (safe.length === Object.keys(patternProperties).length) return;
  schema.patternProperties = Object.fromEntries(safe);
  delete schema.additionalProperties;
}
