import { imagesIn } from "../core/run-input.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { areFirst, type Projector } from "../journal/journal.ts";

/** Who shows an image that came along with a message; triggers delete it with its last use. */
export function createImageUses({ db }: { db: Pick<Db, "sqlite"> }) {
  const { sqlite } = db;
  const columns = "(project_id, environment, file_id, owner_id)";
  const insertion = sqlite.query(`INSERT OR IGNORE INTO image_uses ${columns} VALUES (?, ?, ?, ?)`);
  // Of other files nobody keeps count: they stay until somebody deletes them.
  const another = sqlite.query(
    `INSERT OR IGNORE INTO image_uses ${columns} SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (
       SELECT 1 FROM image_uses WHERE project_id = ?1 AND environment = ?2 AND file_id = ?3)`,
  );
  // A file from a browser goes with its last run, and until then it stays.
  const taken = sqlite.query(
    `INSERT OR IGNORE INTO image_uses ${columns} SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (
       SELECT 1 FROM files WHERE project_id = ?1 AND environment = ?2 AND id = ?3 AND owner IS NOT NULL)`,
  );
  const revival = sqlite.query(
    "UPDATE files SET expires_at_ms = NULL WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const selectKnown = sqlite.query<{ id: string }, [string, string, string, string | null]>(
    `SELECT id FROM files WHERE project_id = ? AND environment = ? AND sha256 = ? AND agent_id IS ?
       AND owner IS NULL AND expires_at_ms IS NULL AND EXISTS (
         SELECT 1 FROM image_uses WHERE image_uses.project_id = files.project_id
           AND image_uses.environment = files.environment AND image_uses.file_id = files.id) LIMIT 1`,
  );

  /** Within a write: notes that a run or a thread shows a file, if it is one that goes with its last use. */
  const shows = ({ project_id, environment }: Scope, file_id: string, owner_id: string): void =>
    void another.run(project_id, environment, file_id, owner_id);

  const project: Projector = (run, entries) => {
    const [first] = entries;
    if (!areFirst(entries) || first?.event.type !== "run.created") return;
    for (const { file_id } of imagesIn(first.event)) shows(run, file_id, run.run_id);
    const { project_id, environment, run_id } = run;
    for (const id of first.event.file_ids)
      if (taken.run(project_id, environment, id, run_id).changes > 0) revival.run(project_id, environment, id);
  };

  return {
    shows,
    project,
    /** Within a write: the same of a file that was made for this. */
    begin: ({ project_id, environment }: Scope, file_id: string, owner_id: string): void =>
      void insertion.run(project_id, environment, file_id, owner_id),
    /** The file that has this content already, among those that runs of this agent show, or threads (null). */
    known: ({ project_id, environment }: Scope, sha256: string, agentId: string | null): string | null =>
      selectKnown.get(project_id, environment, sha256, agentId)?.id ?? null,
    /** Within a write: whether a file is there, which may have been about to go. */
    isThere: ({ project_id, environment }: Scope, file_id: string): boolean =>
      revival.run(project_id, environment, file_id).changes > 0,
  };
}

export type ImageUses = ReturnType<typeof createImageUses>;
