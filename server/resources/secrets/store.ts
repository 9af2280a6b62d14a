import { and, eq, sql } from "drizzle-orm";
import { changeable } from "../../domain/api-types/schema.ts";
import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { secrets } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { PutSecret } from "./schema.ts";

type Row = typeof secrets.$inferSelect;

interface SecretStoreOptions extends StoreBase {
  seal: Seal;
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Named write-only values that tools refer to. */
export function createSecretStore({ db, seal, audit, now = Date.now }: SecretStoreOptions) {
  const rows = createScopedTable(db, secrets);
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
  const findByName = ({ project_id, environment }: Scope, name: string): Row | undefined =>
    one.get({ project_id, environment, name });

  const find = (scope: Scope, name: string): Row => findByName(scope, name) ?? throwNotFound();

  return {
    get: (scope: Scope, name: string) => toSecret(find(scope, name)),
    list: (scope: Scope, page: Page) => listPage(db, { table: secrets, kind: "secret", scope, page }, toSecret),

    /** Creates or replaces a secret; its metadata stays if the input has none. */
    put(author: Author, name: string, { value, metadata }: PutSecret) {
      const sealed = seal.seal(value, context(author, name));
      return db.write(() => {
        const at = now();
        const before = findByName(author, name);
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

    /** Deletes a secret. Tools that refer to it stay; their calls fail until a secret of this name exists again. */
    remove: (author: Author, name: string) =>
      db.write(() => {
        const row = find(author, name);
        rows.remove(author, row.id);
        audit.note(author, "secret.deleted", row.id, { name });
        return { id: row.id, object: "secret" as const, deleted: true };
      }),

    has: (scope: Scope, name: string): boolean => findByName(scope, name) !== undefined,

    /** Decrypts a secret, or returns null. Use it only in the outgoing request; never store or return it. */
    value(scope: Scope, name: string): string | null {
      const row = findByName(scope, name);
      return row ? seal.open(row.sealed, context(row, name)) : null;
    },
  };
}

// Sealing context: a value that is copied to another name, project or environment does not open.
const context = ({ project_id, environment }: Scope, name: string) => `secret/${project_id}/${environment}/${name}`;

const toSecret = (row: Row) => ({
  id: row.id,
  object: "secret" as const,
  name: row.name,
  ...changeable(row),
});
