import { type ExactNumber, holdsExactNumber, isExactNumber, mayChange, parseExact } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";

// Libraries that speak a protocol for us parse JSON themselves, and would change its long numbers. For their hands each
// is a text, which nobody else can write: it is never sent, and drawn anew in each thread.

/** What such a text begins with. */
export const mark = `exact-number-${crypto.randomUUID()}:`;
// Its quotes are escaped where the JSON stands as a text in JSON, as arguments do that go to OpenAI.
const marked = new RegExp(`\\\\*"${mark}([^"\\\\]+)\\\\*"`, "g");

/** A value with texts in the place of its exact numbers. */
export const maskedValue = (value: unknown): unknown => (holdsExactNumber(value) ? maskedAll(value) : value);

function maskedAll(value: unknown): unknown {
  if (isExactNumber(value)) return mark + value.rawJSON;
  if (!hasParts(value)) return value;
  if (Array.isArray(value)) return value.map(maskedAll);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskedAll(inner)]));
}

// Deeper, nobody takes it.
const depthMax = 64;

/** The same value with its exact numbers again. */
export function unmaskedValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string" && value.startsWith(mark)) return parseExact<ExactNumber>(value.slice(mark.length));
  if (!hasParts(value) || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => unmaskedValue(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unmaskedValue(inner, depth + 1)]));
}

/** JSON text that a library wrote, with its exact numbers again. */
export const unmaskedJson = (json: string): string =>
  json.includes(mark) ? json.replace(marked, (_, source: string) => source) : json;

/** JSON text with texts in the place of exact numbers, in the fields of these names: elsewhere a library wants numbers. */
function maskedJson(json: string, fields: ReadonlySet<string>): string {
  if (!mayChange(json)) return json;
  try {
    return JSON.stringify(maskedFields(parseExact(json), fields));
  } catch {
    return json; // The library says what is wrong with it.
  }
}

function maskedFields(value: unknown, fields: ReadonlySet<string>): unknown {
  if (!hasParts(value)) return value;
  if (Array.isArray(value)) return value.map((item) => maskedFields(item, fields));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      fields.has(name) ? maskedValue(inner) : maskedFields(inner, fields),
    ]),
  );
}

/** What ends a piece of a stream, of which each by itself is JSON: a line, an event with it, or all there is. */
const ends = { line: ["\n"], event: ["\n\n", "\r\r", "\n\r\n"], whole: [] };

const longestEnd = 3;
const nothing = Buffer.alloc(0);

/** The same for bytes as they come. A piece that has no end yet is held back, up to `most` bytes. */
export function createStreamMask(piece: keyof typeof ends, fields: ReadonlySet<string>, most: number) {
  // In pieces, and looked through once: an event may come in thousands of them.
  let held: Buffer[] = [];
  let length = 0;
  let tail = nothing;

  function take(): Buffer {
    const all = held.length === 1 ? held[0]! : Buffer.concat(held);
    [held, length, tail] = [[], 0, nothing];
    return all;
  }

  function hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    held.push(bytes);
    length += bytes.length;
    tail = Buffer.concat([tail, bytes.subarray(-longestEnd)]).subarray(1 - longestEnd);
  }

  /** As Latin-1, in which each byte is a character: digits and quotes are the same ones, and others are not looked at. */
  function masked(pieces: Buffer): Uint8Array {
    const text = pieces.toString("latin1");
    if (!mayChange(text)) return pieces;
    return Buffer.from(maskedIn[piece](text), "latin1");
  }

  const mask = (json: string) => maskedJson(json, fields);
  const maskedIn = {
    whole: mask,
    line: (text: string) => text.split("\n").map(mask).join("\n"),
    event: (text: string) =>
      text.replace(dataOfEvent, (lines: string) => {
        const json = lines.replace(/^data: ?/gm, "");
        const shown = mask(json);
        return shown === json ? lines : `data: ${shown}\n`;
      }),
  };

  return {
    /** What can be read of it by now. */
    push(bytes: Uint8Array): Uint8Array {
      const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      const seen = tail.length > 0 ? Buffer.concat([tail, given]) : given;
      const end = Math.max(0, ...ends[piece].map((end) => endOf(seen, end))) - tail.length;
      const isTooLong = end <= 0 && length + given.length > most;
      const ready = isTooLong ? given.length : Math.max(0, end);
      if (ready === 0) {
        hold(Buffer.from(given));
        return nothing;
      }
      const first = given.subarray(0, ready);
      if (held.length > 0) held.push(first);
      const whole = held.length > 0 ? take() : first;
      hold(Buffer.from(given.subarray(ready)));
      return masked(whole);
    },
    /** The rest. */
    end: (): Uint8Array => masked(take()),
  };
}

export type StreamMask = ReturnType<typeof createStreamMask>;

/** Behind the last of these; 0 where there is none. */
function endOf(bytes: Buffer, end: string): number {
  const at = bytes.lastIndexOf(end);
  return at < 0 ? 0 : at + end.length;
}

/** Its lines of data, one after the other. */
const dataOfEvent = /(?:^data:[^\r\n]*(?:\r\n|\n|\r|$))+/gm;
