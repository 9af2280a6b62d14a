import { AppError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { lastItem } from "../lib/collections.ts";
import { createYielder } from "../lib/cooperative-yield.ts";
import { endOfText } from "../lib/json-limits.ts";
import { requireValue } from "../lib/require-value.ts";
import { emptySize, lossyJson, notJson, type ParsedSize, parseJson, tooDeep, tooManyNumbers } from "./parse-json.ts";

/** Shorter bodies are parsed synchronously. */
export const piece = 64 * 1024;
// Maximum length of a name, number or white space. Any other long value can be split.
const longest = 4 * piece;

const [quote, backslash, comma, letterU] = [34, 92, 44, 117];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** An unclosed object or list. */
interface Open {
  isList: boolean;
  at: number;
  /** Bytes before this position are in the value. */
  parsedTo: number;
  /** Start of the current item or member. */
  itemStart: number;
  /** True if the current item is in the value already, because it was long. */
  isPut: boolean;
  /** Null while it lies in one piece; then it is parsed together with its parent. */
  value: unknown[] | Record<string, unknown> | null;
  path: string;
  /** Number of its names that are whole numbers. */
  numbers: number;
}

/** Like {@link parseJson} for long JSON: parses it piece by piece and yields in between. */
export async function parseJsonAsync(bytes: Uint8Array, depth: number = limits.json_depth): Promise<unknown> {
  if (bytes.length <= piece) return parseJson(bytes, depth);
  const rest = createYielder();
  const taken = emptySize();
  const start = startsWithMark(bytes) ? 3 : 0;
  // The document is parsed as the only item of a list.
  const whole: unknown[] = [];
  const root: Open = { ...opened(true, start - 1), value: whole };
  const open = [root];
  let parsed = start;

  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    const within = open.at(-1)!;
    if (byte === quote) {
      const end = endOfText(bytes, at + 1);
      if (end - at > piece && !isName(within, at)) {
        takeItems();
        put(within, nameOf(within, at), await textOf(at + 1, end));
        putLong(within, end);
        parsed = end;
      }
      at = end;
    } else if (byte === comma) {
      if (within === root) throw notJson();
      if (within.isPut) finishItem(within, at);
      within.itemStart = at + 1;
      if (at - parsed > piece) await goOn(at);
    } else if (byte === openBracket || byte === openBrace) {
      if (open.length > depth) throw tooDeep(depth);
      open.push(opened(byte === openBracket, at));
      if (at - parsed > piece) await goOn(at);
    } else if (byte === closeBracket || byte === closeBrace) {
      if (within === root || within.isList !== (byte === closeBracket)) throw notJson();
      open.pop();
      if (!within.value) continue;
      end(within, at);
      putLong(lastItem(open), at);
    } else if (at - parsed > longest) throw tooLong();
  }
  if (open.length > 1) throw notJson();
  end(root, bytes.length);
  if (whole.length !== 1) throw notJson();
  return whole[0];

  async function goOn(at: number): Promise<void> {
    takeItems();
    parsed = at;
    await rest();
  }

  /** Parses complete items into values; all open containers have a value afterwards. */
  function takeItems(): void {
    for (const [level, each] of open.entries()) {
      if (each.itemStart > each.parsedTo) parsePart(each, level, each.itemStart - 1);
      each.parsedTo = each.itemStart;
      const inner = open[level + 1];
      if (!inner || inner.value) continue;
      const name = nameOf(each, inner.at);
      inner.value = inner.isList ? [] : {};
      inner.path = each === root ? "" : joined(each.path, name ?? `[${(each.value as unknown[]).length}]`);
      put(each, name, inner.value);
    }
  }

  /** Parses the items up to `to`; an empty range means a stray comma. */
  function parsePart(into: Open, level: number, to: number): void {
    const range = trimmed(bytes, { from: into.parsedTo, to });
    if (range.from === range.to) throw notJson();
    const first = Array.isArray(into.value) && into !== root ? into.value.length : null;
    const bracket = into.isList ? openBracket : openBrace;
    const inner = bytes.subarray(range.from, range.to);
    const values = parseWithin(bracket, inner, { depth: depth - level + 1, most: depth, taken }, into.path, first);
    if (Array.isArray(values)) for (const value of values) put(into, null, value);
    else for (const [name, value] of Object.entries(values as object)) put(into, name, value);
  }

  function put(into: Open, name: string | null, item: unknown): void {
    const { value } = into;
    if (name === null) return void (value as unknown[]).push(item);
    const object = value as Record<string, unknown>;
    if (Object.hasOwn(object, name))
      throw lossyJson(`An object in it has the name ${JSON.stringify(name.slice(0, 100))} twice.`);
    object[name] = item;
    if (isNumber.test(name) && ++into.numbers > limits.json_numbers) throw tooManyNumbers();
  }

  /** Name of the member whose value begins at `to`; null in a list, where only space may precede it. */
  function nameOf({ isList, itemStart: item, path }: Open, to: number): string | null {
    if (isList) {
      requireSpace(item, to);
      return null;
    }
    const nameBytes = Buffer.concat([bytes.subarray(item, to), Buffer.from("null")]);
    const [name] = Object.keys(parseWithin(openBrace, nameBytes, { depth, most: depth, taken }, path, null) as object);
    return requireValue(name, "The name of a member");
  }

  function isName({ isList, itemStart: item }: Open, at: number): boolean {
    return !isList && isBlank(item, at);
  }

  /** A long item ended here: only space may follow before the comma. */
  function putLong(within: Open, at: number): void {
    if (within.isPut) throw notJson();
    Object.assign(within, { parsedTo: at + 1, itemStart: at + 1, isPut: true });
  }

  function finishItem(within: Open, at: number): void {
    requireSpace(within.itemStart, at);
    Object.assign(within, { parsedTo: at + 1, isPut: false });
  }

  function end(within: Open, at: number): void {
    if (within.isPut) finishItem(within, at);
    else if (within.parsedTo > within.at + 1 || !isBlank(within.parsedTo, at))
      parsePart(within, open.length - Number(within === root), at);
  }

  function isBlank(from: number, to: number): boolean {
    let at = from;
    while (at < to && isSpace(bytes[at])) at++;
    return at === to;
  }

  function requireSpace(from: number, to: number): void {
    if (!isBlank(from, to)) throw notJson();
  }

  /**
   * Decodes a long string, without its quotes. Each piece is parsed as a string of its own, so an unescaped quote
   * within fails.
   */
  async function textOf(from: number, to: number): Promise<string> {
    if (bytes[to] !== quote) throw notJson();
    const parts: string[] = [];
    for (let at = from; at < to; await rest()) {
      const end = to - at <= piece ? to : endOfPiece(bytes, at, at + piece);
      parts.push(parseJson(Buffer.concat([mark, bytes.subarray(at, end), mark]), depth) as string);
      at = end;
    }
    return parts.join("");
  }
}

