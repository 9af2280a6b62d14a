import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Alert } from "../wire/alert.ts";
import type { WebhookEvent } from "../wire/names.ts";
import type { Finding } from "./looks.ts";
import { alertRules } from "./rules.ts";

interface Row extends Finding {
  id: string;
  opened_at_ms: number;
  closed_at_ms: number | null;
}

interface AlertStore {
  db: Db;
  look(): Finding[];
  /** Within a write: tells webhooks of this scope. */
  announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void;
  /** After a write that may have announced something. */
  announced(): void;
  /** The projects that are open: their webhooks for `live` hear of what concerns the whole server. */
  projects(): { id: string }[];
  now: () => number;
}

const keepClosed_ms = 30 * 86_400_000;

/** What is open, as it was found last. */
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

  /** A rule that this version no longer has is nobody's to tell. */
  const known = (): Row[] => selectOpen.all().filter(({ rule }) => Object.hasOwn(alertRules, rule));

  function tell({ project_id, environment }: Finding, type: WebhookEvent, object: Record<string, unknown>): void {
    const scopes: Scope[] =
      project_id !== null && environment !== null
        ? [{ project_id, environment }]
        : projects().map(({ id }) => ({ project_id: id, environment: "live" as const }));
    for (const scope of scopes) announce(scope, type, object);
  }

  return {
    /** Opens what is found and not open yet, closes what is well again, and tells of both in the same write. */
    async check(): Promise<void> {
      const found = new Map(look().map((finding) => [nameOf(finding), finding]));
      const before = new Map(selectOpen.all().map((row) => [nameOf(row), row]));
      const opened = [...found].filter(([name]) => !before.has(name)).map(([, finding]) => finding);
      const closed = [...before].filter(([name]) => !found.has(name)).map(([, row]) => row);
      if (opened.length + closed.length === 0) return;
      await db.write(() => {
        for (const finding of opened) {
          const row: Row = { ...finding, id: newId("alert", now()), opened_at_ms: now(), closed_at_ms: null };
          const { id, rule, project_id, environment, subject, detail, opened_at_ms } = row;
          insert.run(id, rule, project_id, environment, subject, detail, opened_at_ms);
          tell(row, "alert.opened", shown(row));
          if (finding.event) tell(row, finding.event.type, finding.event.object);
        }
        for (const row of closed) {
          close.run(now(), row.id);
          if (Object.hasOwn(alertRules, row.rule)) tell(row, "alert.closed", shown({ ...row, closed_at_ms: now() }));
        }
        forget.run(now() - keepClosed_ms);
      });
      announced();
    },

    /** Of the cell, as far back as closed alerts are kept; null: none is known. */
    lastFailover(): { at: string; detail: string } | null {
      const row = selectFailover.get();
      return row && { at: timestamp(row.opened_at_ms), detail: row.detail };
    },

    /** What is open for this project and environment, and for the whole server; the newest first. */
    open: (project_id: string, environment: Environment): Alert[] =>
      known()
        .filter((row) => row.project_id === null || (row.project_id === project_id && row.environment === environment))
        .map(shown),
  };
}

const nameOf = ({ rule, project_id, environment, subject }: Finding): string =>
  JSON.stringify([rule, project_id, environment, subject]);

const shown = ({ id, rule, subject, detail, opened_at_ms, closed_at_ms, project_id }: Row): Alert => ({
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
