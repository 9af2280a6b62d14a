import { and, desc, eq, sql } from "drizzle-orm";
import type { Connection } from "../../runtime/models/model.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import type { Db } from "../../storage/db/open.ts";
import { learntRefusals } from "../../storage/db/schema.ts";
import type { ConnectionStore } from "./store.ts";

/** Refusals of a connection's server, by the name of its model. */
type RefusalsOfModels = Record<string, readonly string[]>;

interface RefusalOptions {
  db: Db;
  connections: Pick<ConnectionStore, "used" | "identityOf">;
  now: () => number;
}

export type RefusalStore = ReturnType<typeof createRefusalStore>;

/** Most models of a connection whose refusals are remembered. */
const modelsMax = 64;
// A server may be replaced by a newer one at the same address: then it is asked again.
const lifetime_ms = 30 * 86_400_000;

/** Remembers the parts of requests that servers refused, so that no run asks for them again after a restart. */
export function createRefusalStore({ db, connections, now }: RefusalOptions) {
  const select = db.orm
    .select()
    .from(learntRefusals)
    .where(
      and(
        eq(learntRefusals.prefix, sql.placeholder("prefix")),
        eq(learntRefusals.identity, sql.placeholder("identity")),
      ),
    )
    .orderBy(desc(learntRefusals.learnt_at_ms))
    .prepare();
  // Kept, because each start of a run asks for them.
  const rowsOf = db.kept.rows((prefix: string, identity: string) => select.all({ prefix, identity })).of;

  /** Returns what is remembered of a connection, the newest first. */
  function list(prefix: string) {
    const identity = connections.identityOf(prefix);
    const since = now() - lifetime_ms;
    return identity === null ? [] : rowsOf(prefix, identity).filter(({ learnt_at_ms }) => learnt_at_ms > since);
  }

  return {
    list,

    /** Returns the refusals of these connections, by their prefixes; those without any are left out. */
    of(all: readonly Pick<Connection, "provider" | "name">[]): Record<string, RefusalsOfModels> {
      const found: Record<string, RefusalsOfModels> = {};
      for (const prefix of new Set(all.map(modelPrefix))) {
        const rows = list(prefix);
        if (rows.length > 0) found[prefix] = Object.fromEntries(rows.map(({ model, refusals }) => [model, refusals]));
      }
      return found;
    },

    /** Stores the refusals of a model's server. Ignores those of a connection that has changed since. */
    async note(connection: Connection, model: string, refusals: readonly string[]): Promise<void> {
      const prefix = modelPrefix(connection);
      const used = connections.used().find((each) => each.prefix === prefix);
      if (!used || !Bun.deepEquals(used.open(), connection)) return;
      const { identity } = used;
      await db.write(() => {
        const row = { prefix, model, identity, refusals: [...refusals], learnt_at_ms: now() };
        const target = [learntRefusals.prefix, learntRefusals.model];
        db.orm.insert(learntRefusals).values(row).onConflictDoUpdate({ target, set: row }).run();
        const all = db.orm
          .select()
          .from(learntRefusals)
          .where(eq(learntRefusals.prefix, prefix))
          .orderBy(desc(learntRefusals.learnt_at_ms))
          .all();
        for (const { model: oldest } of all.slice(modelsMax))
          db.orm
            .delete(learntRefusals)
            .where(and(eq(learntRefusals.prefix, prefix), eq(learntRefusals.model, oldest)))
            .run();
      });
    },
  };
}
