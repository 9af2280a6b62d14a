import { isExactNumber } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";

/** How a value is written: a style of OpenAPI, or `json`. */
interface Written {
  name: string;
  style: string;
  explode: boolean;
  /** True if reserved characters are sent as they are. */
  allow_reserved?: boolean;
}

type Pair = [name: string, value: string];

/** Returns the value in a path or a header, encoded for it; null for an empty list or object. */
export function simpleText(value: unknown, { name, style, explode }: Written, encode: (text: string) => string) {
  if (style === "json") return encode(JSON.stringify(value) ?? "");
  const entries = entriesOf(value);
  if (entries.length === 0) return null;
  const isObject = hasParts(value) && !Array.isArray(value);
  const items = entries.map(([key, item]) =>
    isObject ? (explode ? `${encode(key)}=${encode(item)}` : `${encode(key)},${encode(item)}`) : encode(item),
  );
  if (style === "label") return `.${items.join(explode ? "." : ",")}`;
  if (style !== "matrix") return items.join(",");
  if (!explode) return `;${encode(name)}=${items.join(",")}`;
  return (isObject ? items : items.map((item) => `${encode(name)}=${item}`)).map((item) => `;${item}`).join("");
}

/** Returns the value as `name=value` pairs, encoded for a query or a form. */
export function queryPairs(value: unknown, written: Written): string[] {
  const { style, explode, name } = written;
  const encode = written.allow_reserved ? encodeReserved : encodeText;
  const exploded = ([key, text]: Pair): string => `${encodeText(key)}=${encode(text)}`;
  if (style === "json") return value === undefined ? [] : [exploded([name, JSON.stringify(value)])];
  if (style === "deepObject" && hasParts(value)) return deepPairs(name, value, 0).map(exploded);
  const entries = entriesOf(value);
  if (entries.length === 0) return [];
  const isObject = hasParts(value) && !Array.isArray(value);
  if (explode) return entries.map(([key, item]) => exploded([isObject ? key : name, item]));
  const texts = isObject ? entries.flat() : entries.map(([, item]) => item);
  return [`${encodeText(name)}=${texts.map(encode).join(separators[style] ?? ",")}`];
}

const separators: Record<string, string> = { spaceDelimited: "%20", pipeDelimited: "%7C" };

/** Deepest object that is written in brackets; deeper ones are JSON. */
const deepMost = 8;

/** Writes `name[key][0]=value`. OpenAPI defines one level; servers that ask for the style take more. */
function deepPairs(name: string, value: unknown, depth: number): Pair[] {
  if (value === null || value === undefined) return [];
  if (!hasParts(value) || depth === deepMost) return [[name, textOf(value)]];
  return Object.entries(value).flatMap(([key, inner]) => deepPairs(`${name}[${key}]`, inner, depth + 1));
}

/** Entries of a list or an object, or the one value; without those that are null. */
function entriesOf(value: unknown): Pair[] {
  if (value === null || value === undefined) return [];
  if (!hasParts(value)) return [["", textOf(value)]];
  return Object.entries(value).flatMap(([key, item]) =>
    item === null || item === undefined ? [] : [[key, textOf(item)] as Pair],
  );
}

/** Returns a value as text: an object inside a list is JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  return isExactNumber(value) ? value.rawJSON : JSON.stringify(value);
}

const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed());

// Characters that would end the value or begin another stay encoded.
const encodeReserved = (text: string): string =>
  encodeURI(text.toWellFormed()).replaceAll(/[#&+[\]]/g, (sign) => encodeURIComponent(sign));
