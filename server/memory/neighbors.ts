import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { joinChunk } from "../documents/join-chunks.ts";
import type { Match } from "../retrieval/search/searcher.ts";

/** Characters that a chunk repeats of the one before it, at most. */
const overlapMax = 20_000;

/** Reads passages with those that stand around them. */
export function createNeighbors({ sqlite }: Pick<Db, "sqlite">) {
  const around = sqlite.query<{ text: string }, [string, string, string, number, number]>(
    `SELECT text FROM memory_chunks WHERE project_id = ? AND environment = ? AND entry_id = ?
     AND chunk_index BETWEEN ? AND ? ORDER BY chunk_index`,
  );
  /** A passage as one text with up to so many before and behind it of the same entry; what they share stands once. */
  return ({ project_id, environment }: Scope, match: Match, count: number): string => {
    const { entry_id, chunk_index } = match;
    const chunks = around.all(project_id, environment, entry_id, chunk_index - count, chunk_index + count);
    // It may have been deleted since it was found.
    return chunks.reduce((text, chunk) => joinChunk(text, chunk.text, overlapMax), "") || match.text;
  };
}
