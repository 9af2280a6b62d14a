import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { type Projector, startsRun } from "../../storage/journal/journal.ts";
import type { FileRow } from "./row.ts";

type Known = Pick<FileRow, "id">;

/** Tracks the documents that runs were given, and the files that runs made. */
export function createRunAttachments({ db: { sqlite } }: { db: Db }) {
  const insertion = sqlite.query(
    `INSERT OR IGNORE INTO run_files (project_id, environment, file_id, run_id)
     VALUES ($project_id, $environment, $id, $run_id)`,
  );
  const selectMade = sqlite.query<Known, ScopeColumns & { runId: string; most: number }>(
    `SELECT id FROM files WHERE project_id = $project_id AND environment = $environment AND run_id = $runId
       AND purpose = 'output' AND expires_at_ms IS NOT 0 LIMIT $most`,
  );
  const selectGiven = sqlite.query<Known, ScopeColumns & { runId: string; userId: string; most: number }>(
    `SELECT f.id FROM run_files g JOIN files f
       ON f.project_id = g.project_id AND f.environment = g.environment AND f.id = g.file_id
     WHERE g.project_id = $project_id AND g.environment = $environment AND g.run_id = $runId AND f.purpose = 'attachment'
       AND f.expires_at_ms IS NOT 0 AND NOT EXISTS (
         SELECT 1 FROM run_files o JOIN runs r ON r.id = o.run_id
         WHERE o.project_id = g.project_id AND o.environment = g.environment AND o.file_id = g.file_id
           AND r.user_id IS NOT $userId) LIMIT $most`,
  );
  const isGiven = sqlite.query<unknown, ScopeColumns & { id: string }>(
    `SELECT 1 FROM run_files WHERE project_id = $project_id AND environment = $environment AND file_id = $id LIMIT 1`,
  );

  const project: Projector = ({ project_id, environment, run_id }, entries) => {
    const [first] = entries;
    for (const { event } of entries)
      if (event.type === "run.steered")
        for (const { file_id: id } of event.files ?? []) insertion.run({ project_id, environment, id, run_id });
    if (!startsRun(entries) || first?.event.type !== "run.created") return;
    for (const id of first.event.file_ids) insertion.run({ project_id, environment, id, run_id });
  };

  return {
    project,
    /** Up to `most` files to delete with a run's user: files the run made, and files given to no other user's run. */
    own: ({ project_id, environment }: Scope, runId: string, userId: string, most: number): string[] => {
      const outputs = selectMade.all({ project_id, environment, runId, most });
      const inputs = selectGiven.all({ project_id, environment, runId, userId, most: most - outputs.length });
      return [...outputs, ...inputs].map(({ id }) => id);
    },
    /** True if a run was given the file. */
    isGiven: ({ project_id, environment }: Scope, id: string): boolean =>
      isGiven.get({ project_id, environment, id }) !== null,
  };
}
