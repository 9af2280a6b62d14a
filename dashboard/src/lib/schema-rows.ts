import { isJsonObject } from "./json-text.ts";

/** What a form can say of a value; `other` is what only JSON says. */
const partTypes = ["string", "number", "integer", "boolean", "object", "array", "any", "other"] as const;
export type PartType = (typeof partTypes)[number];

/** A JSON Schema as a form shows it. */
export interface Part {
  type: PartType;
  description: string;
  /** The only values allowed; empty where all are. */
  values: string[];
  /** The fields of an object. */
  rows: Row[];
  /** What each item of a list is. */
  item: Part | null;
  /** Keywords that the form does not show, and of `other` the whole. They are kept. */
  rest: unknown;
}

/** A field of an object. */
export interface Row extends Part {
  name: string;
  isRequired: boolean;
}

/** How many objects or lists may stand in one another, for a form to show them. */
const deepest = 3;

const emptyPart: Part = { type: "string", description: "", values: [], rows: [], item: null, rest: {} };
export const newRow: Row = { ...emptyPart, name: "", isRequired: false };

/** A value of another type: what both have stays. */
export function retyped<Kind extends Part>(part: Kind, type: PartType): Kind {
  return { ...part, type, values: [], rows: [], item: type === "array" ? emptyPart : null, rest: {} };
}

/** A schema as a form shows it: whatever it is, {@link schemaOf} gives it back. */
export function partOf(schema: unknown, depth = 0): Part {
  const other: Part = { ...emptyPart, type: "other", rest: schema };
  if (!isJsonObject(schema)) return other;
  const { type = "any", description = "", ...said } = schema;
  if (!isShown(type) || typeof description !== "string" || hasEmptyDescription(schema)) return other;
  const part = { ...emptyPart, type, description, rest: said };
  if (depth === deepest && (type === "object" || type === "array")) return other;
  if (type === "object") return objectOf(part, said, depth) ?? other;
  if (type !== "array") return { ...part, ...valuesOf(type, said) };
  const { items, ...rest } = said;
  return { ...part, item: "items" in said ? partOf(items, depth + 1) : null, rest };
}

const isShown = (type: unknown): type is Exclude<PartType, "other"> =>
  partTypes.includes(type as PartType) && type !== "other";

const hasEmptyDescription = ({ description }: Record<string, unknown>): boolean => description === "";

function objectOf(part: Part, said: Record<string, unknown>, depth: number): Part | null {
  const { properties = {}, required = [], ...rest } = said;
  if (!isJsonObject(properties) || Object.hasOwn(properties, "")) return null;
  const isListed = (name: unknown) => typeof name === "string" && Object.hasOwn(properties, name);
  if (!Array.isArray(required) || !required.every(isListed)) return null;
  const needed = new Set(required);
  const rows = Object.entries(properties).map(([name, inner]) => ({
    ...partOf(inner, depth + 1),
    name,
    isRequired: needed.has(name),
  }));
  return { ...part, rows, rest };
}

/** The values that a field may have, where a line each can say them. */
function valuesOf(type: PartType, said: Record<string, unknown>): Pick<Part, "values" | "rest"> {
  const { enum: values, ...rest } = said;
  const fits = (value: unknown) =>
    type === "number" || type === "integer"
      ? typeof value === "number"
      : type !== "boolean" && typeof value === "string" && value.trim() === value && /^[^\r\n]+$/.test(value);
  const isPlain = Array.isArray(values) && values.length > 0 && values.every(fits);
  return isPlain ? { values: values.map(String), rest } : { values: [], rest: said };
}

/** The schema that a form says. Of two fields with one name the first counts, and a field without one not yet. */
export function schemaOf(part: Part): unknown {
  const { type, description, values, rows, item, rest } = part;
  if (type === "other") return rest;
  const isNumber = type === "number" || type === "integer";
  const named = rows.filter(({ name }, i) => name !== "" && rows.findIndex((row) => row.name === name) === i);
  const required = named.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const numbers = values.map(Number).filter(Number.isFinite);
  const allowed = isNumber ? numbers : values;
  return {
    ...(type !== "any" && { type }),
    ...(description !== "" && { description }),
    ...(allowed.length > 0 && { enum: allowed }),
    ...(type === "object" && { properties: Object.fromEntries(named.map((row) => [row.name, schemaOf(row)])) }),
    ...(required.length > 0 && { required }),
    ...(item && { items: schemaOf(item) }),
    ...(isJsonObject(rest) && rest),
  };
}

/** How many fields there are, at all depths. */
export const rowCount = ({ rows, item }: Part): number =>
  rows.reduce((sum, row) => sum + 1 + rowCount(row), item ? rowCount(item) : 0);

/** The keywords that a form does not show. */
export const hiddenWords = ({ type, rest }: Part): string[] =>
  type === "other" || !isJsonObject(rest) ? [] : Object.keys(rest);
