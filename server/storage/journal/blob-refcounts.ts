import type { Database } from "bun:sqlite";
import type { Scope } from "../../domain/scope.ts";

/**
 * Deletes a blob of a scope unless a run there uses it. CROSS fixes the join order: otherwise SQLite looks for the blob
 * under each run of the scope.
 */
export const deleteUnusedBlob = `
  DELETE FROM blobs WHERE project_id = $project_id AND environment = $environment AND hash = $hash AND NOT EXISTS (
    SELECT 1 FROM run_blobs CROSS JOIN runs ON runs.id = run_blobs.run_id
    WHERE run_blobs.hash = $hash AND runs.project_id = $project_id AND runs.environment = $environment)`;

/**
 * Removes a run's references to blobs, at most `limit`, and deletes blobs that no other run of this scope uses. Returns
 * the number of references. Call it inside a write.
 */
export function forgetBlobs(sqlite: Database, { project_id, environment }: Scope, id: string, limit = -1): number {
  const hashes = sqlite
    .query<{ hash: string }, { id: string; limit: number }>(
      "SELECT hash FROM run_blobs WHERE run_id = $id ORDER BY hash LIMIT $limit",
    )
    .all({ id, limit });
  const unuse = sqlite.query("DELETE FROM run_blobs WHERE run_id = $id AND hash = $hash");
  const forget = sqlite.query(deleteUnusedBlob);
  for (const { hash } of hashes) {
    unuse.run({ id, hash });
    forget.run({ project_id, environment, hash });
  }
  return hashes.length;
}
