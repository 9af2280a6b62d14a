import { and, desc, eq, lt, sql } from "drizzle-orm";
import { abridged } from "../core/abridged.ts";
import { missing } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import { agentVersions } from "../db/schema.ts";
import { fillPage, read, toList } from "../http/page.ts";
import { readDefinition, type VersionDefinition, withoutScript } from "./definition.ts";

type Row = typeof agentVersions.$inferSelect;

/** What agents were at each of their versions; rows are added and never changed. */
export function createVersionStore({ orm }: Pick<Db, "orm">) {
  const ofAgent = ({ project_id, environment }: Scope, id: string) =>
    and(
      eq(agentVersions.project_id, project_id),
      eq(agentVersions.environment, environment),
      eq(agentVersions.agent_id, id),
    );

  return {
    /** Within the caller's write. */
    add(
      { project_id, environment }: Scope,
      id: string,
      version: number,
      definition: VersionDefinition,
      metadata: Record<string, string>,
      at: number,
    ): void {
      const row = { project_id, environment, agent_id: id, version, definition, metadata, created_at_ms: at };
      orm.insert(agentVersions).values(row).run();
    },
    get(scope: Scope, id: string, version: number) {
      const row =
        orm
          .select()
          .from(agentVersions)
          .where(and(ofAgent(scope, id), eq(agentVersions.version, version)))
          .get() ?? missing();
      return toVersion(row);
    },
    /** Newest first, those before the given version. */
    async list(scope: Scope, id: string, limit: number, before: number) {
      const newest = orm
        .select()
        .from(agentVersions)
        .where(and(ofAgent(scope, id), lt(agentVersions.version, sql.placeholder("before"))))
        .orderBy(desc(agentVersions.version))
        .limit(sql.placeholder("most"))
        .prepare();
      const rows = read(
        (before: number, most) => newest.all({ before, most }),
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
    metadata: row.metadata,
    created_at: timestamp(row.created_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}
