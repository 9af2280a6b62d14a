import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import { isPinned } from "./skill-uses.ts";

type Key = ScopeColumns & { id: string };

// Few, so that the next write waits only milliseconds.
const filesPerWrite = 200;

export type SkillErasure = ReturnType<typeof createSkillErasure>;

/** SQL condition: the skill is not deleted. A deleted one has its id as its name, which no skill can have. */
export const isKept = "skills.name <> skills.id";

/** Erases deleted skills that no run needs any more. Call its functions inside a write. */
export function createSkillErasure({ db: { sqlite }, blobs }: { db: Db; blobs: Pick<FileBlobs, "release"> }) {
  const own = "project_id = $project_id AND environment = $environment";
  const selectUnused = sqlite.query<Key, []>(
    `SELECT project_id, environment, id FROM skills WHERE name = id AND NOT ${isPinned} LIMIT 1`,
  );
  const isUnused = sqlite.query<unknown, Key>(
    `SELECT 1 FROM skills WHERE ${own} AND id = $id AND name = id AND NOT ${isPinned}`,
  );
  const deleteFiles = sqlite.query<{ sha256: string }, Key & { most: number }>(
    `DELETE FROM skill_files WHERE (project_id, environment, skill_id, version, path) IN (
       SELECT project_id, environment, skill_id, version, path FROM skill_files
       WHERE ${own} AND skill_id = $id LIMIT $most) RETURNING sha256`,
  );
  const deleteSkill = sqlite.query<unknown, Key>(`DELETE FROM skills WHERE ${own} AND id = $id`);

  /** Deletes up to `most` files of a skill, and the skill with the last ones. Returns the number of rows. */
  function erase({ project_id, environment, id }: Key, most: number): number {
    const key = { project_id, environment, id };
    const files = deleteFiles.all({ ...key, most });
    for (const sha256 of new Set(files.map((file) => file.sha256))) blobs.release(key, sha256);
    if (files.length === most) return files.length;
    deleteSkill.run(key);
    return files.length + 1;
  }

  return {
    /** Begins to erase a deleted skill, unless a run needs it; the sweep does the rest. */
    begin({ project_id, environment }: Scope, id: string): void {
      const key = { project_id, environment, id };
      if (isUnused.get(key)) erase(key, filesPerWrite);
    },
    /** Deletes some files of deleted skills and returns the number of rows. */
    forgetDeleted(limit: number): number {
      const unused = selectUnused.get();
      return unused ? erase(unused, Math.min(limit, filesPerWrite)) : 0;
    },
  };
}
