import type { Scope } from "../../domain/scope.ts";
import { joinChunk } from "../../runtime/documents/join-chunks.ts";
import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";
import type { Db } from "../../storage/db/open.ts";

/** Most characters that a chunk repeats of the previous one. */
const overlapMax = 20_000;

/** Reads passages with their neighbors. */
export function createNeighbors({ sqlite }: Db) {
  const around = sqlite.query<{ text: string }, [string, string, string, number, number]>(
    `SELECT text FROM memory_chunks WHERE project_id = ? AND environment = ? AND entry_id = ?
     AND chunk_index BETWEEN ? AND ? ORDER BY chunk_index`,
  );
  /** Joins a passage with up to `count` chunks before and after it; overlaps are merged. */
  return ({ project_id, environment }: Scope, match: Match, count: number): string => {
    const { entry_id, chunk_index } = match;
    const chunks = around.all(project_id, environment, entry_id, chunk_index - count, chunk_index + count);
    // The entry may have been deleted since it was found.
    return chunks.reduce((text, chunk) => joinChunk(text, chunk.text, overlapMax), "") || match.text;
  };
}
