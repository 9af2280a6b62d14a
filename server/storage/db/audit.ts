import type { actorTypes } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Db } from "./open.ts";

/** The author of a change. For the command line: the OS user. */
export interface Actor {
  type: (typeof actorTypes)[number];
  id: string;
  ip: string | null;
  request_id: string | null;
}

/** The actor of changes that the server makes on its own. */
export const itself: Actor = { type: "cli", id: "runnel", ip: null, request_id: null };

/** Scope and actor of a change: the first argument of a store method whose change is audited. */
export interface Author extends Scope {
  readonly actor: Actor;
}

/** The actor and the project of a change. Without a project it concerns the whole server, and only operators see it. */
interface By {
  readonly actor: Actor;
  readonly project_id?: string;
  /** Undefined if the change concerns both environments. */
  readonly environment?: Environment;
}

/** Dependencies of a store whose changes are audited. */
export interface StoreBase {
  db: Db;
  audit: Audit;
  now?: () => number;
}

/** The only writer of the audit log. */
export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ db, now = Date.now }: { db: Db; now?: () => number }) {
  const insert = db.sqlite.query(
    `INSERT INTO audit_log (id, project_id, environment, action, actor_type, actor_id, ip, request_id, target_type,
       target_id, details, created_at_ms) VALUES ($id, $project_id, $environment, $action, $actor_type, $actor_id, $ip,
       $request_id, $target_type, $target, $details, $now)`,
  );
  const deletion = db.sqlite.query(
    "DELETE FROM audit_log WHERE rowid IN (SELECT rowid FROM audit_log WHERE created_at_ms < $than_ms LIMIT $limit)",
  );

  return {
    /**
     * Inserts an entry. Call it inside the write that makes the change, so that both commit or roll back together.
     * `action` is `<what>.<done>`, such as `agent.updated`; `target` is the id of the changed object. `details` are
     * readable for a year by everyone with access to the log: names and numbers only, never a secret or a user's text.
     */
    note({ actor, project_id, environment }: By, action: string, target: string | null, details: object = {}): void {
      // A model's price is audited as a change of the model.
      const [object = ""] = action.split(".", 1);
      const type = action.startsWith("model_price.") ? "model" : object;
      insert.run({
        id: newId("audit_entry", now()),
        project_id: project_id ?? null,
        environment: environment ?? null,
        action,
        actor_type: actor.type,
        actor_id: actor.id,
        ip: actor.ip,
        request_id: actor.request_id,
        target_type: target === null ? null : type,
        target,
        details: JSON.stringify(details),
        now: now(),
      });
    },

    /** Deletes up to `limit` entries that are older than this, and returns their number. Call it inside a write. */
    forgetOlder: (than_ms: number, limit: number): number => deletion.run({ than_ms, limit }).changes,
  };
}
