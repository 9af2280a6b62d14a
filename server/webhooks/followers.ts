import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { missing } from "../core/not-found.ts";
import type { RunStatus } from "../core/run-state.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { StoreBase } from "../db/audit.ts";
import type { Egress } from "../lib/egress.ts";
import type { Seal } from "../lib/seal.ts";
import { checkAddress } from "./address.ts";
import type { createOutbox } from "./outbox.ts";
import { createWebhookRows, type WebhookRow } from "./row.ts";
import { openWebhookSecrets, sealWebhookSecrets } from "./secrets.ts";

const mostOfRun = 10;

/** Who is told of a run, at which address. */
export interface Follower {
  /** Of the run's followers, this one. */
  name: string;
  url: string;
  /** Sent along, so that the receiver knows who sends. */
  headers: Record<string, string>;
}

interface Deps extends Omit<StoreBase, "audit"> {
  seal: Seal;
  egress: (environment: Environment) => Pick<Egress, "check">;
  outbox: Pick<ReturnType<typeof createOutbox>, "catchUp">;
  /** After a write that may have announced something. */
  announced: () => void;
}

export type Followers = ReturnType<typeof createFollowers>;

/**
 * Addresses that are told what becomes of one run: when it waits for something and when it is over. Sent, tried again and
 * guarded like all that webhooks hear. Whether somebody may see the run was asked before.
 */
export function createFollowers({ db, seal, egress, outbox, announced, now = Date.now }: Deps) {
  const rows = createWebhookRows(db);
  const idsOf = db.sqlite.query<{ id: string; name: string }, [string]>(
    "SELECT id, name FROM webhooks WHERE run_id = ? AND deleted_at_ms IS NULL ORDER BY id",
  );
  const standingOf = db.sqlite.query<
    { id: string; status: RunStatus; seq: number; expires_at_ms: number | null },
    [string]
  >("SELECT id, status, seq, expires_at_ms FROM runs WHERE id = ?");

  const shown = (row: WebhookRow): Follower => ({
    name: row.name ?? "",
    url: row.url,
    headers: openWebhookSecrets(seal, row, row.sealed).headers ?? {},
  });

  function find(scope: Scope, runId: string, name: string): WebhookRow {
    const found = idsOf.all(runId).find((one) => one.name === name) ?? missing();
    return rows.find(scope, found.id);
  }

  return {
    /** Throws for an address that cannot be reached from here. */
    check: ({ environment }: Scope, url: string) => checkAddress(url, egress(environment), environment),

    /** Adds one, or puts it in the place of that with its name. It is told at once how the run stands, where it stands still. */
    async put(scope: Scope, runId: string, { name, url, headers }: Follower): Promise<Follower> {
      await checkAddress(url, egress(scope.environment), scope.environment);
      const { project_id, environment } = scope;
      const [id, at] = [newId("webhook", now()), now()];
      const secrets = { secret: null, previous: null, headers };
      const sealed = sealWebhookSecrets(seal, { project_id, environment, id }, secrets);
      const row = await db.write(() => {
        const all = idsOf.all(runId);
        const before = all.find((one) => one.name === name);
        if (before) rows.update(scope, before.id, gone(at));
        else if (all.length >= mostOfRun)
          throw new AppError("validation_failed", `A task may have at most ${mostOfRun} push notification configs.`);
        const run = standingOf.get(runId) ?? missing();
        const row = rows.insert(scope, {
          id,
          run_id: runId,
          name,
          url,
          events: ["run.requires_action", "run.completed", "run.failed"],
          description: null,
          enabled: true,
          disabled_reason: null,
          sealed,
          secret_prefix: "",
          metadata: {},
          created_at_ms: at,
          updated_at_ms: at,
        });
        outbox.catchUp(scope, id, run);
        return row;
      });
      announced();
      return shown(row);
    },

    get: (scope: Scope, runId: string, name: string): Follower => shown(find(scope, runId, name)),
    list: (scope: Scope, runId: string): Follower[] => idsOf.all(runId).map(({ id }) => shown(rows.find(scope, id))),
    /** Whether there is one or not, afterwards there is none. */
    remove: (scope: Scope, runId: string, name: string): Promise<void> =>
      db.write(() => {
        const found = idsOf.all(runId).find((one) => one.name === name);
        if (found) rows.update(scope, found.id, gone(now()));
      }),
  };
}

const gone = (at: number) => ({ deleted_at_ms: at, enabled: false, sealed: "" });
