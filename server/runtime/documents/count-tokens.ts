/// <reference path="./tiktoken.d.ts" />
import { readFileSync } from "node:fs";
import tableFile from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";

/**
 * Returns a counter of o200k_base tokens, based on gpt-tokenizer's table and pattern. It does not use the package's own
 * encoder, because each document has its own child process: this table of bytes loads in 20 ms, the package's map of
 * strings in 300 ms.
 */
export function loadTokenCounter(): (text: string) => number {
  const rankOf = openTable(readFileSync(tableFile));
  const encoder = new TextEncoder();
  const known = new Map<string, number>();

  function countPiece(piece: string): number {
    const seen = known.get(piece);
    if (seen !== undefined) return seen;
    const counted = countParts(encoder.encode(piece), rankOf);
    if (known.size < most_known) known.set(piece, counted);
    return counted;
  }

  const count = (text: string): number => {
    let sum = 0;
    for (const piece of text.match(O200K_TOKEN_SPLIT_REGEX) ?? []) sum += countPiece(piece);
    return sum;
  };
  return (text) => {
    if (!hasLongRun(text)) return count(text);
    // Runs without a space are counted in pieces, because the time for one grows with the square of its length.
    return (text.match(/\s{0,3}\S{1,200}|\s{1,200}/gu) ?? []).reduce((sum, piece) => sum + count(piece), 0);
  };
}

const most_known = 50_000;

/** Written as a loop, because a regular expression would take quadratic time on a long run. */
function hasLongRun(text: string): boolean {
  let [run, spaced] = [0, false];
  for (let at = 0; at < text.length && run < 400; at++) {
    const isSpace = text.charCodeAt(at) <= 32;
    run = isSpace === spaced ? run + 1 : 1;
    spaced = isSpace;
  }
  return run >= 400;
}

/** Returns the rank of the token with these bytes; infinite if there is none. */
type RankOf = (bytes: Uint8Array, from: number, to: number) => number;

/** Byte-pair encoding: repeatedly joins the neighbours with the lowest rank. */
function countParts(bytes: Uint8Array, rankOf: RankOf): number {
  if (rankOf(bytes, 0, bytes.length) < Number.POSITIVE_INFINITY) return 1;
  const starts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const joined = (part: number): number =>
    part + 2 < starts.length ? rankOf(bytes, starts[part]!, starts[part + 2]!) : Number.POSITIVE_INFINITY;
  const ranks = starts.map((_, part) => joined(part));
  for (;;) {
    let [lowest, first] = [Number.POSITIVE_INFINITY, -1];
    for (let part = 0; part < ranks.length; part++) if (ranks[part]! < lowest) [lowest, first] = [ranks[part]!, part];
    if (first < 0) return starts.length - 1;
    starts.splice(first + 1, 1);
    ranks.splice(first + 1, 1);
    ranks[first] = joined(first);
    if (first > 0) ranks[first - 1] = joined(first - 1);
  }
}

const slots_bits = 19;

/** Reads the table: one token per line, as Base64 and its rank, sorted by rank. */
function openTable(table: Uint8Array): RankOf {
  const mask = 2 ** slots_bits - 1;
  /** Hash table of ranks plus one, by a token's bytes; a collision takes the next free slot. */
  const slots = new Int32Array(mask + 1);
  const bytes = new Uint8Array(table.length);
  /** Offset of each token's bytes; the last entry is the end. */
  const starts = new Int32Array(mask + 1);
  let [tokens, length] = [0, 0];

  for (let at = 0; at < table.length; at++) {
    let [hash, bits, pendingBits] = [0, 0, 0];
    for (let digit = base64[table[at]!]!; digit !== none; digit = base64[table[++at]!]!) {
      pendingBits = (pendingBits << 6) | digit;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      const byte = (pendingBits >> bits) & 255;
      bytes[length++] = byte;
      hash = mixed(hash, byte);
    }
    let slot = placeOf(hash, mask);
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = ++tokens;
    starts[tokens] = length;
    while (table[at] !== newLine && at < table.length) at++;
  }

  function isToken(token: number, given: Uint8Array, from: number, to: number): boolean {
    const start = starts[token]!;
    if (starts[token + 1]! - start !== to - from) return false;
    for (let at = from; at < to; at++) if (given[at] !== bytes[start + at - from]) return false;
    return true;
  }

  return (given, from, to) => {
    let hash = 0;
    for (let at = from; at < to; at++) hash = mixed(hash, given[at]!);
    for (let slot = placeOf(hash, mask); ; slot = (slot + 1) & mask) {
      const rank = slots[slot]! - 1;
      if (rank < 0) return Number.POSITIVE_INFINITY;
      if (isToken(rank, given, from, to)) return rank;
    }
  };
}

const newLine = 10;
const none = 255;

/** Value of each Base64 character. Padding and all other characters end a token. */
const base64 = new Uint8Array(256).fill(none);
for (const [value, digit] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
  base64[digit.charCodeAt(0)] = value;

// FNV-1a; its lower bits are the least mixed, so `placeOf` folds the upper bits into them.
const mixed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x0100_0193) + byte;
const placeOf = (hash: number, mask: number): number => (hash ^ (hash >>> 15)) & mask;
