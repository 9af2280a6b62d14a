import { newId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import { listPage, type Page } from "../http/page.ts";
import type { Seal } from "../lib/seal.ts";
import type { PutSecret } from "./schema.ts";

interface Row extends Scope {
  id: string;
  name: string;
  sealed: string;
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

interface SecretStoreOptions {
  db: Db;
  seal: Seal;
  audit: Pick<Audit, "note">;
  now?: () => number;
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Named values that tools refer to. They can be set and used, and nobody can read them again. */
export function createSecretStore({ db, seal, audit, now = Date.now }: SecretStoreOptions) {
  const { sqlite } = db;
  const one = sqlite.query<Row, [string, string, string]>(
    "SELECT * FROM secrets WHERE project_id = ? AND environment = ? AND name = ?",
  );
  const upsert = sqlite.query(
    `INSERT INTO secrets VALUES (?, ?, ?, ?, ?, coalesce(?, '{}'), ?, ?)
     ON CONFLICT (project_id, environment, name) DO UPDATE SET
       sealed = excluded.sealed, metadata = coalesce(?6, metadata), updated_at_ms = excluded.updated_at_ms`,
  );
  const deletion = sqlite.query("DELETE FROM secrets WHERE project_id = ? AND environment = ? AND id = ?");

  const find = ({ project_id, environment }: Scope, name: string): Row => {
    const row = one.get(project_id, environment, name);
    if (!row) throw notFound();
    return row;
  };
  const note = ({ project_id, environment, actor }: Author, action: string, { id, name }: Row) =>
    audit.note({
      scope: { project_id, environment },
      actor,
      action,
      target: { type: "secret", id },
      details: { name },
    });

  return {
    get: (scope: Scope, name: string) => toSecret(find(scope, name)),
    list: (scope: Scope, page: Page) => listPage(db, { table: "secrets", kind: "secret", scope, page }, toSecret),

    /** Sets a secret, or gives it another value; its metadata stays as it is unless there is some in the input. */
    put(author: Author, name: string, { value, metadata }: PutSecret) {
      const { project_id, environment } = author;
      const sealed = seal.seal(value, context(author, name));
      return db.write(() => {
        const [id, at, pairs] = [newId("secret", now()), now(), metadata ? JSON.stringify(metadata) : null];
        upsert.run(project_id, environment, id, name, sealed, pairs, at, at);
        const row = find(author, name);
        note(author, "secret.set", row);
        return toSecret(row);
      });
    },

    /** Tools that refer to it stay as they are: their calls fail until there is one of this name again. */
    remove: (author: Author, name: string) =>
      db.write(() => {
        const row = find(author, name);
        deletion.run(row.project_id, row.environment, row.id);
        note(author, "secret.deleted", row);
        return { id: row.id, object: "secret" as const, deleted: true };
      }),

    has: ({ project_id, environment }: Scope, name: string): boolean => one.get(project_id, environment, name) !== null,

    /** For the request that needs it, and for nothing that is stored or answered. Null when there is none. */
    value(scope: Scope, name: string): string | null {
      const row = one.get(scope.project_id, scope.environment, name);
      return row && seal.open(row.sealed, context(row, name));
    },
  };
}

// The row that the value belongs to: moved to another name, project or environment it does not open.
const context = ({ project_id, environment }: Scope, name: string) => `secret/${project_id}/${environment}/${name}`;

const toSecret = (row: Row) => ({
  id: row.id,
  object: "secret" as const,
  name: row.name,
  metadata: JSON.parse(row.metadata) as Record<string, string>,
  created_at: timestamp(row.created_at_ms),
  updated_at: timestamp(row.updated_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
