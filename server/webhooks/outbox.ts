import { newId } from "../core/ids.ts";
import type { RunStatus } from "../core/run-state.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { Projector } from "../journal/journal.ts";
import { failpoint } from "../lib/failpoint.ts";
import { toldAs, type WebhookEvent } from "../wire/names.ts";
import { writeEvent } from "./payload.ts";
import type { DeliveryRow } from "./row.ts";

/** A webhook by its scope and id. */
export interface WebhookKey extends Scope {
  id: string;
}

/** Notes what webhooks are to hear, in the transaction of what happened: after the run's row. */
export function createOutbox({ db, now = Date.now }: { db: Pick<Db, "sqlite" | "kept">; now?: () => number }) {
  const { sqlite } = db;
  const selectListening = sqlite.query<{ id: string; events: string }, [string, string]>(
    "SELECT id, events FROM webhooks WHERE project_id = ? AND environment = ? AND enabled = 1 AND run_id IS NULL",
  );
  const selectOfRun = sqlite.query<{ id: string; events: string }, [string]>(
    "SELECT id, events FROM webhooks WHERE run_id = ? AND deleted_at_ms IS NULL AND enabled = 1",
  );
  const insert = sqlite.query(
    `INSERT INTO webhook_deliveries (project_id, environment, id, webhook_id, type, run_id, seq, run_expires_at_ms, body,
       status, next_at_ms, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
  );
  // The server's own runs, which learn facts: nobody started them, and nobody waits for what they say.
  const isOwn = sqlite.query<unknown, [string, string, string]>(
    "SELECT 1 FROM fact_runs WHERE project_id = ? AND environment = ? AND run_id = ?",
  );
  const noted = new Map<string, WebhookKey>();

  const read = ({ id, events }: { id: string; events: string }) => ({ id, events: JSON.parse(events) as string[] });
  const heard = db.kept.rows((project_id: string, environment: Environment) =>
    selectListening.all(project_id, environment).map(read),
  );

  /** The webhooks of this scope, with what they hear of. */
  const listening = ({ project_id, environment }: Scope) => heard.of(project_id, environment);

  const hears = ({ events }: { events: string[] }, type: WebhookEvent) => events.includes(type) || events.includes("*");

  type Noted = Pick<DeliveryRow, "type" | "run_id" | "seq" | "run_expires_at_ms" | "created_at_ms">;

  function add(scope: Scope, webhook_id: string, event: Noted, object: Record<string, unknown> | null): void {
    const { project_id, environment } = scope;
    const { type, run_id, seq, run_expires_at_ms, created_at_ms } = event;
    const id = newId("delivery", now());
    const body = object && writeEvent({ ...fresh, ...event, project_id, environment, id, webhook_id }, { object });
    insert.run(
      project_id,
      environment,
      id,
      webhook_id,
      type,
      run_id,
      seq,
      run_expires_at_ms,
      body,
      now(),
      created_at_ms,
    );
    noted.set(webhook_id, { project_id, environment, id: webhook_id });
  }

  const project: Projector = (run, entries) => {
    const { run_id, expires_at_ms: run_expires_at_ms } = run;
    const announced = entries.flatMap(({ seq, at, event }) => {
      const type = toldAs[event.type];
      return type ? [{ type, run_id, seq, run_expires_at_ms, created_at_ms: at }] : [];
    });
    if (announced.length === 0) return;
    const webhooks = [...listening(run), ...selectOfRun.all(run_id).map(read)];
    if (webhooks.length === 0 || isOwn.get(run.project_id, run.environment, run_id)) return;
    for (const event of announced)
      for (const webhook of webhooks)
        if (hears(webhook, event.type)) {
          add(run, webhook.id, event, null);
          failpoint?.("mid_outbox");
        }
  };

  return {
    project,

    /** Within a write: tells one webhook of a run of what it has come to, where that is something to tell. */
    catchUp(scope: Scope, webhook_id: string, { id, status, seq, expires_at_ms }: RunStanding): void {
      const type = standingAs[status];
      const event = { run_id: id, seq, run_expires_at_ms: expires_at_ms, created_at_ms: now() };
      if (type) add(scope, webhook_id, { type, ...event }, null);
    },

    /** Within a write: notes an event of something that is no run, with the thing as it is now. */
    announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void {
      const event = { type, run_id: null, seq: null, run_expires_at_ms: null, created_at_ms: now() };
      for (const webhook of listening(scope)) if (hears(webhook, type)) add(scope, webhook.id, event, object);
    },

    /** After a commit: the webhooks that something was noted for since the last time. */
    take(): WebhookKey[] {
      if (noted.size === 0) return [];
      const keys = [...noted.values()];
      noted.clear();
      return keys;
    },
  };
}

/** Where a run stands. */
interface RunStanding {
  id: string;
  status: RunStatus;
  seq: number;
  expires_at_ms: number | null;
}

const standingAs: { readonly [Status in RunStatus]?: WebhookEvent } = {
  requires_action: "run.requires_action",
  completed: "run.completed",
  failed: "run.failed",
  cancelled: "run.failed",
};

/** A delivery that was not tried yet. */
export const fresh = {
  run_expires_at_ms: null,
  status: "pending",
  failures: 0,
  attempts: 0,
  next_at_ms: null,
} as const;
