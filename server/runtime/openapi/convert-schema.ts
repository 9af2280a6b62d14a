import { isObject } from "../../lib/json.ts";
import { isSafePattern } from "../../lib/redos-check.ts";
import { cutText } from "./cut-text.ts";
import { OperationRefused } from "./document-error.ts";
import type { Fields } from "./read-document.ts";
import { isDangerous, itemsIn, lookUp, membersIn, textIn } from "./references.ts";

/** How much of a schema is kept. */
export interface Detail {
  /** Levels of objects and lists. */
  levels: number;
  /** Characters of each description. */
  text: number;
}

/** Thrown where a schema has more parts than a tool may have; another try keeps less of it. */
export class SchemaTooLarge extends Error {
  override readonly name = "SchemaTooLarge";
}

const partsMost = 950;
const enumMost = 200;
const enumLength = 8192;
const defaultLength = 1000;
const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** Formats that are checked the same everywhere. */
const formats = ["date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const unchecked = [
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "propertyNames",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
  "prefixItems",
  "$dynamicRef",
  "$recursiveRef",
];

/** Converts schemas of one operation's request: of OpenAPI 3.0 or 3.1 to JSON Schema 2020-12, without references. */
export function createSchemaConverter(
  document: Fields,
  { levels, text: textMost }: Detail,
  note: (text: string) => void,
) {
  let parts = 0;

  /** `open`: references that lead here. */
  function convert(value: unknown, left: number, open: ReadonlySet<unknown>): Fields {
    if (++parts > partsMost) throw new SchemaTooLarge();
    if (!isObject(value)) return {}; // `true` of 3.1, or nonsense that nothing can be checked by.
    if ("$ref" in value) return convertReference(value, left, open);
    const node = value;
    const schema: Fields = {};
    const type = typeOf(node);
    if (type !== undefined) schema.type = type;
    const description = textIn(node, "description") || textIn(node, "title");
    if (description.trim() !== "" && textMost > 0) schema.description = cutText(description, textMost);
    addValues(schema, node, type);
    addBounds(schema, node);
    if (unchecked.some((keyword) => Object.hasOwn(node, keyword)))
      note(`Not checked: ${unchecked.filter((keyword) => Object.hasOwn(node, keyword)).join(", ")}.`);
    const has = (name: string) => type === undefined || [type].flat().includes(name);
    if (has("array") && (Object.hasOwn(node, "items") || type !== undefined))
      schema.items = left > 0 ? convert(node.items ?? {}, left - 1, open) : cut(node.items);
    if (has("object")) addProperties(schema, node, left, open);
    addAlternatives(schema, node, left, open);
    if (nullable(node)) allowNull(schema);
    return schema;
  }

  /** Cuts a schema at the last level: values below it are not checked. */
  function cut(value: unknown): Fields {
    if (isObject(value) && (Object.hasOwn(value, "properties") || Object.hasOwn(value, "items") || "$ref" in value))
      note(`Not checked below ${levels} levels.`);
    const type = isObject(value) && !("$ref" in value) ? typeOf(value) : undefined;
    if (type === undefined) return {};
    return [type].flat().includes("array") ? { type, items: {} } : { type };
  }

  function convertReference(value: Fields, left: number, open: ReadonlySet<unknown>): Fields {
    const target = lookUp(document, value.$ref);
    const description = textIn(value, "description");
    if (open.has(target)) {
      note("Not checked where a schema contains itself.");
      const type = isObject(target) && !("$ref" in target) ? typeOf(target) : undefined;
      return {
        ...(type !== undefined && { type }),
        ...(type !== undefined && [type].flat().includes("array") && { items: {} }),
        ...(description && textMost > 0 && { description: cutText(description, textMost) }),
      };
    }
    const schema = convert(target, left, new Set([...open, target]));
    return description && textMost > 0 ? { ...schema, description: cutText(description, textMost) } : schema;
  }

  function addProperties(schema: Fields, node: Fields, left: number, open: ReadonlySet<unknown>): void {
    const members = membersIn(node, "properties");
    const extra = Object.hasOwn(node, "additionalProperties") ? node.additionalProperties : undefined;
    if (left <= 0) {
      if (members.length > 0) note(`Not checked below ${levels} levels.`);
      return;
    }
    if (members.length > 0) {
      const properties: Fields = {};
      for (const [name, member] of members) if (!isReadOnly(member)) properties[name] = convert(member, left - 1, open);
      schema.properties = properties;
    }
    const names = membersIn(node, "properties").filter(([, member]) => isReadOnly(member));
    const hidden = new Set(names.map(([name]) => name));
    const required = itemsIn(node, "required").filter(
      (name): name is string => typeof name === "string" && !hidden.has(name) && !isDangerous(name),
    );
    if (required.length > 0) schema.required = [...new Set(required)];
    if (extra === false) schema.additionalProperties = false;
    else if (isObject(extra) && Object.keys(extra).length > 0)
      schema.additionalProperties = convert(extra, left - 1, open);
  }

  /** The server sets these. */
  function isReadOnly(member: unknown): boolean {
    if (!isObject(member)) return false;
    if (member.readOnly === true) return true;
    if (!("$ref" in member)) return false;
    const target = lookUp(document, member.$ref);
    return isObject(target) && target.readOnly === true;
  }

  function addAlternatives(schema: Fields, node: Fields, left: number, open: ReadonlySet<unknown>): void {
    for (const part of itemsIn(node, "allOf")) merge(schema, convert(part, left, open));
    // Without its read-only fields, a value may fit several of `oneOf`.
    const choices = [...itemsIn(node, "anyOf"), ...itemsIn(node, "oneOf")];
    if (choices.length === 0) return;
    const converted = choices.map((choice) => convert(choice, left, open));
    const [only] = converted;
    if (converted.length === 1 && only) merge(schema, only);
    else if (schema.anyOf === undefined) schema.anyOf = nullable(node) ? withNull(converted) : converted;
    else schema.allOf = [...((schema.allOf as Fields[] | undefined) ?? []), { anyOf: converted }];
  }

  /** Adds what another schema of the same value demands. */
  function merge(schema: Fields, other: Fields): void {
    for (const [keyword, value] of Object.entries(other)) {
      if (keyword === "properties" && isObject(schema.properties) && isObject(value))
        schema.properties = mergedProperties(schema.properties, value);
      else if (keyword === "required")
        schema.required = [...new Set([...((schema.required as string[] | undefined) ?? []), ...(value as string[])])];
      else if (!Object.hasOwn(schema, keyword)) schema[keyword] = value;
      else if (keyword === "description" || keyword === "default" || Bun.deepEquals(schema[keyword], value)) continue;
      else if (keyword === "allOf") schema.allOf = [...(schema.allOf as Fields[]), ...(value as Fields[])];
      else if (keyword === "additionalProperties") delete schema.additionalProperties;
      else if (keyword === "type") schema.type = commonType(schema.type, value);
      else schema.allOf = [...((schema.allOf as Fields[] | undefined) ?? []), { [keyword]: value }];
    }
    // Each part would refuse the properties of the others.
    if (schema.additionalProperties === false && other.properties) delete schema.additionalProperties;
  }

  function mergedProperties(mine: Fields, theirs: Fields): Fields {
    const all: Fields = { ...mine };
    for (const [name, value] of Object.entries(theirs)) {
      const known = Object.hasOwn(all, name) ? all[name] : undefined;
      if (isObject(known) && isObject(value)) {
        const both = { ...known };
        merge(both, value);
        all[name] = both;
      } else all[name] = value;
    }
    return all;
  }

  function typeOf(node: Fields): string | string[] | undefined {
    const given = [node.type].flat().filter((type): type is string => types.includes(type as string));
    const named = given.length === 0 && isObject(node.properties) ? ["object"] : given;
    if (named.length === 0) return undefined;
    const all = [...new Set(nullable(node) ? [...named, "null"] : named)];
    return all.length === 1 ? all[0] : all;
  }

  function addValues(schema: Fields, node: Fields, type: string | string[] | undefined): void {
    if (Object.hasOwn(node, "const")) schema.const = fitted(node.const, type);
    const values = [...new Set(itemsIn(node, "enum").map((value) => fitted(value, type)))];
    if (values.length > 0) {
      if (values.length <= enumMost && JSON.stringify(values).length <= enumLength)
        schema.enum = nullable(node) && !values.includes(null) ? [...values, null] : values;
      else note(`Not checked: an enum of ${values.length} values.`);
    }
    const isShort = (value: unknown) => value !== undefined && JSON.stringify(value).length <= defaultLength;
    if (Object.hasOwn(node, "default") && isShort(node.default)) schema.default = fitted(node.default, type);
    const format = textIn(node, "format");
    if (formats.includes(format) && [type].flat().includes("string")) schema.format = format;
    if (Object.hasOwn(node, "pattern")) {
      if (typeof node.pattern === "string" && isSafePattern(node.pattern)) schema.pattern = node.pattern;
      else note("Not checked: a pattern that could take too long.");
    }
  }

  function addBounds(schema: Fields, node: Fields): void {
    for (const name of counts)
      if (Number.isSafeInteger(node[name]) && (node[name] as number) >= 0) schema[name] = node[name];
    for (const name of bounds) if (isExact(node[name])) schema[name] = node[name];
    // In 3.0 these are booleans beside the bound.
    for (const [flag, name] of [
      ["exclusiveMinimum", "minimum"],
      ["exclusiveMaximum", "maximum"],
    ] as const)
      if (node[flag] === true && isExact(node[name])) {
        schema[flag] = node[name];
        delete schema[name];
      }
    if (node.uniqueItems === true) schema.uniqueItems = true;
    // Fractions are not exact: 0.07 is no multiple of 0.01.
    if (Number.isSafeInteger(node.multipleOf) && (node.multipleOf as number) > 0) schema.multipleOf = node.multipleOf;
  }

  return {
    convert: (value: unknown): Fields => convert(value, levels, new Set()),
  };
}

