import { AppError } from "../core/errors.ts";
import { endOfText } from "../lib/json-limits.ts";
import { inSlices } from "../lib/slices.ts";
import { parseJson, parseJsonBody } from "./json-body.ts";

// What is shorter is parsed at once.
const piece = 64 * 1024;
// What lies deeper is parsed at once: each level looks at all bytes within it. Nothing in a trace is long there, and what is
// would take the thread for itself.
const deepest = 12;
const longestDeep = 1024 * 1024;

const [quote, backslash, comma, colon, letterU] = [34, 92, 44, 58, 117];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

interface Range {
  from: number;
  to: number;
}

/** Like {@link parseJsonBody}, of a long body: others on this thread go first in between. */
export async function parseJsonBodyInSlices(bytes: Uint8Array, headers: Headers, depth: number): Promise<unknown> {
  if (bytes.length <= piece) return parseJsonBody(bytes, headers, depth);
  parseJsonBody(brace, headers); // What is to be said of the headers.
  const rest = inSlices();

  /** The value that takes these bytes, within so many objects and lists. */
  async function readValue(range: Range, level: number, path: string): Promise<unknown> {
    const { from, to } = trimmed(bytes, range);
    const first = bytes[from];
    if (level >= deepest && to - from > longestDeep) throw tooLongHere();
    if (first === quote && to - from > piece) return textOf({ from: from + 1, to: to - 1 });
    if (to - from <= piece || level >= deepest || (first !== openBracket && first !== openBrace))
      return leaf(openBracket, { from, to }, level, path, null)[0];
    const isList = first === openBracket;
    return isList ? listOf({ from, to }, level + 1, path) : objectOf({ from, to }, level + 1, path);
  }

  /** A long text, whose quotes are left out. Each piece is one of its own: whoever ends it within has written no JSON. */
  async function textOf({ from, to }: Range): Promise<string> {
    if (bytes[to] !== quote) throw notJson();
    const parts: string[] = [];
    for (let at = from; at < to; await rest()) {
      const end = to - at <= piece ? to : endOfPiece(bytes, at, at + piece);
      parts.push(parseJson(Buffer.concat([mark, bytes.subarray(at, end), mark]), depth) as string);
      at = end;
    }
    return parts.join("");
  }

  async function listOf(range: Range, level: number, path: string): Promise<unknown[]> {
    const list: unknown[] = [];
    for await (const batch of batches(range)) {
      if (batch.isLong) list.push(await readValue(batch, level, `${path}[${list.length}]`));
      else for (const item of leaf(openBracket, batch, level - 1, path, list.length)) list.push(item);
      await rest();
    }
    return list;
  }

  async function objectOf(range: Range, level: number, path: string): Promise<object> {
    const object: Record<string, unknown> = {};
    for await (const batch of batches(range)) {
      const members = batch.isLong
        ? await longMember(batch, level, path)
        : leaf(openBrace, batch, level - 1, path, null);
      for (const [name, value] of Object.entries(members)) {
        if (Object.hasOwn(object, name))
          throw lossy(`An object in it has the name ${JSON.stringify(name.slice(0, 100))} twice.`);
        object[name] = value;
      }
      await rest();
    }
    return object;
  }

  async function longMember(range: Range, level: number, path: string): Promise<object> {
    const { from, to } = trimmed(bytes, range);
    let end = from + 1;
    while (end < to && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1;
    let at = end + 1;
    while (isSpace(bytes[at])) at++;
    if (bytes[from] !== quote || bytes[at] !== colon) throw notJson();
    const named = Buffer.concat([bytes.subarray(from, at + 1), Buffer.from("null")]);
    const member = parseWithin(openBrace, named, depth - level + 1, path, null, depth) as Record<string, unknown>;
    for (const name of Object.keys(member))
      member[name] = await readValue({ from: at + 1, to }, level, joined(path, name));
    return member;
  }

  /** What stands in an object or a list, short things together, and long ones alone. */
  async function* batches({ from, to }: Range): AsyncGenerator<Range & { isLong: boolean }> {
    const close = bytes[from] === openBracket ? closeBracket : closeBrace;
    let [begun, child, isEmpty] = [from + 1, from + 1, true];
    for await (const end of ends(from + 1, to)) {
      const isLast = end === to - 1;
      if (isLast && isEmpty && trimmed(bytes, { from: child, to: end }).from === end) break;
      isEmpty = false;
      if (end - child > piece) {
        if (child > begun) yield { from: begun, to: child - 1, isLong: false };
        yield { from: child, to: end, isLong: true };
        begun = end + 1;
      } else if (end - begun > piece || isLast) {
        yield { from: begun, to: end, isLong: false };
        begun = end + 1;
      }
      child = end + 1;
    }
    if (bytes[to - 1] !== close) throw notJson();
  }

  /** Where each thing in an object or a list ends; the last of them where that does itself. */
  async function* ends(from: number, to: number): AsyncGenerator<number> {
    let [open, looked] = [0, from];
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === quote) at = endOfText(bytes, at + 1);
      else if (byte === openBracket || byte === openBrace) open++;
      else if (byte === closeBracket || byte === closeBrace) {
        if (open-- > 0) continue;
        if (at !== to - 1) throw notJson();
        return yield at;
      } else if (byte === comma && open === 0) yield at;
      if (at - looked > piece) {
        looked = at;
        await rest();
      }
    }
    throw notJson();
  }

  function leaf(open: number, range: Range, level: number, path: string, first: number | null): unknown[] {
    const { from, to } = trimmed(bytes, range);
    if (from === to) throw notJson(); // Between two commas, or where a value is missing.
    return parseWithin(open, bytes.subarray(from, to), depth - level, path, first, depth) as unknown[];
  }

  return readValue({ from: startsWithMark(bytes) ? 3 : 0, to: bytes.length }, 0, "");
}

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

const brace = Buffer.from("{}");
const mark = Buffer.from('"');

/** Parses what stands in an object or a list. Faults name their place in the whole. */
function parseWithin(
  open: number,
  inner: Uint8Array,
  depth: number,
  path: string,
  first: number | null,
  most: number,
): unknown {
  const [before, after] = open === openBracket ? "[]" : "{}";
  try {
    return parseJson(Buffer.concat([Buffer.from(before!), inner, Buffer.from(after!)]), depth, most);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "validation_failed" || !error.param) throw error;
    const [, index, below] = /^(?:\[(\d+)\])?\.?(.*)$/s.exec(error.param)!;
    const own = index === undefined || first === null ? path : `${path}[${Number(index) + first}]`;
    const param = below === "" ? own : joined(own, below!);
    const fault = { param, code: "forbidden_key", message: `${param}: this key is not allowed.` };
    throw new AppError("validation_failed", fault.message, { param, errors: [fault] });
  }
}

function trimmed(bytes: Uint8Array, { from, to }: Range): Range {
  let [start, end] = [from, to];
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return { from: start, to: end };
}

const joined = (path: string, name: string): string =>
  path === "" || name.startsWith("[") ? path + name : `${path}.${name}`;

const startsWithMark = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

const tooLongHere = () =>
  new AppError(
    "invalid_json",
    `The body has a value of more than ${longestDeep} bytes within ${deepest} objects and lists.`,
  );
const notJson = () => new AppError("invalid_json", "The body is not valid JSON.");
const lossy = (loss: string) => new AppError("invalid_json", `The body would not be read as it was meant. ${loss}`);
