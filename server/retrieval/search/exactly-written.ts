import type { Database } from "bun:sqlite";
import { isSpelled, usesOf } from "./spellings.ts";
import { all } from "./statements.ts";
import { folded, oneSpelling, wordsAsWritten } from "./word-text.ts";

/** How many chunks have a rare word: one, or two that overlap. Of others, another ending is as good. */
const rare = 2;
/** Texts that are read for one word, which takes some milliseconds a thousand. */
const most_read = { spelled: 4000, other: 500 };

interface Found {
  /** How many chunks have its stem. */
  count: number;
  /** Whether there are chunks that have another form of it, as the stem of their language. */
  has_others: boolean;
}

/**
 * The chunks that have a rare word as it is written, where others have but its stem, which is all that FTS5 knows:
 * `installation` and not `installs`. Null where there are no others, or nobody has it so. Of words that are kept with how
 * many have them, only of a rare one texts are read; of short ones and those with digits, of any that few have by its stem.
 */
export function exactlyWritten(
  sqlite: Database,
  { table, spellings }: { table: string; spellings: string },
  word: string,
  { count, has_others }: Found,
): Set<number> | null {
  const uses = isSpelled(word) ? usesOf(sqlite, spellings, word) : null;
  if (count > (uses === null ? most_read.other : most_read.spelled)) return null;
  if (uses !== null && (uses === 0 || uses > rare || (uses >= count && !has_others))) return null;
  const rows = all<{ number: number; text: string }>(
    sqlite,
    `SELECT number, text FROM memory_chunks WHERE number IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`,
    [`"${word}"`],
  );
  const exact = rows.filter(({ text }) => folded(oneSpelling(text)).includes(word) && wordsAsWritten(text).has(word));
  if (exact.length === 0 || exact.length > rare || (exact.length >= count && !has_others)) return null;
  return new Set(exact.map(({ number }) => number));
}
