import { isJsonObject } from "./json-text.ts";

/** Types that the form offers; `other` can only be edited as JSON. */
const partTypes = ["string", "number", "integer", "boolean", "object", "array", "any", "other"] as const;
export type PartType = (typeof partTypes)[number];

/** A JSON Schema in form state. */
export interface Part {
  type: PartType;
  description: string;
  /** Allowed values; empty allows all. */
  values: string[];
  /** Fields of an object. */
  rows: Row[];
  /** Items of a list. */
  item: Part | null;
  /** Keywords that the form does not show, kept unchanged; for `other` the whole schema. */
  rest: unknown;
}

/** A field of an object. */
export interface Row extends Part {
  name: string;
  isRequired: boolean;
}

/** Deepest nesting that a form shows. */
const deepest = 3;

const emptyPart: Part = { type: "string", description: "", values: [], rows: [], item: null, rest: {} };
export const newRow: Row = { ...emptyPart, name: "", isRequired: false };

/** Changes the type, keeping what both types have. */
export function changeType<Kind extends Part>(part: Kind, type: PartType): Kind {
  return { ...part, type, values: [], rows: [], item: type === "array" ? emptyPart : null, rest: {} };
}

/** Converts a schema to form state without loss: {@link schemaOf} returns the same schema. */
export function partOf(schema: unknown, depth = 0): Part {
  const other: Part = { ...emptyPart, type: "other", rest: schema };
  if (!isJsonObject(schema)) return other;
  const { type = "any", description = "", ...keywords } = schema;
  if (!isShown(type) || typeof description !== "string" || hasEmptyDescription(schema)) return other;
  const part = { ...emptyPart, type, description, rest: keywords };
  if (depth === deepest && (type === "object" || type === "array")) return other;
  if (type === "object") return objectOf(part, keywords, depth) ?? other;
  if (type !== "array") return { ...part, ...valuesOf(type, keywords) };
  const { items, ...rest } = keywords;
  return { ...part, item: "items" in keywords ? partOf(items, depth + 1) : null, rest };
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

/** Allowed values, if each can be written in one line. */
function valuesOf(type: PartType, said: Record<string, unknown>): Pick<Part, "values" | "rest"> {
  const { enum: values, ...rest } = said;
  const fits = (value: unknown) =>
    type === "number" || type === "integer"
      ? typeof value === "number"
      : type !== "boolean" && typeof value === "string" && value.trim() === value && /^[^\r\n]+$/.test(value);
  const isPlain = Array.isArray(values) && values.length > 0 && values.every(fits);
  return isPlain ? { values: values.map(String), rest } : { values: [], rest: said };
}

/** Converts form state to a schema. Omits unnamed fields and duplicates after the first. */
export function schemaOf(part: Part): unknown {
  const { type, description, values, rows, item, rest } = part;
  if (type === "other") return rest;
  const isNumber = type === "number" || type === "integer";
  const namedRows = rows.filter(({ name }, i) => name !== "" && rows.findIndex((row) => row.name === name) === i);
  const required = namedRows.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const numbers = values.map(Number).filter(Number.isFinite);
  const allowed = isNumber ? numbers : values;
  return {
    ...(type !== "any" && { type }),
    ...(description !== "" && { description }),
    ...(allowed.length > 0 && { enum: allowed }),
    ...(type === "object" && { properties: Object.fromEntries(namedRows.map((row) => [row.name, schemaOf(row)])) }),
    ...(required.length > 0 && { required }),
    ...(item && { items: schemaOf(item) }),
    ...(isJsonObject(rest) && rest),
  };
}

/** Number of fields at all depths. */
export const rowCount = ({ rows, item }: Part): number =>
  rows.reduce((sum, row) => sum + 1 + rowCount(row), item ? rowCount(item) : 0);

/** Keywords that the form does not show. */
export const hiddenWords = ({ type, rest }: Part): string[] =>
  type === "other" || !isJsonObject(rest) ? [] : Object.keys(rest);
