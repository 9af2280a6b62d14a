import { and, desc, eq, lt, sql } from "drizzle-orm";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import { truncateResource } from "../../domain/truncate-resource.ts";
import { fillPage, readRows, toList } from "../../http/page.ts";
import type { Db } from "../../storage/db/open.ts";
import { agentVersions } from "../../storage/db/schema.ts";
import { readDefinition, type VersionDefinition, withoutScript } from "./definition.ts";

type Row = typeof agentVersions.$inferSelect;

export type VersionStore = ReturnType<typeof createVersionStore>;

/** Definitions of agents by version. Rows are only inserted. */
export function createVersionStore({ orm }: Db) {
  const ofAgent = ({ project_id, environment }: Scope, id: string) =>
    and(
      eq(agentVersions.project_id, project_id),
      eq(agentVersions.environment, environment),
      eq(agentVersions.agent_id, id),
    );

  const find = (scope: Scope, id: string, version: number): Row =>
    orm
      .select()
      .from(agentVersions)
      .where(and(ofAgent(scope, id), eq(agentVersions.version, version)))
      .get() ?? throwNotFound();

  return {
    /** Returns what a version consisted of; the tools by their ids, as they are now. */
    definition: (scope: Scope, id: string, version: number): VersionDefinition =>
      readDefinition<VersionDefinition>(find(scope, id, version).definition),
    /** Call inside a write. */
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
    get: (scope: Scope, id: string, version: number) => toVersion(find(scope, id, version)),
    /** Versions before the given one, newest first. */
    async list(scope: Scope, id: string, limit: number, before: number) {
      const newest = orm
        .select()
        .from(agentVersions)
        .where(and(ofAgent(scope, id), lt(agentVersions.version, sql.placeholder("before"))))
        .orderBy(desc(agentVersions.version))
        .limit(sql.placeholder("most"))
        .prepare();
      const rows = readRows(
        (before: number, most) => newest.all({ before, most }),
        before,
        ({ version }) => version,
      );
      const { data, has_more } = await fillPage(rows, limit, (row) => truncateResource(withoutScript(toVersion(row))));
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
