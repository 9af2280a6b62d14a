import { mediaIn } from "../../domain/run-input.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { type Projector, startsRun } from "../../storage/journal/journal.ts";

/** Tracks the runs and threads that show an inline image; triggers delete it with its last use. */
export function createImageRefcounts({ db }: { db: Db }) {
  const { sqlite } = db;
  const columns = "(project_id, environment, file_id, owner_id)";
  const values = "$project_id, $environment, $file_id, $owner_id";
  const scope = "project_id = $project_id AND environment = $environment";
  const insertion = sqlite.query(`INSERT OR IGNORE INTO image_uses ${columns} VALUES (${values})`);
  // Only inline images are reference-counted; other files stay until deleted.
  const insertIfUsed = sqlite.query(
    `INSERT OR IGNORE INTO image_uses ${columns} SELECT ${values} WHERE EXISTS (
       SELECT 1 FROM image_uses WHERE ${scope} AND file_id = $file_id)`,
  );
  // A browser's file that a run has taken is deleted with its last run.
  const insertRunUse = sqlite.query(
    `INSERT OR IGNORE INTO image_uses ${columns} SELECT ${values} WHERE EXISTS (
       SELECT 1 FROM files WHERE ${scope} AND id = $file_id AND owner IS NOT NULL)`,
  );
  const revival = sqlite.query(`UPDATE files SET expires_at_ms = NULL WHERE ${scope} AND id = $file_id`);
  const selectKnown = sqlite.query<{ id: string }, ScopeColumns & { sha256: string; agentId: string | null }>(
    `SELECT id FROM files WHERE ${scope} AND sha256 = $sha256 AND agent_id IS $agentId
       AND owner IS NULL AND expires_at_ms IS NULL AND EXISTS (
         SELECT 1 FROM image_uses WHERE image_uses.project_id = files.project_id
           AND image_uses.environment = files.environment AND image_uses.file_id = files.id) LIMIT 1`,
  );

  /** Records that a run or thread shows a file, if the file is reference-counted. Call inside a write. */
  const shows = ({ project_id, environment }: Scope, file_id: string, owner_id: string): void =>
    void insertIfUsed.run({ project_id, environment, file_id, owner_id });

  const project: Projector = (run, entries) => {
    const [first] = entries;
    for (const { event } of entries)
      if (event.type === "run.steered")
        for (const { file_id } of mediaIn({ ...event, input: event.content })) shows(run, file_id, run.run_id);
    if (!startsRun(entries) || first?.event.type !== "run.created") return;
    for (const { file_id } of mediaIn(first.event)) shows(run, file_id, run.run_id);
    const { project_id, environment, run_id: owner_id } = run;
    for (const file_id of first.event.file_ids)
      if (insertRunUse.run({ project_id, environment, file_id, owner_id }).changes > 0)
        revival.run({ project_id, environment, file_id });
  };

  return {
    shows,
    project,
    /** Starts counting references of a new inline image. Call inside a write. */
    begin: ({ project_id, environment }: Scope, file_id: string, owner_id: string): void =>
      void insertion.run({ project_id, environment, file_id, owner_id }),
    /** Returns the id of an image with this content that the agent's runs, or threads (null), already show. */
    known: ({ project_id, environment }: Scope, sha256: string, agentId: string | null): string | null =>
      selectKnown.get({ project_id, environment, sha256, agentId })?.id ?? null,
    /** Revives an image that is about to be deleted; true if it exists. Call inside a write. */
    isThere: ({ project_id, environment }: Scope, file_id: string): boolean =>
      revival.run({ project_id, environment, file_id }).changes > 0,
  };
}

export type ImageRefcounts = ReturnType<typeof createImageRefcounts>;
