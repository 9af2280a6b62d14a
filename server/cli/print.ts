import { commandPlace } from "./command-place.ts";
import { writeBeside, writeOut } from "./output.ts";

/** One JSON object for programs, or the text for people, on standard output. */
export function print(json: boolean | undefined, object: object, text: () => string): void {
  say("stdout", json ? JSON.stringify(object) : text());
}

/** A line beside what programs read, on standard error. */
export const printBeside = (text: string): void => say("stderr", text);

function say(where: "stdout" | "stderr", text: string): void {
  const place = commandPlace();
  if (place) place.say(where, text);
  else if (where === "stdout") writeOut(`${text}\n`);
  else writeBeside(`${text}\n`);
}

/** Columns as wide as their widest cell, without control characters: what has them may be named by anybody. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(oneLine));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** What others have named ends no line, begins no column, and does not turn round what stands beside it. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "\ufffd");

/** Control characters of others' text may not move the cursor or rewrite what stands on the terminal. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
