import type { Database } from "bun:sqlite";
import { foldText } from "../../../domain/search-spelling.ts";
import { isSpelled, usesOf } from "./spellings.ts";
import { all } from "./statements.ts";
import { oneSpelling, wordsAsWritten } from "./word-text.ts";

/** Maximum chunks of a rare word: one, or two that overlap. For frequent words other forms are as good. */
const maxRareUses = 2;
/** Maximum texts read for one word, which takes a few milliseconds per thousand. */
const most_read = { spelled: 4000, other: 500 };

interface StemMatches {
  /** Number of chunks with the word's stem. */
  count: number;
  /** True if chunks have another form of the word, by the stem of their language. */
  has_others: boolean;
}

/**
 * Returns the chunks with a rare word exactly as written, if others have only its stem, which is all that FTS5 indexes
 * (`installation`, `installs`). Null if there are no others or no exact match. If the number of uses is stored for the
 * word, texts are read only if it is rare; for short words and those with digits, if few chunks have the stem.
 */
export function exactMatchBoost(
  sqlite: Database,
  { table, spellings }: { table: string; spellings: string },
  word: string,
  { count, has_others }: StemMatches,
): Set<number> | null {
  const uses = isSpelled(word) ? usesOf(sqlite, spellings, word) : null;
  if (count > (uses === null ? most_read.other : most_read.spelled)) return null;
  if (uses !== null && (uses === 0 || uses > maxRareUses || (uses >= count && !has_others))) return null;
  const rows = all<{ number: number; text: string }>(
    sqlite,
    `SELECT number, text FROM memory_chunks WHERE number IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`,
    [`"${word}"`],
  );
  const exact = rows.filter(({ text }) => foldText(oneSpelling(text)).includes(word) && wordsAsWritten(text).has(word));
  if (exact.length === 0 || exact.length > maxRareUses || (exact.length >= count && !has_others)) return null;
  return new Set(exact.map(({ number }) => number));
}
