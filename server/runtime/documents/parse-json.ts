import { hasParts, parsedJson } from "../../lib/json.ts";
import { isShallow } from "../../lib/json-limits.ts";
import { decodeText } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";

const depthLimit = 200;

/** Parses JSON: each element of a list or property of an object becomes a paragraph. */
export function parseJson(bytes: Uint8Array, outline: Outline): void {
  const text = decodeText(bytes).trim();
  if (text === "") return;
  const value = read(text);
  if (value === undefined) throw unreadable("It is not valid JSON.");
  if (Array.isArray(value)) for (const element of value) outline.block(pretty(element));
  else if (hasParts(value)) {
    for (const [key, inner] of Object.entries(value)) outline.block(`${key}: ${pretty(inner)}`);
  } else outline.block(pretty(value));
}

/** Parses JSON lines. An invalid line is kept as text, unless all lines are invalid. */
export function parseJsonLines(bytes: Uint8Array, outline: Outline): void {
  const lines = decodeText(bytes)
    .split("\n")
    .filter((line) => line.trim() !== "");
  let valid = 0;
  for (const line of lines) {
    const value = read(line);
    if (value !== undefined) valid++;
    outline.block(value === undefined ? line : pretty(value));
  }
  if (lines.length > 0 && valid === 0) throw unreadable("None of its lines is valid JSON.");
}

/** Returns undefined if the text is no JSON. A JSON string is returned without its quotes. */
function read(text: string): unknown {
  if (!isShallow(new TextEncoder().encode(text), depthLimit)) throw unreadable(`It nests deeper than ${depthLimit}.`);
  return parsedJson(text);
}

const pretty = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
