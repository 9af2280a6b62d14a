import { isShallow } from "../../lib/json-limits.ts";
import { decodeDocument } from "./decode-document.ts";
import { unreadable } from "./document-error.ts";
import { jsonParagraphs } from "./json-text.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";

const depthLimit = 200;

/**
 * Parses JSON: each element of a list or property of an object becomes a paragraph. Text that is no JSON, as with
 * comments, is kept as it is.
 */
export function parseJson(bytes: Uint8Array, outline: Outline, options: ParseOptions): void {
  const text = decodeDocument(bytes, outline, options).trim();
  if (text === "") return;
  const paragraphs = read(text) ?? valuesOf(text);
  for (const paragraph of paragraphs ?? []) outline.block(paragraph);
  if (paragraphs !== null) return;
  outline.warn("type_mismatch", "The file is not valid JSON, so it was read as plain text.");
  outline.code(text);
}

/** Parses JSON lines. An invalid line is kept as text. */
export function parseJsonLines(bytes: Uint8Array, outline: Outline, options: ParseOptions): void {
  const text = decodeDocument(bytes, outline, options);
  const lines = readLines(text);
  const invalid = lines.filter(({ isValid }) => !isValid).map(({ place }) => place);
  const paragraphs = invalid.length === lines.length && invalid.length > 1 ? read(text) : null;
  for (const paragraph of paragraphs ?? lines.map((line) => line.text)) outline.block(paragraph);
  if (paragraphs !== null) return;
  if (invalid.length > 0) outline.warn("type_mismatch", invalidWords(invalid));
}

/** Returns the values of JSON lines, as exports of databases have them under the name of JSON; else null. */
function valuesOf(text: string): string[] | null {
  const lines = readLines(text);
  return lines.every(({ isValid }) => isValid) ? lines.map((line) => line.text) : null;
}

interface Line {
  text: string;
  /** Number of the line, from 1. */
  place: number;
  isValid: boolean;
}

/** Reads the lines with a value each. */
const readLines = (text: string): Line[] =>
  text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = read(line, true);
    return { text: value?.join("\n") ?? line, place: index + 1, isValid: value !== null };
  });

const namedMost = 5;

function invalidWords(lines: number[]): string {
  if (lines.length === 1) return `Line ${lines[0]} is not valid JSON, so it was read as plain text.`;
  const rest = lines.length > namedMost ? ` and ${lines.length - namedMost} more` : "";
  return `Lines ${lines.slice(0, namedMost).join(", ")}${rest} are not valid JSON, so they were read as plain text.`;
}

/** Returns the paragraphs of JSON, or null if the text is none; with `isWhole`, one paragraph with its brackets. */
function read(text: string, isWhole = false): string[] | null {
  if (!isShallow(new TextEncoder().encode(text), depthLimit)) throw unreadable(`It nests deeper than ${depthLimit}.`);
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return jsonParagraphs(text, isWhole);
}
