import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import { notFound } from "../http/not-found.ts";
import { listPage, type Page } from "../http/page.ts";
import type { Egress } from "../lib/egress.ts";
import type { Seal } from "../lib/seal.ts";
import { newSigningSecret } from "../lib/signature.ts";
import { checkAddress } from "./address.ts";
import type { WebhookKey } from "./outbox.ts";
import { selectWebhook, type WebhookRow } from "./row.ts";
import type { CreateWebhook, RotateSecret, UpdateWebhook } from "./schema.ts";
import { openWebhookSecrets, prefixOf, sealWebhookSecrets } from "./secrets.ts";
import { shownWebhook } from "./shown.ts";
import { requireUnbound } from "./unbound.ts";

export type WebhookStore = ReturnType<typeof createWebhookStore>;

const most = 100;
const overlap_seconds = 24 * 3600;

export function createWebhookStore({
  db,
  audit,
  seal,
  egress,
  trust,
  now = Date.now,
}: {
  db: Db;
  audit: Audit;
  seal: Seal;
  /** The guard for addresses that users of this environment give. */
  egress: (environment: Environment) => Pick<Egress, "check">;
  /** What was held back while a webhook was switched off goes on. */
  trust: (key: WebhookKey) => void;
  now?: () => number;
}) {
  const { sqlite } = db;
  const one = sqlite.query<WebhookRow, [string, string, string]>(selectWebhook);
  const count = sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM webhooks WHERE project_id = ? AND environment = ? AND deleted_at_ms IS NULL",
  );
  const insert = sqlite.query(
    `INSERT INTO webhooks (project_id, environment, id, url, events, description, enabled, disabled_reason, sealed,
       secret_prefix, metadata, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const change = sqlite.query(
    `UPDATE webhooks SET url = ?, events = ?, description = ?, enabled = ?, disabled_reason = ?, failing_since_ms = ?,
       failure_count = ?, metadata = ?, updated_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const rotation = sqlite.query(
    `UPDATE webhooks SET sealed = ?, secret_prefix = ?, previous_until_ms = ?, updated_at_ms = ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const deletion = sqlite.query(
    `UPDATE webhooks SET deleted_at_ms = ?, enabled = 0, sealed = ''
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );

  function find({ project_id, environment }: Scope, id: string): WebhookRow {
    const row = one.get(project_id, environment, id);
    if (!row) throw notFound();
    return row;
  }

  const note = (author: Author, done: string, { id, url }: Pick<WebhookRow, "id" | "url">, more: object = {}): void =>
    audit.note({
      ...{ scope: author, actor: author.actor, action: `webhook.${done}`, target: { type: "webhook", id } },
      details: { host: new URL(url).host, ...more },
    });

  /** The answer alone holds the secret. */
  async function create(author: Author & Viewer, input: CreateWebhook) {
    requireUnbound(author);
    const { project_id, environment } = author;
    const { url, events, description = null, enabled = true, metadata = {} } = input;
    await checkAddress(url, egress(environment), environment);
    const [id, at, secret] = [newId("webhook", now()), now(), newSigningSecret()];
    const sealed = sealWebhookSecrets(seal, { project_id, environment, id }, { secret, previous: null });
    await db.write(() => {
      if (count.get(project_id, environment)!.n >= most)
        throw new AppError("validation_failed", `There are ${most} webhooks already, and no more than that may be.`);
      insert.run(
        ...[project_id, environment, id, url, JSON.stringify(events), description],
        ...[enabled ? 1 : 0, enabled ? null : "requested", sealed, prefixOf(secret)],
        ...[JSON.stringify(metadata), at, at],
      );
      note(author, "created", { id, url }, { events });
    });
    return { ...shownWebhook(find(author, id)), secret };
  }

  async function update(author: Author & Viewer, id: string, input: UpdateWebhook) {
    requireUnbound(author);
    find(author, id);
    if (input.url !== undefined) await checkAddress(input.url, egress(author.environment), author.environment);
    let hasMoved = false; // What was said of one address says nothing of another.
    await db.write(() => {
      const row = find(author, id);
      const { url, events, description, metadata } = input;
      hasMoved = url !== undefined && url !== row.url;
      change.run(
        ...[url ?? row.url, events ? JSON.stringify(events) : row.events],
        description === undefined ? row.description : description,
        ...standing(hasMoved ? { ...row, failing_since_ms: null, failure_count: 0 } : row, input.enabled),
        metadata ? JSON.stringify(metadata) : row.metadata,
        ...[now(), row.project_id, row.environment, id],
      );
      note(author, "updated", { id, url: url ?? row.url }, { changes: Object.keys(input) });
    });
    const { project_id, environment } = author;
    if (input.enabled || hasMoved) trust({ project_id, environment, id });
    return shownWebhook(find(author, id));
  }

  /** Another secret; until the overlap ends, both sign. The answer alone holds it. */
  async function rotate(author: Author & Viewer, id: string, input: RotateSecret) {
    requireUnbound(author);
    const secret = newSigningSecret();
    const overlap = input.overlap_seconds ?? overlap_seconds;
    await db.write(() => {
      const row = find(author, id);
      const before = openWebhookSecrets(seal, row, row.sealed);
      const sealed = sealWebhookSecrets(seal, row, { secret, previous: overlap > 0 ? before.secret : null });
      const until = overlap > 0 ? now() + overlap * 1000 : null;
      rotation.run(sealed, prefixOf(secret), until, now(), row.project_id, row.environment, id);
      note(author, "secret_rotated", row, { overlap_seconds: overlap });
    });
    return { ...shownWebhook(find(author, id)), secret };
  }

  return {
    create,
    update,
    rotate,
    get: (scope: Scope, id: string) => shownWebhook(find(scope, id)),
    list(scope: Scope, page: Page) {
      const values = [scope.project_id, scope.environment];
      const within = { sql: "project_id = ? AND environment = ? AND deleted_at_ms IS NULL", values };
      return listPage(db, { table: "webhooks", kind: "webhook", scope, page, within }, shownWebhook);
    },
    /** Its deliveries go with it, some at a time. */
    remove: (author: Author & Viewer, id: string) => {
      requireUnbound(author);
      return db.write(() => {
        const row = find(author, id);
        deletion.run(now(), row.project_id, row.environment, id);
        note(author, "deleted", row);
        return { id, object: "webhook" as const, deleted: true };
      });
    },
  };
}

/** Columns from `enabled` to `failure_count`. Who switches a webhook on says that it is well. */
function standing(row: WebhookRow, enabled: boolean | undefined): (number | string | null)[] {
  if (enabled === undefined) return [row.enabled, row.disabled_reason, row.failing_since_ms, row.failure_count];
  if (enabled) return [1, null, null, 0];
  return [0, row.enabled ? "requested" : row.disabled_reason, row.failing_since_ms, row.failure_count];
}
