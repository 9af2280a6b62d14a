import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { joinChunk } from "../../runtime/documents/join-chunks.ts";
import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";
import type { Db } from "../../storage/db/open.ts";

/** Most characters that a chunk repeats of the previous one. */
const overlapMax = 20_000;

/** Reads passages with their neighbors. */
export function createNeighbors({ sqlite }: Db) {
  const around = sqlite.query<{ text: string }, ScopeColumns & { entry_id: string; first: number; last: number }>(
    `SELECT text FROM memory_chunks WHERE project_id = $project_id AND environment = $environment AND entry_id = $entry_id
     AND chunk_index BETWEEN $first AND $last ORDER BY chunk_index`,
  );
  /** Joins a passage with up to `count` chunks before and after it; overlaps are merged. */
  return ({ project_id, environment }: Scope, match: Match, count: number): string => {
    const { entry_id, chunk_index } = match;
    const [first, last] = [chunk_index - count, chunk_index + count];
    const chunks = around.all({ project_id, environment, entry_id, first, last });
    // The entry may have been deleted since it was found.
    return chunks.reduce((text, chunk) => joinChunk(text, chunk.text, overlapMax), "") || match.text;
  };
}
