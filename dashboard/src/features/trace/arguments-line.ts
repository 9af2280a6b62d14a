import { isJsonObject } from "../../lib/json-text.ts";

const mostLetters = 120;

/** Formats arguments in one line: `city: Oslo, days: 3`. */
export function argumentsLine(input: unknown): string {
  if (!isJsonObject(input)) return "";
  let line = "";
  for (const [name, value] of Object.entries(input)) {
    line += `${line && ", "}${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
    if (line.length > mostLetters) return `${line.slice(0, mostLetters)}…`;
  }
  return line;
}
