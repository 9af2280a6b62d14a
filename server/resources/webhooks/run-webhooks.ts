import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Egress } from "../../lib/egress.ts";
import type { Seal } from "../../lib/seal.ts";
import type { StoreBase } from "../../storage/db/audit.ts";
import { checkAddress } from "./address.ts";
import type { createOutbox } from "./outbox.ts";
import { createWebhookRows, type WebhookRow } from "./row.ts";
import { openWebhookSecrets, sealWebhookSecrets } from "./secrets.ts";

const mostOfRun = 10;

/** Address that receives the events of one run. */
export interface RunWebhook {
  /** Name, unique within the run. */
  name: string;
  url: string;
  /** Headers by which the receiver authenticates the sender. */
  headers: Record<string, string>;
}

interface Deps extends Omit<StoreBase, "audit"> {
  seal: Seal;
  egress: (environment: Environment) => Egress;
  outbox: ReturnType<typeof createOutbox>;
  /** Called after a write that may have announced an event. */
  announced: () => void;
}

export type RunWebhooks = ReturnType<typeof createRunWebhooks>;

/** Per-run webhooks (requires_action and end), delivered like any webhook. Callers check access to the run. */
export function createRunWebhooks({ db, seal, egress, outbox, announced, now = Date.now }: Deps) {
  const rows = createWebhookRows(db);
  const idsOf = db.sqlite.query<{ id: string; name: string }, [string]>(
    "SELECT id, name FROM webhooks WHERE run_id = ? AND deleted_at_ms IS NULL ORDER BY id",
  );
  const selectRunStatus = db.sqlite.query<
    { id: string; status: RunStatus; seq: number; expires_at_ms: number | null },
    [string]
  >("SELECT id, status, seq, expires_at_ms FROM runs WHERE id = ?");

  const serialize = (row: WebhookRow): RunWebhook => ({
    name: row.name ?? "",
    url: row.url,
    headers: openWebhookSecrets(seal, row, row.sealed).headers ?? {},
  });

  function find(scope: Scope, runId: string, name: string): WebhookRow {
    const found = idsOf.all(runId).find((one) => one.name === name) ?? throwNotFound();
    return rows.find(scope, found.id);
  }

  return {
    /** Throws for an address that cannot be reached. */
    check: ({ environment }: Scope, url: string) => checkAddress(url, egress(environment), environment),

    /** Adds a webhook, or replaces the one of this name. If the run waits or has ended, its status is sent at once. */
    async put(scope: Scope, runId: string, { name, url, headers }: RunWebhook): Promise<RunWebhook> {
      await checkAddress(url, egress(scope.environment), scope.environment);
      const { project_id, environment } = scope;
      const [id, at] = [newId("webhook", now()), now()];
      const secrets = { secret: null, previous: null, headers };
      const sealed = sealWebhookSecrets(seal, { project_id, environment, id }, secrets);
      const row = await db.write(() => {
        const all = idsOf.all(runId);
        const before = all.find((one) => one.name === name);
        if (before) rows.update(scope, before.id, deletedFields(at));
        else if (all.length >= mostOfRun)
          throw new AppError("validation_failed", `A task may have at most ${mostOfRun} push notification configs.`);
        const run = selectRunStatus.get(runId) ?? throwNotFound();
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
      return serialize(row);
    },

    get: (scope: Scope, runId: string, name: string): RunWebhook => serialize(find(scope, runId, name)),
    list: (scope: Scope, runId: string): RunWebhook[] =>
      idsOf.all(runId).map(({ id }) => serialize(rows.find(scope, id))),
    /** Removes a webhook; no-op if there is none. */
    remove: (scope: Scope, runId: string, name: string): Promise<void> =>
      db.write(() => {
        const found = idsOf.all(runId).find((one) => one.name === name);
        if (found) rows.update(scope, found.id, deletedFields(now()));
      }),
  };
}

const deletedFields = (at: number) => ({ deleted_at_ms: at, enabled: false, sealed: "" });
