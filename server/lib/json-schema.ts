import { Errors } from "typebox/schema";
import { comparedSchema, comparedValue } from "./compared-numbers.ts";
import { holdsExactNumber, isExactNumber, isNumber } from "./exact-numbers.ts";
import { isObject } from "./json.ts";
import { isShallowValue } from "./json-limits.ts";
import { isSafePattern } from "./redos-check.ts";
import { relaxedSchema } from "./relaxed-schema.ts";
import { schemaCostExcess } from "./schema-cost.ts";
import { expansionFault, listKeywords, mapKeywords, resolvePointer, single } from "./schema-graph.ts";

// Users' schemas are validated by typebox, and routes by @sinclair/typebox: that one refuses schemas that it did not
// make, and Elysia 1.4 takes no others.
const limits = { bytes: 64 * 1024, depth: 32, nodes: 1000, faults: 20 };

type Rule = (value: unknown) => boolean;

const isCount: Rule = (value) =>
  Number.isInteger(isExactNumber(value) ? Number(value.rawJSON) : value) && !isBelow(value);
const isBelow: Rule = (value) => Number(isExactNumber(value) ? value.rawJSON : value) < 0;
const isText: Rule = (value) => typeof value === "string";
const isBoolean: Rule = (value) => typeof value === "boolean";
const isTexts: Rule = (value) => Array.isArray(value) && value.every(isText);

const isPattern: Rule = (value) => typeof value === "string" && isSafePattern(value);

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
const isType: Rule = (value) => types.includes(value as string);

