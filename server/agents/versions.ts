import { abridged } from "../core/abridged.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import { fillPage, read, toList } from "../http/page.ts";
import { readDefinition, type VersionDefinition, withoutScript } from "./definition.ts";

interface Row extends Scope {
  agent_id: string;
  version: number;
  definition: string;
  metadata: string;
  created_at_ms: number;
}

/** What agents were at each of their versions; rows are added and never changed. */
export function createVersionStore({ sqlite }: Pick<Db, "sqlite">) {
  const insert = sqlite.query("INSERT INTO agent_versions VALUES (?, ?, ?, ?, ?, ?, ?)");
  const one = sqlite.query<Row, [string, string, string, number]>(
    "SELECT * FROM agent_versions WHERE project_id = ? AND environment = ? AND agent_id = ? AND version = ?",
  );
  const newest = sqlite.query<Row, [string, string, string, number, number]>(
    `SELECT * FROM agent_versions WHERE project_id = ? AND environment = ? AND agent_id = ? AND version < ?
     ORDER BY version DESC LIMIT ?`,
  );

  return {
    /** Within the caller's write. */
    add(
      { project_id, environment }: Scope,
      id: string,
      version: number,
      definition: VersionDefinition,
      metadata: object,
      at: number,
    ): void {
      insert.run(project_id, environment, id, version, JSON.stringify(definition), JSON.stringify(metadata), at);
    },
    get({ project_id, environment }: Scope, id: string, version: number) {
      const row = one.get(project_id, environment, id, version);
      if (!row) throw notFound();
      return toVersion(row);
    },
    /** Newest first, those before the given version. */
    async list({ project_id, environment }: Scope, id: string, limit: number, before: number) {
      const rows = read(
        (from: number, most) => newest.all(project_id, environment, id, from, most),
        before,
        ({ version }) => version,
      );
      const { data, has_more } = await fillPage(rows, limit, (row) => abridged(withoutScript(toVersion(row))));
      return toList(data, has_more, ({ version }) => version.toString());
    },
  };
}

function toVersion(row: Row) {
  const definition = readDefinition<VersionDefinition>(row.definition);
  return {
    id: row.agent_id,
    object: "agent_version" as const,
    ...definition,
    tools_count: definition.tools.length,
    version: row.version,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    created_at: timestamp(row.created_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}
