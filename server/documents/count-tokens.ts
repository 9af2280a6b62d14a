/// <reference path="./tiktoken.d.ts" />
import { readFileSync } from "node:fs";
import tableFile from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { GptEncoding } from "gpt-tokenizer/GptEncoding";

const options = { disallowedSpecial: new Set<string>() };

/** Loads the table of tokens: as a file, since as a module it would take six times its size in the executable. */
export function loadTokenCounter(): (text: string) => number {
  const encoding = GptEncoding.getEncodingApi("o200k_base", () => readTable(readFileSync(tableFile, "latin1")));
  const count = (text: string) => encoding.countTokens(text, options);
  return (text) => {
    if (!hasLongRun(text)) return count(text);
    // Runs without a space are counted in pieces: the count of one takes the square of its length.
    return (text.match(/\s{0,3}\S{1,200}|\s{1,200}/gu) ?? []).reduce((sum, piece) => sum + count(piece), 0);
  };
}

/** By hand: a pattern would look at each character as often as its run is long. */
function hasLongRun(text: string): boolean {
  let [run, spaced] = [0, false];
  for (let at = 0; at < text.length && run < 400; at++) {
    const isSpace = text.charCodeAt(at) <= 32;
    run = isSpace === spaced ? run + 1 : 1;
    spaced = isSpace;
  }
  return run >= 400;
}

/** A token to a line, as Base64 and its number, in the order of the numbers; bytes that are no text stay bytes. */
function readTable(table: string): (string | number[])[] {
  const tokens: (string | number[])[] = [];
  for (let at = 0; at < table.length; ) {
    const [space, end] = [table.indexOf(" ", at), table.indexOf("\n", at)];
    const bytes = Buffer.from(table.slice(at, space), "base64");
    const text = bytes.toString();
    tokens[Number(table.slice(space + 1, end))] =
      text.includes("\ufffd") && !Buffer.from(text).equals(bytes) ? [...bytes] : text;
    at = end + 1;
  }
  return tokens;
}
