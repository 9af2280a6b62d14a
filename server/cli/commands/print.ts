import { requireValue } from "../../lib/require-value.ts";
import { commandTarget } from "./command-target.ts";
import { writeBeside, writeOut } from "./output.ts";

/** Prints one JSON object for programs, or text for people, to stdout. */
export function print(json: boolean | undefined, object: object, text: () => string): void {
  say("stdout", json ? JSON.stringify(object) : text());
}

/** Prints a line to stderr, beside the output for programs. */
export const printBeside = (text: string): void => say("stderr", text);

function say(where: "stdout" | "stderr", text: string): void {
  const place = commandTarget();
  if (place) place.say(where, text);
  else if (where === "stdout") writeOut(`${text}\n`);
  else writeBeside(`${text}\n`);
}

/** Formats a table. Control characters are replaced, because other users may have chosen the texts. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(oneLine));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(requireValue(widths[column], "The width of a column")))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Replaces characters with which a foreign text could end the line, begin a column, or reverse its surroundings. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "\ufffd");

/** Replaces control characters with which a foreign text could move the cursor or overwrite the terminal. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
