import { isObject } from "./json.ts";
import { matchSteps, maxMatched } from "./redos-check.ts";
import { inPlaceSubschemas } from "./schema-graph.ts";

const maxSteps = 500_000;
const maxDepth = 1000;
const charsPerStep = 20;
const matchesPerStep = 300;

/** Reason why a value cannot be validated; `path` is a JSON pointer. */
interface Excess {
  path: string;
  message: string;
}

type Node = Record<string, unknown>;

/**
 * Returns the reason why validating a value would take too long, or null. Walks like a validator that never stops
 * early, until a step budget is used up: recursion over data can double the work with each level.
 */
export function schemaCostExcess(schema: Node, value: unknown): Excess | null {
  const costs = { schema, left: maxSteps, sizes: new Map<unknown, number>(), patterns: new Map<string, Matcher>() };
  return visit(costs, schema, value, "", 0);
}

type Matcher = (length: number) => number;

interface Costs {
  schema: Node;
  left: number;
  sizes: Map<unknown, number>;
  patterns: Map<string, Matcher>;
}

function visit(costs: Costs, node: unknown, value: unknown, path: string, depth: number): Excess | null {
  if (!isObject(node)) return spend(costs, 1, path);
  if (depth > maxDepth) return tooLarge(path);
  const excess = spend(costs, ownSteps(costs, node, value), path) ?? textExcess(costs, node, value, path);
  if (excess) return excess;
  for (const inner of inPlaceSubschemas(costs.schema, node)) {
    const found = visit(costs, inner, value, path, depth + 1);
    if (found) return found;
  }
  if (Array.isArray(value)) return visitItems(costs, node, value, path, depth);
  return isObject(value) ? visitProperties(costs, node, value, path, depth) : null;
}

function visitItems(costs: Costs, node: Node, value: unknown[], path: string, depth: number): Excess | null {
  // `contains` is evaluated again for each limit on the number of matches.
  const schemas = [node.items, node.unevaluatedItems, node.contains, node.contains, node.contains];
  const itemSchemas = schemas.filter((schema) => schema !== undefined);
  const prefix = Array.isArray(node.prefixItems) ? node.prefixItems : [];
  for (const [index, item] of value.entries())
    for (const schema of index < prefix.length ? [prefix[index], ...itemSchemas] : itemSchemas) {
      const excess = visit(costs, schema, item, `${path}/${index}`, depth + 1);
      if (excess) return excess;
    }
  return null;
}

function visitProperties(costs: Costs, node: Node, value: Node, path: string, depth: number): Excess | null {
  const patterns = isObject(node.patternProperties) ? Object.entries(node.patternProperties) : [];
  const properties = isObject(node.properties) ? node.properties : {};
  const extraSchemas = [node.additionalProperties, node.unevaluatedProperties].filter((schema) => schema !== undefined);
  if (patterns.length + extraSchemas.length === 0 && node.propertyNames === undefined && node.properties === undefined)
    return null;
  for (const [name, inner] of Object.entries(value)) {
    const memberPath = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const schemas = [...extraSchemas, ...patterns.map(([, schema]) => schema)];
    if (Object.hasOwn(properties, name)) schemas.push(properties[name]);
    for (const [pattern] of patterns) {
      const excess = matchExcess(costs, pattern, name, memberPath);
      if (excess) return excess;
    }
    const names =
      node.propertyNames === undefined ? null : visit(costs, node.propertyNames, name, memberPath, depth + 1);
    if (names) return names;
    for (const schema of schemas) {
      const excess = visit(costs, schema, inner, memberPath, depth + 1);
      if (excess) return excess;
    }
  }
  return null;
}

// Steps of a schema node itself. The validator resolves a reference by walking the whole schema.
function ownSteps(costs: Costs, node: Node, value: unknown): number {
  let steps = 1 + Object.keys(node).length;
  for (const key of ["enum", "const", "required", "dependentRequired"])
    if (key in node) steps += sizeOf(costs, node[key]);
  if (node.$ref !== undefined) steps += sizeOf(costs, costs.schema);
  // The validator copies a list of results for each match.
  for (const key of ["anyOf", "oneOf"]) if (Array.isArray(node[key])) steps += node[key].length ** 2 / 50;
  if (isObject(node.properties)) steps += Object.keys(node.properties).length;
  if (isObject(value)) steps += Object.keys(value).length;
  if (Array.isArray(value)) steps += value.length;
  if (node.uniqueItems === true || node.enum !== undefined || node.const !== undefined) steps += sizeOf(costs, value);
  return steps;
}

function textExcess(costs: Costs, node: Node, value: unknown, path: string): Excess | null {
  if (typeof value !== "string") return null;
  const isRead = node.minLength !== undefined || node.maxLength !== undefined || node.format !== undefined;
  const excess = isRead ? spend(costs, value.length / charsPerStep, path) : null;
  if (excess) return excess;
  if (node.format !== undefined && value.length > maxMatched) return tooLong(path);
  return typeof node.pattern === "string" ? matchExcess(costs, node.pattern, value, path) : null;
}

function matchExcess(costs: Costs, pattern: string, text: string, path: string): Excess | null {
  if (text.length > maxMatched) return tooLong(path);
  let steps = costs.patterns.get(pattern);
  if (!steps) {
    steps = matchSteps(pattern) ?? (() => Number.POSITIVE_INFINITY);
    costs.patterns.set(pattern, steps);
  }
  return spend(costs, 1 + steps(text.length) / matchesPerStep, path);
}

function spend(costs: Costs, steps: number, path: string): Excess | null {
  costs.left -= steps;
  return costs.left < 0 ? tooLarge(path) : null;
}

const tooLarge = (path: string): Excess => ({ path, message: "is too large to check against this schema" });
const tooLong = (path: string): Excess => ({
  path,
  message: `must not be longer than ${maxMatched} characters to be compared with a pattern or a format`,
});

// Number of parts of a value; strings count per hundred characters.
function sizeOf(costs: Costs, data: unknown): number {
  if (typeof data === "string") return 1 + data.length / 100;
  if (typeof data !== "object" || data === null) return 1;
  const known = costs.sizes.get(data);
  if (known !== undefined) return known;
  const size = Object.values(data).reduce<number>((sum, inner) => sum + sizeOf(costs, inner), 1);
  costs.sizes.set(data, size);
  return size;
}