/**
 * Returns a value as the only type of its schema has it: a text that was written without its quotes, or a number with
 * them, could not be chosen.
 */
function fitted(value: unknown, type: string | string[] | undefined): unknown {
  const [only, ...others] = [type].flat().filter((each) => each !== "null");
  if (others.length > 0) return value;
  if (only === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (only === "boolean" && (value === "true" || value === "false")) return value === "true";
  const isNumber = (only === "integer" || only === "number") && typeof value === "string";
  return isNumber && Number.isFinite(Number(value)) && String(Number(value)) === value ? Number(value) : value;
}

/** A number that JSON keeps as it is. */
const isExact = (value: unknown): boolean => typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const nullable = (node: Fields): boolean => node.nullable === true;

/** Of `allOf` and `nullable`, the parts do not say that null is allowed. */
function allowNull(schema: Fields): void {
  const given = schema.type === undefined ? [] : [schema.type].flat();
  if (given.length > 0 && !given.includes("null")) schema.type = [...given, "null"];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
}

const withNull = (choices: Fields[]): Fields[] =>
  choices.some(({ type }) => type === "null") ? choices : [...choices, { type: "null" }];

function commonType(mine: unknown, theirs: unknown): unknown {
  const common = [mine].flat().filter((type) => [theirs].flat().includes(type));
  if (common.length === 0)
    throw new OperationRefused("operation_invalid", "A schema of it allows no value: its allOf has several types.");
  return common.length === 1 ? common[0] : common;
}
