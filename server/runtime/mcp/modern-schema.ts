import { isObject } from "../../lib/json.ts";
import { listKeywords, mapKeywords, single } from "../../lib/schema-graph.ts";

type Schema = Record<string, unknown>;

const depthMax = 64;

/**
 * Returns a schema of an older draft (4 to 2019-09) in the words of 2020-12. Many servers name no draft, or the newest
 * one, and write tuples and limits in the old way. Everything else stays as it is.
 */
export function modernSchema(node: unknown, depth = 0): unknown {
  // A dangerous name is found and refused later.
  if (!isObject(node) || depth > depthMax || Object.hasOwn(node, "__proto__")) return node;
  const modern: Schema = {};
  const inner = (value: unknown) => modernSchema(value, depth + 1);
  const all = (value: object) => Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "items" && Array.isArray(value)) {
      if (value.length > 0) modern.prefixItems = value.map(inner);
    } else if (keyword === "additionalItems") {
      // Beside a single schema of all items it has no effect.
      if (Array.isArray(node.items)) modern.items = inner(value);
    } else if (keyword === "dependencies" && isObject(value)) readDependencies(value);
    else if (single.includes(keyword)) modern[keyword] = inner(value);
    else if (listKeywords.includes(keyword) && Array.isArray(value)) modern[keyword] = value.map(inner);
    else if (mapKeywords.includes(keyword) && isObject(value)) modern[keyword] = all(value);
    else modern[keyword] = value;
  }
  for (const [exclusive, limit] of limits) {
    if (typeof modern[exclusive] !== "boolean") continue;
    if (modern[exclusive] && limit in modern) modern[exclusive] = modern[limit];
    else delete modern[exclusive];
    if (exclusive in modern) delete modern[limit];
  }
  return modern;

  function readDependencies(dependencies: Schema): void {
    const isNames = ([, value]: [string, unknown]) => Array.isArray(value);
    const [names, schemas] = [true, false].map((wanted) =>
      Object.entries(dependencies).filter((entry) => isNames(entry) === wanted),
    ) as [[string, unknown][], [string, unknown][]];
    if (names.length > 0) modern.dependentRequired = Object.fromEntries(names);
    if (schemas.length > 0) modern.dependentSchemas = all(Object.fromEntries(schemas));
  }
}

const limits = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;
