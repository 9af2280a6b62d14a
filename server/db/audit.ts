import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "./open.ts";

/** Who changes something, and from where. On the command line it is an account of the machine. */
export interface Actor {
  type: "api_key" | "user" | "cli";
  id: string;
  ip: string | null;
  request_id: string | null;
}

/** Where nobody asked: the server acts by itself. */
export const itself: Actor = { type: "cli", id: "runnel", ip: null, request_id: null };

/** What may be changed, and by whom: a store's first argument wherever the change is one for the audit log. */
export interface Author extends Scope {
  readonly actor: Actor;
}

/** Whoever changes something, and of what project: of none, it concerns the whole server, and operators alone see it. */
interface By {
  readonly actor: Actor;
  readonly project_id?: string;
  /** None: it concerns both. */
  readonly environment?: Environment;
}

/** What a store is made of whose changes are noted. */
export interface StoreBase {
  db: Db;
  audit: Audit;
  now?: () => number;
}

/** The only writer of the audit log. */
export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ db, now = Date.now }: { db: Pick<Db, "sqlite">; now?: () => number }) {
  const insert = db.sqlite.query(
    `INSERT INTO audit_log (id, project_id, environment, action, actor_type, actor_id, ip, request_id, target_type,
       target_id, details, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deletion = db.sqlite.query(
    "DELETE FROM audit_log WHERE rowid IN (SELECT rowid FROM audit_log WHERE created_at_ms < ? LIMIT ?)",
  );

  return {
    /**
     * Within the write that makes the change: what is rolled back was not done, and is not told of. The action is
     * `<what>.<done>`, such as `agent.updated`, and `target` the id of what that is. Anybody who may read the log reads the
     * details for a year: names and numbers, and never a secret or a user's text.
     */
    note({ actor, project_id, environment }: By, action: string, target: string | null, details: object = {}): void {
      // A price is noted with the model whose it is.
      const type = action.startsWith("model_price.") ? "model" : action.split(".", 1)[0]!;
      insert.run(
        newId("audit_entry", now()),
        project_id ?? null,
        environment ?? null,
        action,
        actor.type,
        actor.id,
        actor.ip,
        actor.request_id,
        target === null ? null : type,
        target,
        JSON.stringify(details),
        now(),
      );
    },

    /** Within a write: deletes up to `limit` entries that are older than this, and returns how many those were. */
    forgetOlder: (than_ms: number, limit: number): number => deletion.run(than_ms, limit).changes,
  };
}
