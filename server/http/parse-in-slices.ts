import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { endOfText } from "../lib/json-limits.ts";
import { inSlices } from "../lib/slices.ts";
import { lossy, nothingTaken, notJson, parseJson, type Taken, tooDeep, tooManyNumbers } from "./parse-json.ts";

/** What is shorter is parsed at once. */
export const piece = 64 * 1024;
// Of a name, a number or white space. Whatever else is so long has a place where it can be parted.
const longest = 4 * piece;

const [quote, backslash, comma, letterU] = [34, 92, 44, 117];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** An object or a list that is not over yet. */
interface Open {
  isList: boolean;
  at: number;
  /** What stands before this is in the value. */
  taken: number;
  /** Where the item or member begins that is being read. */
  item: number;
  /** Whether that is in the value too, since it was long. */
  isPut: boolean;
  /** Null: all of it lies in one piece so far, and is parsed with what it stands in. */
  value: unknown[] | Record<string, unknown> | null;
  path: string;
  /** How many of its names are whole numbers. */
  numbers: number;
}

/** Like {@link parseJson}, of long JSON: it is read once, piece by piece, and others on this thread go first in between. */
export async function parseJsonInSlices(bytes: Uint8Array, depth: number = limits.json_depth): Promise<unknown> {
  if (bytes.length <= piece) return parseJson(bytes, depth);
  const rest = inSlices();
  const taken = nothingTaken();
  const start = startsWithMark(bytes) ? 3 : 0;
  // The whole is read as the one item of a list.
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
      if (within.isPut) endPut(within, at);
      within.item = at + 1;
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
      putLong(open.at(-1)!, at);
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

  /** Takes what is whole into values, which all that is open has from now on. */
  function takeItems(): void {
    for (const [level, each] of open.entries()) {
      if (each.item > each.taken) take(each, level, each.item - 1);
      each.taken = each.item;
      const inner = open[level + 1];
      if (!inner || inner.value) continue;
      const name = nameOf(each, inner.at);
      inner.value = inner.isList ? [] : {};
      inner.path = each === root ? "" : joined(each.path, name ?? `[${(each.value as unknown[]).length}]`);
      put(each, name, inner.value);
    }
  }

  /** Takes the items up to here, which are none where a comma stands too many. */
  function take(into: Open, level: number, to: number): void {
    const range = trimmed(bytes, { from: into.taken, to });
    if (range.from === range.to) throw notJson();
    const first = Array.isArray(into.value) && into !== root ? into.value.length : null;
    const bracket = into.isList ? openBracket : openBrace;
    const inner = bytes.subarray(range.from, range.to);
    const values = parseWithin(bracket, inner, { depth: depth - level + 1, most: depth, taken }, into.path, first);
    if (Array.isArray(values)) for (const value of values) put(into, null, value);
    else for (const [name, value] of Object.entries(values as object)) put(into, name, value);
  }

  function put(into: Open, name: string | null, item: unknown): void {
    const { isList, value } = into;
    if (isList) return void (value as unknown[]).push(item);
    const object = value as Record<string, unknown>;
    if (Object.hasOwn(object, name!))
      throw lossy(`An object in it has the name ${JSON.stringify(name!.slice(0, 100))} twice.`);
    object[name!] = item;
    if (isNumber.test(name!) && ++into.numbers > limits.json_numbers) throw tooManyNumbers();
  }

  /** The name of the item that begins at `to`; null in a list, where nothing stands before it. */
  function nameOf({ isList, item, path }: Open, to: number): string | null {
    if (isList) {
      requireSpace(item, to);
      return null;
    }
    const named = Buffer.concat([bytes.subarray(item, to), Buffer.from("null")]);
    const [name] = Object.keys(parseWithin(openBrace, named, { depth, most: depth, taken }, path, null) as object);
    return name!;
  }

  function isName({ isList, item }: Open, at: number): boolean {
    return !isList && isBlank(item, at);
  }

  /** A long item has ended here: what stands before its comma is space. */
  function putLong(within: Open, at: number): void {
    if (within.isPut) throw notJson();
    Object.assign(within, { taken: at + 1, item: at + 1, isPut: true });
  }

  function endPut(within: Open, at: number): void {
    requireSpace(within.item, at);
    Object.assign(within, { taken: at + 1, isPut: false });
  }

  function end(within: Open, at: number): void {
    if (within.isPut) endPut(within, at);
    else if (within.taken > within.at + 1 || !isBlank(within.taken, at))
      take(within, open.length - Number(within === root), at);
  }

  function isBlank(from: number, to: number): boolean {
    let at = from;
    while (at < to && isSpace(bytes[at])) at++;
    return at === to;
  }

  function requireSpace(from: number, to: number): void {
    if (!isBlank(from, to)) throw notJson();
  }

  /** A long text, whose quotes are left out. Each piece is one of its own: whoever ends it within has written no JSON. */
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
  taken: at + 1,
  item: at + 1,
  isPut: false,
  value: null,
  path: "",
  numbers: 0,
});

/** Where a text can be parted, before `to`: between two characters, and between two escapes. */
function endOfPiece(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  for (let back = 0; back < 3 && (bytes[end]! & 0xc0) === 0x80; back++) end--;
  const last = bytes.lastIndexOf(backslash, end - 1);
  if (last < Math.max(from, end - 5)) return end;
  let first = last;
  while (first > from && bytes[first - 1] === backslash) first--;
  // Of an even number each one stands for itself, with the one behind it.
  const begins = (last - first) % 2 === 0;
  const length = bytes[last + 1] === letterU ? 6 : 2;
  return begins && last + length > end ? last : end;
}

const mark = Buffer.from('"');
const isNumber = /^\d{1,10}$/;

/** Parses what stands in an object or a list. Faults name their place in the whole. */
function parseWithin(
  open: number,
  inner: Uint8Array,
  { depth, most, taken }: { depth: number; most: number; taken: Taken },
  path: string,
  first: number | null,
): unknown {
  const [before, after] = open === openBracket ? "[]" : "{}";
  try {
    return parseJson(Buffer.concat([Buffer.from(before!), inner, Buffer.from(after!)]), depth, most, taken);
  } catch (error) {
    if (!(error instanceof AppError) || !error.param) throw error;
    const [, index, below] = /^(?:\[(\d+)\])?\.?(.*)$/s.exec(error.param)!;
    const own = index === undefined || first === null ? path : `${path}[${Number(index) + first}]`;
    const param = below === "" ? own : joined(own, below!);
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
