import { and, eq, sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import { missing } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { secrets } from "../db/schema.ts";
import { listPage, type Page } from "../http/page.ts";
import type { Seal } from "../lib/seal.ts";
import { changeable } from "../wire/schema.ts";
import type { PutSecret } from "./schema.ts";

type Row = typeof secrets.$inferSelect;

interface SecretStoreOptions extends StoreBase {
  seal: Seal;
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Named values that tools refer to. They can be set and used, and nobody can read them again. */
export function createSecretStore({ db, seal, audit, now = Date.now }: SecretStoreOptions) {
  const rows = createRows(db, secrets);
  const one = db.orm
    .select()
    .from(secrets)
    .where(
      and(
        eq(secrets.project_id, sql.placeholder("project_id")),
        eq(secrets.environment, sql.placeholder("environment")),
        eq(secrets.name, sql.placeholder("name")),
      ),
    )
    .prepare();
  const named = ({ project_id, environment }: Scope, name: string): Row | undefined =>
    one.get({ project_id, environment, name });

  const find = (scope: Scope, name: string): Row => named(scope, name) ?? missing();

  return {
    get: (scope: Scope, name: string) => toSecret(find(scope, name)),
    list: (scope: Scope, page: Page) => listPage(db, { table: secrets, kind: "secret", scope, page }, toSecret),

    /** Sets a secret, or gives it another value; its metadata stays as it is unless there is some in the input. */
    put(author: Author, name: string, { value, metadata }: PutSecret) {
      const sealed = seal.seal(value, context(author, name));
      return db.write(() => {
        const at = now();
        const before = named(author, name);
        const row = before
          ? rows.update(author, before.id, { sealed, metadata, updated_at_ms: at })
          : rows.insert(author, {
              id: newId("secret", at),
              name,
              sealed,
              metadata: metadata ?? {},
              created_at_ms: at,
              updated_at_ms: at,
            });
        audit.note(author, "secret.set", row.id, { name });
        return toSecret(row);
      });
    },

    /** Tools that refer to it stay as they are: their calls fail until there is one of this name again. */
    remove: (author: Author, name: string) =>
      db.write(() => {
        const row = find(author, name);
        rows.remove(author, row.id);
        audit.note(author, "secret.deleted", row.id, { name });
        return { id: row.id, object: "secret" as const, deleted: true };
      }),

    has: (scope: Scope, name: string): boolean => named(scope, name) !== undefined,

    /** For the request that needs it, and for nothing that is stored or answered. Null when there is none. */
    value(scope: Scope, name: string): string | null {
      const row = named(scope, name);
      return row ? seal.open(row.sealed, context(row, name)) : null;
    },
  };
}

// The row that the value belongs to: moved to another name, project or environment it does not open.
const context = ({ project_id, environment }: Scope, name: string) => `secret/${project_id}/${environment}/${name}`;

const toSecret = (row: Row) => ({
  id: row.id,
  object: "secret" as const,
  name: row.name,
  ...changeable(row),
});