const opened = (isList: boolean, at: number): Open => ({
  isList,
  at,
  parsedTo: at + 1,
  itemStart: at + 1,
  isPut: false,
  value: null,
  path: "",
  numbers: 0,
});

/** Last position up to `to` at which a string can be split: between two characters and between two escapes. */
function endOfPiece(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  for (let back = 0; back < 3 && (bytes[end]! & 0xc0) === 0x80; back++) end--;
  const last = bytes.lastIndexOf(backslash, end - 1);
  if (last < Math.max(from, end - 5)) return end;
  let first = last;
  while (first > from && bytes[first - 1] === backslash) first--;
  // An even number of backslashes are complete escapes.
  const begins = (last - first) % 2 === 0;
  const length = bytes[last + 1] === letterU ? 6 : 2;
  return begins && last + length > end ? last : end;
}

const mark = Buffer.from('"');
const isNumber = /^\d{1,10}$/;

/** Parses the content of an object or list. Error paths are relative to the whole document. */
function parseWithin(
  open: number,
  inner: Uint8Array,
  { depth, most, taken }: { depth: number; most: number; taken: ParsedSize },
  path: string,
  first: number | null,
): unknown {
  const [before, after] = open === openBracket ? ["[", "]"] : ["{", "}"];
  try {
    return parseJson(Buffer.concat([Buffer.from(before), inner, Buffer.from(after)]), depth, most, taken);
  } catch (error) {
    if (!(error instanceof AppError) || !error.param) throw error;
    const [, index, below = ""] = /^(?:\[(\d+)\])?\.?(.*)$/s.exec(error.param) ?? [];
    const own = index === undefined || first === null ? path : `${path}[${Number(index) + first}]`;
    const param = below === "" ? own : joined(own, below);
    if (error.code === "invalid_json") throw new AppError(error.code, error.message, { param });
    const fault = { param, code: "forbidden_key", message: `${param}: this key is not allowed.` };
    throw new AppError("validation_failed", fault.message, { param, errors: [fault] });
  }
}

function trimmed(bytes: Uint8Array, { from, to }: { from: number; to: number }): { from: number; to: number } {
  let [start, end] = [from, to];
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return { from: start, to: end };
}

const joined = (path: string, name: string): string =>
  path === "" || name.startsWith("[") ? path + name : `${path}.${name}`;

const startsWithMark = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

const tooLong = () =>
  new AppError("invalid_json", `The body has a name, a number or white space of more than ${longest} bytes.`);
