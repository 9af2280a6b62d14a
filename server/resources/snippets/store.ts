import { and, desc, eq, lt, sql } from "drizzle-orm";
import { changeable } from "../../domain/api-types/schema.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import { truncateResource } from "../../domain/truncate-resource.ts";
import type { PinnedSnippet } from "../../domain/variable.ts";
import { throwIfInvalid } from "../../http/errors.ts";
import { fillPage, listPage, type Page, readRows, toList } from "../../http/page.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { snippets, snippetVersions } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { createAgentsUsing, nameIn, versionIn } from "./agents-using.ts";
import type { CreateSnippet, UpdateSnippet } from "./schema.ts";
import { textFaults } from "./text-faults.ts";

type Row = typeof snippets.$inferSelect;
type VersionRow = typeof snippetVersions.$inferSelect;

export type SnippetStore = ReturnType<typeof createSnippetStore>;

/** Texts that agents share, with their versions. */
export function createSnippetStore({ db, audit, now = Date.now }: StoreBase) {
  const { orm, sqlite } = db;
  const rows = createScopedTable(db, snippets);
  const agents = createAgentsUsing(db);
  const selectByName = sqlite.query<{ id: string; version: number }, [string, Environment, string]>(
    "SELECT id, version FROM snippets WHERE project_id = ? AND environment = ? AND name = ?",
  );
  const byName = ({ project_id, environment }: Scope, name: string) => selectByName.get(project_id, environment, name);
  const versionsOf = ({ project_id, environment }: Scope, id: string) =>
    and(
      eq(snippetVersions.project_id, project_id),
      eq(snippetVersions.environment, environment),
      eq(snippetVersions.snippet_id, id),
    );

  const versionRow = (scope: Scope, id: string, version: number): VersionRow | undefined =>
    orm
      .select()
      .from(snippetVersions)
      .where(and(versionsOf(scope, id), eq(snippetVersions.version, version)))
      .get();

  function addVersion({ project_id, environment }: Scope, { id, version, text, updated_at_ms }: Row): void {
    const row = { project_id, environment, snippet_id: id, version, text, created_at_ms: updated_at_ms };
    orm.insert(snippetVersions).values(row).run();
  }

  /** Returns the snippet that an agent names, with the text of its version; null if there is none. */
  function pinned(scope: Scope, reference: string): PinnedSnippet | null {
    const name = nameIn(reference);
    const found = byName(scope, name);
    const row = found && versionRow(scope, found.id, versionIn(reference) ?? found.version);
    return row ? { name, version: row.version, text: row.text } : null;
  }

  function create(author: Author, { name, text, description = null, metadata = {} }: CreateSnippet) {
    throwIfInvalid(textFaults(text));
    return db.write(() => {
      if (byName(author, name))
        throw new AppError("name_taken", `There is already a snippet "${name}".`, { param: "name" });
      const [at, version] = [now(), 1];
      const row = rows.insert(author, {
        id: newId("snippet", at),
        name,
        description,
        version,
        text,
        metadata,
        created_at_ms: at,
        updated_at_ms: at,
      });
      addVersion(author, row);
      audit.note(author, "snippet.created", row.id, { name, version });
      return toSnippet(row);
    });
  }

  /** Stores a new version if the text differs. */
  function update(author: Author, id: string, { expected_version, ...input }: UpdateSnippet) {
    rows.find(author, id); // Checked first: an unknown snippet is a 404, whatever the body says.
    if (input.text !== undefined) throwIfInvalid(textFaults(input.text));
    return db.write(() => {
      const before = rows.find(author, id);
      if (expected_version !== undefined && expected_version !== before.version)
        throw new AppError("version_conflict", `The snippet is at version ${before.version}.`, {
          param: "expected_version",
          details: { version: before.version },
        });
      const { text = before.text, description = before.description, metadata = before.metadata } = input;
      const after = { text, description, metadata };
      const changes = Object.entries(after).flatMap(([name, value]) =>
        Bun.deepEquals(value, before[name as keyof typeof after]) ? [] : [name],
      );
      if (changes.length === 0) return toSnippet(before);
      const isNew = text !== before.text;
      if (isNew) agents.requireFit(author, { name: before.name, text }, pinned);
      const version = isNew ? before.version + 1 : before.version;
      const row = rows.update(author, id, { ...after, version, updated_at_ms: now() });
      if (isNew) addVersion(author, row);
      audit.note(author, "snippet.updated", id, { name: row.name, version, changes });
      return toSnippet(row);
    });
  }

  return {
    create,
    update,
    pinned,
    get: (scope: Scope, id: string) => toSnippet(rows.find(scope, id)),
    list: (scope: Scope, page: Page) => listPage(db, { table: snippets, kind: "snippet", scope, page }, toSnippet),
    version(scope: Scope, id: string, version: number) {
      const { name } = rows.find(scope, id);
      return toVersion(name, versionRow(scope, id, version) ?? throwNotFound());
    },
    /** Versions before the given one, newest first. */
    async versions(scope: Scope, id: string, limit: number, before: number) {
      const { name } = rows.find(scope, id);
      const newest = orm
        .select()
        .from(snippetVersions)
        .where(and(versionsOf(scope, id), lt(snippetVersions.version, sql.placeholder("before"))))
        .orderBy(desc(snippetVersions.version))
        .limit(sql.placeholder("most"))
        .prepare();
      const found = readRows(
        (before: number, most) => newest.all({ before, most }),
        before,
        ({ version }) => version,
      );
      const { data, has_more } = await fillPage(found, limit, (row) => truncateResource(toVersion(name, row)));
      return toList(data, has_more, ({ version }) => version.toString());
    },
    /** Deletes a snippet that neither agents nor labels' versions use. Runs continue with the text that they pinned. */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, version } = rows.find(author, id);
        const agent_ids = agents.idsOf(author, name);
        if (agent_ids.length > 0)
          throw new AppError(
            "snippet_in_use",
            "Agents use this snippet, now or in a version that a label holds: take it out of them first.",
            { details: { agent_ids: agent_ids.slice(0, 100) } },
          );
        rows.remove(author, id);
        audit.note(author, "snippet.deleted", id, { name, version });
        return { id, object: "snippet" as const, deleted: true };
      }),
  };
}

const toSnippet = (row: Row) => ({
  id: row.id,
  object: "snippet" as const,
  name: row.name,
  description: row.description,
  text: row.text,
  version: row.version,
  ...changeable(row),
});

const toVersion = (name: string, row: VersionRow) => ({
  id: row.snippet_id,
  object: "snippet_version" as const,
  name,
  text: row.text,
  version: row.version,
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
