import type { Viewer } from "../../http/auth.ts";
import type { Db } from "../../storage/db/open.ts";

export type HasAgent = ReturnType<typeof createHasAgent>;

/** Returns whether an agent exists and the viewer may use it: a bound key sees no other agents. */
export function createHasAgent({ sqlite, kept }: Db) {
  const select = sqlite.query<unknown, [string, string, string]>(
    "SELECT 1 FROM agents WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const found = kept.rows((...key: [string, string, string]) => select.get(...key) !== null);
  return ({ project_id, environment, agent_ids }: Viewer, id: string): boolean =>
    agent_ids?.includes(id) !== false && found.of(project_id, environment, id);
}
