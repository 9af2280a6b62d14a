import { topicOfRunEvent, type WebhookEvent } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Projector } from "../../storage/journal/journal.ts";
import { writeEvent } from "./payload.ts";
import type { DeliveryRow } from "./row.ts";

/** A webhook by its scope and id. */
export interface WebhookKey extends Scope {
  id: string;
}

/** Transactional outbox: inserts deliveries in the transaction of the event, after the run's row. */
export function createOutbox({ db, now = Date.now }: { db: Db; now?: () => number }) {
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
  // The server's own runs for learning facts have no events, because no client started them.
  const isOwn = sqlite.query<unknown, [string, string, string]>(
    "SELECT 1 FROM fact_runs WHERE project_id = ? AND environment = ? AND run_id = ?",
  );
  const noted = new Map<string, WebhookKey>();

  const read = ({ id, events }: { id: string; events: string }) => ({ id, events: JSON.parse(events) as string[] });
  const heard = db.kept.rows((project_id: string, environment: Environment) =>
    selectListening.all(project_id, environment).map(read),
  );

  /** Webhooks of this scope, with their event types. */
  const listening = ({ project_id, environment }: Scope) => heard.of(project_id, environment);

  const hears = ({ events }: { events: string[] }, type: WebhookEvent) => events.includes(type) || events.includes("*");

  type Noted = Pick<DeliveryRow, "type" | "run_id" | "seq" | "run_expires_at_ms" | "created_at_ms">;

  function add(scope: Scope, webhook_id: string, event: Noted, object: Record<string, unknown> | null): void {
    const { project_id, environment } = scope;
    const { type, run_id, seq, run_expires_at_ms, created_at_ms } = event;
    const id = newId("delivery", now());
    const body =
      object && writeEvent({ ...newDelivery, ...event, project_id, environment, id, webhook_id }, { object });
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
      const type = topicOfRunEvent[event.type];
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

    /**
     * Inserts a delivery of a run's current status for one webhook, if that status has an event. Call inside a write.
     */
    catchUp(scope: Scope, webhook_id: string, { id, status, seq, expires_at_ms }: RunStanding): void {
      const type = topicOfStatus[status];
      const event = { run_id: id, seq, run_expires_at_ms: expires_at_ms, created_at_ms: now() };
      if (type) add(scope, webhook_id, { type, ...event }, null);
    },

    /** Inserts deliveries of an event of another object, with its current state. Call inside a write. */
    announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void {
      const event = { type, run_id: null, seq: null, run_expires_at_ms: null, created_at_ms: now() };
      for (const webhook of listening(scope)) if (hears(webhook, type)) add(scope, webhook.id, event, object);
    },

    /** Takes the webhooks with new deliveries. Call after a commit. */
    take(): WebhookKey[] {
      if (noted.size === 0) return [];
      const keys = [...noted.values()];
      noted.clear();
      return keys;
    },
  };
}

/** Status of a run. */
interface RunStanding {
  id: string;
  status: RunStatus;
  seq: number;
  expires_at_ms: number | null;
}

const topicOfStatus: { readonly [Status in RunStatus]?: WebhookEvent } = {
  requires_action: "run.requires_action",
  paused: "run.paused",
  completed: "run.completed",
  failed: "run.failed",
  cancelled: "run.failed",
};

/** Columns of a delivery before its first attempt. */
export const newDelivery = {
  run_expires_at_ms: null,
  status: "pending",
  failures: 0,
  attempts: 0,
  next_at_ms: null,
} as const;
