import type { Alert } from "../../domain/api-types/alert.ts";
import type { WebhookEvent } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Finding } from "./checks.ts";
import { alertRules } from "./rules.ts";

interface Row extends Finding {
  id: string;
  opened_at_ms: number;
  closed_at_ms: number | null;
}

interface AlertStore {
  db: Db;
  look(): Finding[];
  /** Call inside a write. Queues a webhook event in this scope. */
  announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void;
  /** Call after a write that may have queued events. */
  announced(): void;
  /** Active projects: their `live` webhooks get the alerts of the whole server. */
  projects(): { id: string }[];
  now: () => number;
}

const keepClosed_ms = 30 * 86_400_000;

/** Stores alerts and announces when they open and close. */
export function createAlerts({ db, look, announce, announced, projects, now }: AlertStore) {
  const columns = "id, rule, project_id, environment, subject, detail, opened_at_ms, closed_at_ms";
  const selectOpen = db.sqlite.query<Row, []>(
    `SELECT ${columns} FROM alerts WHERE closed_at_ms IS NULL ORDER BY opened_at_ms DESC, id DESC`,
  );
  const selectFailover = db.sqlite.query<{ opened_at_ms: number; detail: string }, []>(
    "SELECT opened_at_ms, detail FROM alerts WHERE rule = 'cell_failover' ORDER BY opened_at_ms DESC, id DESC LIMIT 1",
  );
  const insert = db.sqlite.query(`INSERT INTO alerts (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL)`);
  const close = db.sqlite.query("UPDATE alerts SET closed_at_ms = ? WHERE id = ?");
  const forget = db.sqlite.query("DELETE FROM alerts WHERE closed_at_ms < ?");

  /** Open alerts, without rules that this version no longer has. */
  const openAlerts = (): Row[] => selectOpen.all().filter(({ rule }) => Object.hasOwn(alertRules, rule));

  function tell({ project_id, environment }: Finding, type: WebhookEvent, object: Record<string, unknown>): void {
    const scopes: Scope[] =
      project_id !== null && environment !== null
        ? [{ project_id, environment }]
        : projects().map(({ id }) => ({ project_id: id, environment: "live" as const }));
    for (const scope of scopes) announce(scope, type, object);
  }

  return {
    /** Opens new alerts and closes resolved ones, and announces both in the same write. */
    async check(): Promise<void> {
      const findings = new Map(look().map((finding) => [nameOf(finding), finding]));
      const before = new Map(selectOpen.all().map((row) => [nameOf(row), row]));
      const opened = [...findings].filter(([name]) => !before.has(name)).map(([, finding]) => finding);
      const closed = [...before].filter(([name]) => !findings.has(name)).map(([, row]) => row);
      if (opened.length + closed.length === 0) return;
      await db.write(() => {
        for (const finding of opened) {
          const row: Row = { ...finding, id: newId("alert", now()), opened_at_ms: now(), closed_at_ms: null };
          const { id, rule, project_id, environment, subject, detail, opened_at_ms } = row;
          insert.run(id, rule, project_id, environment, subject, detail, opened_at_ms);
          tell(row, "alert.opened", serializeAlert(row));
          if (finding.event) tell(row, finding.event.type, finding.event.object);
        }
        for (const row of closed) {
          close.run(now(), row.id);
          if (Object.hasOwn(alertRules, row.rule))
            tell(row, "alert.closed", serializeAlert({ ...row, closed_at_ms: now() }));
        }
        forget.run(now() - keepClosed_ms);
      });
      announced();
    },

    /** Newest failover of the cell within the retention of closed alerts; null if none. */
    lastFailover(): { at: string; detail: string } | null {
      const row = selectFailover.get();
      return row && { at: timestamp(row.opened_at_ms), detail: row.detail };
    },

    /** Open alerts of this environment and of the whole server, newest first. */
    open: (project_id: string, environment: Environment): Alert[] =>
      openAlerts()
        .filter((row) => row.project_id === null || (row.project_id === project_id && row.environment === environment))
        .map(serializeAlert),
  };
}

const nameOf = ({ rule, project_id, environment, subject }: Finding): string =>
  JSON.stringify([rule, project_id, environment, subject]);

const serializeAlert = ({ id, rule, subject, detail, opened_at_ms, closed_at_ms, project_id }: Row): Alert => ({
  id,
  object: "alert",
  rule,
  concerns: project_id === null ? "server" : "environment",
  subject,
  detail,
  when: alertRules[rule].when,
  todo: alertRules[rule].todo,
  opened_at: timestamp(opened_at_ms),
  closed_at: timestampOrNull(closed_at_ms),
});
