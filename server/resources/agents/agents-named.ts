import { mayUse, type Viewer } from "../../http/auth.ts";
import type { Db } from "../../storage/db/open.ts";

/** Returns the ids of the agents with a name that the viewer may use, oldest first. */
export function createAgentsNamed({ sqlite }: Pick<Db, "sqlite">) {
  const select = sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM agents WHERE project_id = ? AND environment = ? AND name = ? ORDER BY id",
  );
  return (viewer: Viewer, name: string): string[] =>
    select.all(viewer.project_id, viewer.environment, name).flatMap(({ id }) => (mayUse(viewer, id) ? [id] : []));
}
