import type { Database } from "bun:sqlite";
import { usesOf } from "./spellings.ts";
import { all } from "./statements.ts";
import { folded, oneSpelling, wordsAsWritten } from "./word-text.ts";

/** How many chunks have a rare word: one, or two that overlap. Of others, another ending is as good. */
const rare = 2;
/** Texts that are read for one word, which takes some milliseconds a thousand. */
const most_read = 4000;

/**
 * The chunks that have a rare word as it is written, where others have but its stem, which is all that FTS5 knows:
 * `installation` and not `installs`. Null where there are no others, or nobody has it so.
 */
export function exactlyWritten(
  sqlite: Database,
  { table, spellings }: { table: string; spellings: string },
  word: string,
  count: number,
): Set<number> | null {
  const uses = usesOf(sqlite, spellings, word);
  if (uses === 0 || uses > rare || uses >= count || count > most_read) return null;
  const rows = all<{ number: number; text: string }>(
    sqlite,
    `SELECT number, text FROM memory_chunks WHERE number IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`,
    [`"${word}"`],
  );
  const exact = rows.filter(({ text }) => folded(oneSpelling(text)).includes(word) && wordsAsWritten(text).has(word));
  return exact.length > 0 && exact.length < count ? new Set(exact.map(({ number }) => number)) : null;
}