// Keywords whose value is data. The validator ignores a wrong value silently and then accepts everything.
const rules: Record<string, [Rule, string]> = {
  type: [
    (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
    `must be one of ${types.join(", ")}, or a list of them`,
  ],
  enum: [(value) => Array.isArray(value) && value.length > 0, "must be a list of values"],
  required: [isTexts, "must be a list of names"],
  pattern: [
    isPattern,
    "must be a short regular expression whose repetitions leave no choice (such as ^[a-z]+(-[a-z]+)*$), at most one apart if it begins with ^",
  ],
  format: [isText, "must be a name"],
  uniqueItems: [isBoolean, "must be true or false"],
  multipleOf: [(value) => typeof value === "number" && value > 0, "must be a number above 0"],
  dependentRequired: [
    (value) => isObject(value) && Object.values(value).every(isTexts),
    "must map names to lists of names",
  ],
};
for (const name of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
  rules[name] = [isNumber, "must be a number"];
for (const name of ["minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"])
  rules[name] = [isCount, "must be an integer from 0"];
for (const name of ["minProperties", "maxProperties"]) rules[name] = [isCount, "must be an integer from 0"];

// Keywords that the validator would follow past the checks here.
const refused: Record<string, string> = {
  $dynamicRef: "is not supported; use $ref",
  $recursiveRef: "is not supported; use $ref",
  $anchor: 'is not supported; point to "#/$defs/name"',
  $dynamicAnchor: "is not supported",
  $recursiveAnchor: "is not supported",
  dependencies: "must be dependentSchemas or dependentRequired",
};

interface SchemaChecks {
  /** With `unchecked`, patterns that cannot be run safely are no fault: {@link validateAgainst} does not check them. */
  patterns?: "safe" | "unchecked";
}

/**
 * Returns the faults of an untrusted JSON Schema (2020-12), as sentences; empty if it can be used. The validator itself
 * accepts nonsense such as `{"type": "foo"}` and then lets everything pass.
 */
export function checkSchema(schema: unknown, { patterns: allowed = "safe" }: SchemaChecks = {}): string[] {
  const mayRun = (pattern: unknown): boolean => isText(pattern) && (allowed === "unchecked" || isPattern(pattern));
  if (!isObject(schema)) return ["must be a JSON Schema object"];
  if (!isShallowValue(schema, limits.depth)) return [`must not nest deeper than ${limits.depth}`];
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.bytes)
    return [`must not be larger than ${limits.bytes} bytes`];
  const faults: string[] = [];
  const references: [string, unknown][] = [];
  const known = new Set<unknown>();
  let nodes = 0;
  const visit = (node: unknown, path: string): void => {
    if (++nodes > limits.nodes) return;
    known.add(node);
    if (typeof node === "boolean") return;
    if (!isObject(node)) return void faults.push(`${path || "the schema"} must be a schema`);
    for (const [keyword, value] of Object.entries(node)) {
      if (Object.hasOwn(refused, keyword)) faults.push(`${path ? `${path}.` : ""}${keyword} ${refused[keyword]}`);
      const keywordPath = path ? `${path}.${keyword}` : keyword;
      const rule = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined;
      if (rule && !(keyword === "pattern" ? mayRun : rule[0])(value)) faults.push(`${keywordPath} ${rule[1]}`);
      else if (keyword === "$ref") references.push([keywordPath, value]);
      else if (keyword === "$id" && (node !== schema || !isText(value) || (value as string).includes("#")))
        faults.push(`${keywordPath} must be an address without #, at the top`);
      else if (keyword === "items" && Array.isArray(value))
        faults.push(`${keywordPath} must be a schema; lists stand in prefixItems`);
      else if (single.includes(keyword)) visit(value, keywordPath);
      else if (listKeywords.includes(keyword)) visitAll(value, keywordPath, Array.isArray(value) && value.length > 0);
      else if (mapKeywords.includes(keyword))
        visitAll(value, keywordPath, isObject(value), keyword === "patternProperties");
    }
  };
  const visitAll = (value: unknown, path: string, fits: boolean, patterns = false): void => {
    if (!fits) return void faults.push(`${path} must hold schemas`);
    for (const [name, inner] of Object.entries(value as object)) {
      if (patterns && !mayRun(name)) faults.push(`${path} has a name that is no short regular expression`);
      visit(inner, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    }
  };
  visit(schema, "");
  if (nodes > limits.nodes) faults.push(`must not have more than ${limits.nodes} parts`);
  for (const [path, value] of references) checkReference(schema, value, path, known, faults);
  if (faults.length === 0) {
    const fault = expansionFault(schema);
    if (fault) faults.push(fault);
  }
  return faults.slice(0, limits.faults);
}

// The validator would fetch a remote $ref or silently accept everything. A $ref to data would use a schema that was not
// checked, and characters that a URL changes (blanks, %) would lead elsewhere than checked.
function checkReference(
  root: Record<string, unknown>,
  value: unknown,
  path: string,
  known: ReadonlySet<unknown>,
  faults: string[],
): void {
  if (typeof value !== "string" || !/^#(\/[^%\s]*)?$/.test(value))
    faults.push(`${path} must point into this schema, such as "#/$defs/name"`);
  else if (!known.has(resolvePointer(root, value))) faults.push(`${path} points to nothing that is a schema`);
}

interface ValueFault {
  path: string;
  message: string;
  /** True if the value was not validated, because that would have taken too long. */
  unchecked?: true;
}

/**
 * Returns the faults of a value against a schema that {@link checkSchema} passed: `path` as `items[0].name`, empty for
 * the value itself.
 */
export function validateAgainst(whole: Record<string, unknown>, value: unknown): ValueFault[] {
  const schema = relaxedSchema(whole);
  const excess = schemaCostExcess(schema, value);
  if (excess) return [{ path: dotted(excess.path), message: excess.message, unchecked: true }];
  const isExact = holdsExactNumber(value) || holdsExactNumber(schema);
  const [valid, errors] = isExact
    ? Errors(comparedSchema(schema) as object, comparedValue(value))
    : Errors(schema, value);
  if (valid) return [];
  const named = errors
    .filter(({ keyword }) => keyword !== "boolean") // Its message "schema is false" stands beside another fault that says more.
    .map((error) => ({ path: dotted(error.instancePath), message: sentence(error) }));
  return named.length > 0 ? named.slice(0, limits.faults) : [{ path: "", message: "does not fit the schema" }];
}

function sentence({ keyword, params, message }: { keyword: string; params: object; message: string }): string {
  if (keyword === "additionalProperties" && "additionalProperties" in params)
    return `must not have ${(params.additionalProperties as string[]).map((name) => JSON.stringify(name)).join(", ")}`;
  if (keyword === "type" && "type" in params && Array.isArray(params.type)) {
    const types = params.type.filter((type) => type !== "bigint");
    return `must be ${types.length > 1 ? "either " : ""}${types.join(" or ")}`;
  }
  return message;
}

/** Converts a JSON pointer to the notation of error parameters: `/items/0/name` → `items[0].name`. */
export function dotted(pointer: string): string {
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path += /^\d+$/.test(key) ? `[${key}]` : path ? `.${key}` : key;
  }
  return path;
}
