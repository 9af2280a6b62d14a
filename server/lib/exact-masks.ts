import { firstItem } from "./collections.ts";
import { type ExactNumber, holdsExactNumber, isExactNumber, mayChange, parseExact } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";

// Protocol libraries parse JSON themselves and would change long numbers. We pass them each number as a marked text
// with a random prefix, which is drawn per thread and never sent, so that no other party can forge it.

/** Prefix of a masked number. */
export const mark = `exact-number-${crypto.randomUUID()}:`;
// The quotes are escaped where JSON is nested as a text in JSON, such as OpenAI's arguments.
const marked = new RegExp(`\\\\*"${mark}([^"\\\\]+)\\\\*"`, "g");

/** Replaces exact numbers in a value by marked texts. */
export const maskedValue = (value: unknown): unknown => (holdsExactNumber(value) ? maskedAll(value) : value);

function maskedAll(value: unknown): unknown {
  if (isExactNumber(value)) return mark + value.rawJSON;
  if (!hasParts(value)) return value;
  if (Array.isArray(value)) return value.map(maskedAll);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskedAll(inner)]));
}

// Deeper values are refused elsewhere.
const depthMax = 64;

/** Restores the exact numbers of a value. */
export function unmaskedValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string" && value.startsWith(mark)) return parseExact<ExactNumber>(value.slice(mark.length));
  if (!hasParts(value) || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => unmaskedValue(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unmaskedValue(inner, depth + 1)]));
}

/** Restores the exact numbers in JSON text that a library wrote. */
export const unmaskedJson = (json: string): string =>
  json.includes(mark) ? json.replace(marked, (_, source: string) => source) : json;

/** Masks exact numbers in JSON text, but only in the fields of these names: elsewhere a library expects numbers. */
function maskedJson(json: string, fields: ReadonlySet<string>): string {
  if (!mayChange(json)) return json;
  try {
    return JSON.stringify(maskedFields(parseExact(json), fields));
  } catch {
    return json; // The library reports the fault of this text.
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

/** Separators between pieces of a stream that are JSON by themselves: a line, an event, or the whole. */
const ends = { line: ["\n"], event: ["\n\n", "\r\r", "\n\r\n"], whole: [] };

const longestEnd = 3;
const nothing = Buffer.alloc(0);

/** Masks a stream of bytes. An incomplete piece is held back, up to `most` bytes. */
export function createStreamMask(piece: keyof typeof ends, fields: ReadonlySet<string>, most: number) {
  // Held as chunks, and searched only once: an event may come in thousands of chunks.
  let chunks: Buffer[] = [];
  let length = 0;
  let tail = nothing;

  function take(): Buffer {
    const all = chunks.length === 1 ? firstItem(chunks) : Buffer.concat(chunks);
    [chunks, length, tail] = [[], 0, nothing];
    return all;
  }

  function hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    chunks.push(bytes);
    length += bytes.length;
    tail = Buffer.concat([tail, bytes.subarray(-longestEnd)]).subarray(1 - longestEnd);
  }

  /**
   * Masks as Latin-1, where each byte is one character: digits and quotes stay the same, and other bytes are not
   * inspected.
   */
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
    /** Returns the complete pieces so far, masked. */
    push(bytes: Uint8Array): Uint8Array {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      const seen = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk;
      const end = Math.max(0, ...ends[piece].map((end) => endOf(seen, end))) - tail.length;
      const isTooLong = end <= 0 && length + chunk.length > most;
      const ready = isTooLong ? chunk.length : Math.max(0, end);
      if (ready === 0) {
        hold(Buffer.from(chunk));
        return nothing;
      }
      const first = chunk.subarray(0, ready);
      if (chunks.length > 0) chunks.push(first);
      const whole = chunks.length > 0 ? take() : first;
      hold(Buffer.from(chunk.subarray(ready)));
      return masked(whole);
    },
    /** Returns the rest, masked. */
    end: (): Uint8Array => masked(take()),
  };
}

export type StreamMask = ReturnType<typeof createStreamMask>;

/** Returns the position after the last separator, or 0 if there is none. */
function endOf(bytes: Buffer, end: string): number {
  const at = bytes.lastIndexOf(end);
  return at < 0 ? 0 : at + end.length;
}

/** Consecutive data lines of an event. */
const dataOfEvent = /(?:^data:[^\r\n]*(?:\r\n|\n|\r|$))+/gm;
