import { isObject } from "./json.ts";

const maxParts = 5000;

// Keywords whose value is a schema, a list of schemas, or a map of names to schemas.
export const single = [
  "additionalProperties",
  "items",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
  "additionalItems",
];
export const listKeywords = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const mapKeywords = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

const inPlaceSingle = ["not", "if", "then", "else"];
const inPlaceListed = ["allOf", "anyOf", "oneOf"];

/** Resolves a reference such as `#/$defs/name`. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let found = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** Subschemas that apply to the same value as this schema. */
export function inPlaceSubschemas(root: unknown, node: Record<string, unknown>): unknown[] {
  const inner = inPlaceSingle.filter((key) => key in node).map((key) => node[key]);
  for (const key of inPlaceListed) if (Array.isArray(node[key])) inner.push(...node[key]);
  if (isObject(node.dependentSchemas)) inner.push(...Object.values(node.dependentSchemas));
  if (typeof node.$ref === "string") inner.push(resolvePointer(root, node.$ref));
  return inner;
}

// Subschemas that apply to parts of the value.
function deeper(node: Record<string, unknown>): unknown[] {
  const inner = single.filter((key) => key in node && !inPlaceSingle.includes(key)).map((key) => node[key]);
  if (Array.isArray(node.prefixItems)) inner.push(...node.prefixItems);
  for (const key of ["properties", "patternProperties"])
    if (isObject(node[key])) inner.push(...Object.values(node[key]));
  return inner;
}

/** Returns the fault of a schema's references: endless, or growing with each level. Null if there is none. */
export function expansionFault(root: Record<string, unknown>): string | null {
  const sizes = new Map<unknown, number>();
  const sizeOf = (node: unknown): number => {
    if (!isObject(node)) return 1;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    sizes.set(node, 1); // Reached again below itself: recursion that is bounded by the data (see schema-cost.ts).
    const size = [...inPlaceSubschemas(root, node), ...deeper(node)].reduce<number>(
      (sum, inner) => sum + sizeOf(inner),
      1,
    );
    sizes.set(node, size);
    return size;
  };
  const size = sizeOf(root);
  for (const key of ["$defs", "definitions"]) if (isObject(root[key])) Object.values(root[key]).forEach(sizeOf);
  if (isEndless(root, [...sizes.keys()])) return "has a $ref that leads back to itself";
  return size > maxParts
    ? `must not have more than ${maxParts} parts once each $ref is replaced by what it names`
    : null;
}

// True if references form a loop that consumes no data: a validator would never return.
function isEndless(root: Record<string, unknown>, nodes: readonly unknown[]): boolean {
  const done = new Set<unknown>();
  const path = new Set<unknown>();
  const walk = (node: unknown): boolean => {
    if (!isObject(node) || done.has(node)) return false;
    if (path.has(node)) return true;
    path.add(node);
    const endless = inPlaceSubschemas(root, node).some(walk);
    path.delete(node);
    done.add(node);
    return endless;
  };
  return nodes.some(walk);
}
