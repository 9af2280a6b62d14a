import { sql } from "drizzle-orm";
import { changeable } from "../../domain/api-types/schema.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { PinnedSkill } from "../../domain/skills.ts";
import { timestamp } from "../../domain/time.ts";
import { fillPage, listPage, type Page, readRows, toList } from "../../http/page.ts";
import { sha256 } from "../../lib/hash.ts";
import type { SkillContent } from "../../runtime/sandbox/skill-task.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import type { FileBlobs, StoredContent } from "../../storage/db/file-blobs.ts";
import { skillFiles, skills, skillVersions } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import { isKept, type SkillErasure } from "./skill-erasure.ts";

type Row = typeof skills.$inferSelect;
type VersionRow = typeof skillVersions.$inferSelect;
type FileRow = Pick<typeof skillFiles.$inferSelect, "path" | "sha256" | "bytes">;
type VersionKey = [project_id: string, environment: Environment, skill_id: string, version: number];

export type SkillStore = ReturnType<typeof createSkillStore>;

interface StoreOptions extends StoreBase {
  blobs: FileBlobs;
  erasure: Pick<SkillErasure, "begin">;
}

/** Skills and their versions. Versions are only inserted, and deleted with their skill. */
export function createSkillStore({ db, audit, blobs, erasure, now = Date.now }: StoreOptions) {
  const { sqlite } = db;
  const rows = createScopedTable(db, skills, sql.raw(isKept));
  const readSkillRow = createReader(skills);
  const readVersionRow = createReader(skillVersions);
  const named = sqlite.query<Record<string, unknown>, [string, string, string]>(
    `SELECT ${columnsOf(skills)} FROM skills WHERE project_id = ? AND environment = ? AND name = ? AND ${isKept}`,
  );
  const countSkills = sqlite.query<{ n: number }, [string, string]>(
    `SELECT count(*) AS n FROM skills WHERE project_id = ? AND environment = ? AND ${isKept}`,
  );
  const ofVersion = "project_id = ? AND environment = ? AND skill_id = ? AND version = ?";
  const selectVersion = sqlite.query<Record<string, unknown>, VersionKey>(
    `SELECT ${columnsOf(skillVersions)} FROM skill_versions WHERE ${ofVersion}`,
  );
  const selectNewest = sqlite.query<Record<string, unknown>, [string, string, string, number, number]>(
    `SELECT ${columnsOf(skillVersions)} FROM skill_versions
     WHERE project_id = ? AND environment = ? AND skill_id = ? AND version < ? ORDER BY version DESC LIMIT ?`,
  );
  const selectFiles = sqlite.query<FileRow, VersionKey>(
    `SELECT path, sha256, bytes FROM skill_files WHERE ${ofVersion} ORDER BY path`,
  );
  const selectFile = sqlite.query<FileRow, [...VersionKey, string]>(
    `SELECT path, sha256, bytes FROM skill_files WHERE ${ofVersion} AND path = ?`,
  );

  function findNamed({ project_id, environment }: Scope, name: string): Row | null {
    const row = named.get(project_id, environment, name);
    return row && readSkillRow(row);
  }

  function versionOf({ project_id, environment }: Scope, id: string, version: number): VersionRow | null {
    const row = selectVersion.get(project_id, environment, id, version);
    return row && readVersionRow(row);
  }

  const findVersion = (scope: Scope, id: string, version: number) => versionOf(scope, id, version) ?? throwNotFound();

  const serialize = (row: Row) => {
    const { head, sha256, bytes, files } = findVersion(row, row.id, row.version);
    const { metadata: _, ...facts } = head;
    return {
      id: row.id,
      object: "skill" as const,
      ...facts,
      version: row.version,
      bytes,
      sha256,
      files,
      ...changeable(row),
    };
  };

  const filesOf = ({ project_id, environment }: Scope, id: string, version: number): FileRow[] =>
    selectFiles.all(project_id, environment, id, version);

  const fileOf = ({ project_id, environment }: Scope, id: string, version: number, path: string): FileRow | null =>
    selectFile.get(project_id, environment, id, version, path);

  /** Inserts a version with its files. Call inside a write. */
  function addVersion(scope: Scope, id: string, version: number, { head, files }: SkillContent, hash: string): void {
    const { project_id, environment } = scope;
    const key = { project_id, environment, skill_id: id, version };
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    const facts = { head, sha256: hash, bytes, files: files.length, created_at_ms: now() };
    db.orm
      .insert(skillVersions)
      .values({ ...key, ...facts })
      .run();
    for (const file of files) {
      const { sha256, bytes } = blobs.put(scope, file.bytes);
      db.orm
        .insert(skillFiles)
        .values({ ...key, path: file.path, sha256, bytes })
        .run();
    }
  }

  function createFirst(author: Author, content: SkillContent, hash: string): Row {
    const { name, metadata } = content.head;
    const count = countSkills.get(author.project_id, author.environment)?.n ?? 0;
    if (count >= limits.skills)
      throw new AppError("validation_failed", `There are ${limits.skills} skills, and may be no more.`);
    const at = now();
    const values = { name, version: 1, metadata, created_at_ms: at, updated_at_ms: at };
    const row = rows.insert(author, { id: newId("skill", at), ...values });
    addVersion(author, row.id, 1, content, hash);
    audit.note(author, "skill.created", row.id, { name, version: 1 });
    return row;
  }

  function addNext(author: Author, { id, name, version: newest }: Row, content: SkillContent, hash: string): Row {
    if (newest >= limits.skill_versions)
      throw new AppError("validation_failed", `The skill has ${limits.skill_versions} versions, and may have no more.`);
    const version = newest + 1;
    addVersion(author, id, version, content, hash);
    audit.note(author, "skill.updated", id, { name, version });
    return rows.update(author, id, { version, metadata: content.head.metadata, updated_at_ms: now() });
  }

  return {
    /**
     * Stores a skill, or a version of the skill with its name. `isNew` is false if the newest version has the same
     * files already.
     */
    put: (author: Author, content: SkillContent) =>
      db.write(() => {
        const hash = hashOf(content);
        const known = findNamed(author, content.head.name);
        if (known && findVersion(author, known.id, known.version).sha256 === hash)
          return { skill: serialize(known), isNew: false };
        const row = known ? addNext(author, known, content, hash) : createFirst(author, content, hash);
        return { skill: serialize(row), isNew: true };
      }),

    get: (scope: Scope, id: string) => serialize(rows.find(scope, id)),
    list: (scope: Scope, page: Page) =>
      listPage(db, { table: skills, kind: "skill", scope, page, where: [{ sql: isKept, values: [] }] }, serialize),

    /**
     * Hides a skill with all its versions. Agents keep its name, and their new runs do without it. Its files are erased
     * when no run needs them.
     */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, version } = rows.find(author, id);
        rows.update(author, id, { name: id, updated_at_ms: now() });
        erasure.begin(author, id);
        audit.note(author, "skill.deleted", id, { name, version });
        return { id, object: "skill" as const, deleted: true };
      }),

    version(scope: Scope, id: string, version: number) {
      rows.find(scope, id);
      const row = findVersion(scope, id, version);
      return { ...serializeVersion(row), files: filesOf(scope, id, version) };
    },

    /** Versions before the given one, newest first. */
    async versions({ project_id, environment }: Scope, id: string, limit: number, before: number) {
      const parts = readRows(
        (before: number, most) =>
          selectNewest.all(project_id, environment, id, before, most).map((row) => readVersionRow(row)),
        before,
        ({ version }) => version,
      );
      const { data, has_more } = await fillPage(parts, limit, serializeVersion);
      return toList(data, has_more, ({ version }) => version.toString());
    },

    /** The content of a file. Throws if there is none. */
    content(scope: Scope, id: string, version: number, path: string): StoredContent {
      rows.find(scope, id);
      const file = fileOf(scope, id, version, path) ?? throwNotFound();
      return blobs.open(scope, file.sha256) ?? throwNotFound();
    },

    /** Finds a skill by its id or its name; null if there is none, or no such version of it. */
    find(scope: Scope, named: string, version: number | null): { skill_id: string; name: string } | null {
      const row = rows.get(scope, named) ?? findNamed(scope, named);
      if (!row || (version !== null && !versionOf(scope, row.id, version))) return null;
      return { skill_id: row.id, name: row.name };
    },

    /** Pins skills for a run, the newest version of each unless one is given. Deleted ones are left out. */
    pin: (scope: Scope, references: readonly { skill_id: string; version: number | null }[]): PinnedSkill[] =>
      references.flatMap(({ skill_id, version }) => {
        const row = rows.get(scope, skill_id);
        const pinned = row && versionOf(scope, skill_id, version ?? row.version);
        if (!pinned) return [];
        return [{ skill_id, version: pinned.version, name: row.name, description: pinned.head.description }];
      }),

    /** Files of a version, for a run that has pinned it; null if it was erased. */
    filesOf(scope: Scope, id: string, version: number): { files: { path: string; bytes: number }[] } | null {
      const files = filesOf(scope, id, version);
      return files.length === 0 ? null : { files: files.map(({ path, bytes }) => ({ path, bytes })) };
    },

    /** Part of a file, for a run that has pinned it; null if it was erased. */
    part(scope: Scope, id: string, version: number, path: string, start: number, length: number): Uint8Array | null {
      const file = fileOf(scope, id, version, path);
      const content = file && blobs.open(scope, file.sha256);
      return content && Buffer.concat([...content.read({ start, end: Math.min(file.bytes, start + length) })]);
    },
  };
}

/** Hash by which an upload with the same files is recognized. */
const hashOf = ({ files }: SkillContent): string =>
  sha256(JSON.stringify(files.map(({ path, bytes }) => [path, sha256(bytes)]).sort()));

function serializeVersion({ head, skill_id, version, sha256, bytes, files, ...row }: VersionRow) {
  return {
    id: skill_id,
    object: "skill_version" as const,
    ...head,
    version,
    bytes,
    sha256,
    files,
    created_at: timestamp(row.created_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}
