import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Egress } from "../../lib/egress.ts";
import type { Seal } from "../../lib/seal.ts";
import { newSigningSecret } from "../../lib/signature.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { webhooks } from "../../storage/db/schema.ts";
import { checkAddress } from "./address.ts";
import type { WebhookKey } from "./outbox.ts";
import { requireUnrestrictedKey } from "./require-unrestricted-key.ts";
import { createOwnWebhookRows, type WebhookRow } from "./row.ts";
import type { CreateWebhook, RotateSecret, UpdateWebhook } from "./schema.ts";
import { openWebhookSecrets, prefixOf, sealWebhookSecrets } from "./secrets.ts";
import { serializeWebhook } from "./serialize.ts";

export type WebhookStore = ReturnType<typeof createWebhookStore>;

const maxWebhooks = 100;
const overlap_seconds = 24 * 3600;

export function createWebhookStore({
  db,
  audit,
  seal,
  egress,
  trust,
  now = Date.now,
}: StoreBase & {
  seal: Seal;
  /** Egress guard for addresses that clients of this environment give. */
  egress: (environment: Environment) => Egress;
  /** Resumes deliveries that were held back while the webhook was disabled. */
  trust: (key: WebhookKey) => void;
}) {
  const rows = createOwnWebhookRows(db);
  const { find } = rows;
  const count = db.sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM webhooks WHERE project_id = ? AND environment = ? AND deleted_at_ms IS NULL AND run_id IS NULL",
  );

  const note = (author: Author, action: string, { id, url }: Pick<WebhookRow, "id" | "url">, more: object = {}): void =>
    audit.note(author, `webhook.${action}`, id, { host: new URL(url).host, ...more });

  /** The response is the only place that shows the secret. */
  async function create(author: Author & Viewer, input: CreateWebhook) {
    requireUnrestrictedKey(author);
    const { project_id, environment } = author;
    const { url, events, description = null, enabled = true, metadata = {} } = input;
    await checkAddress(url, egress(environment), environment);
    const [id, at, secret] = [newId("webhook", now()), now(), newSigningSecret()];
    const sealed = sealWebhookSecrets(seal, { project_id, environment, id }, { secret, previous: null });
    const row = await db.write(() => {
      if (onlyRow(count.get(project_id, environment)).n >= maxWebhooks)
        throw new AppError("validation_failed", `There are already ${maxWebhooks} webhooks, which is the limit.`);
      note(author, "created", { id, url }, { events });
      return rows.insert(author, {
        id,
        url,
        events,
        description,
        enabled,
        disabled_reason: enabled ? null : "requested",
        sealed,
        secret_prefix: prefixOf(secret),
        metadata,
        created_at_ms: at,
        updated_at_ms: at,
      });
    });
    return { ...serializeWebhook(row), secret };
  }

  async function update(author: Author & Viewer, id: string, input: UpdateWebhook) {
    requireUnrestrictedKey(author);
    find(author, id);
    if (input.url !== undefined) await checkAddress(input.url, egress(author.environment), author.environment);
    let hasMoved = false;
    const after = await db.write(() => {
      const row = find(author, id);
      const { url, events, description, metadata } = input;
      hasMoved = url !== undefined && url !== row.url;
      // A new address, or enabling, resets the failures.
      const healthReset = hasMoved || input.enabled ? { failing_since_ms: null, failure_count: 0 } : {};
      const after = rows.update(author, id, {
        url,
        events,
        description,
        metadata,
        ...healthReset,
        ...switched(row, input.enabled),
        updated_at_ms: now(),
      });
      note(author, "updated", after, { changes: Object.keys(input) });
      return after;
    });
    const { project_id, environment } = author;
    if (input.enabled || hasMoved) trust({ project_id, environment, id });
    return serializeWebhook(after);
  }

  /** Replaces the secret; both sign until the overlap ends. The response is the only place that shows it. */
  async function rotate(author: Author & Viewer, id: string, input: RotateSecret) {
    requireUnrestrictedKey(author);
    const secret = newSigningSecret();
    const overlap = input.overlap_seconds ?? overlap_seconds;
    const after = await db.write(() => {
      const row = find(author, id);
      const before = openWebhookSecrets(seal, row, row.sealed);
      const sealed = sealWebhookSecrets(seal, row, { secret, previous: overlap > 0 ? before.secret : null });
      const previous_until_ms = overlap > 0 ? now() + overlap * 1000 : null;
      note(author, "secret_rotated", row, { overlap_seconds: overlap });
      const signing = { sealed, secret_prefix: prefixOf(secret), previous_until_ms };
      return rows.update(author, id, { ...signing, updated_at_ms: now() });
    });
    return { ...serializeWebhook(after), secret };
  }

  return {
    create,
    update,
    rotate,
    get: (scope: Scope, id: string) => serializeWebhook(find(scope, id)),
    list(scope: Scope, page: Page) {
      const values = [scope.project_id, scope.environment];
      const own = "project_id = ? AND environment = ? AND deleted_at_ms IS NULL AND run_id IS NULL";
      const within = { sql: own, values };
      return listPage(db, { table: webhooks, kind: "webhook", scope, page, within }, serializeWebhook);
    },
    /** Deletes a webhook; its deliveries are deleted later. */
    remove: (author: Author & Viewer, id: string) => {
      requireUnrestrictedKey(author);
      return db.write(() => {
        const row = find(author, id);
        rows.update(author, id, { deleted_at_ms: now(), enabled: false, sealed: "" });
        note(author, "deleted", row);
        return { id, object: "webhook" as const, deleted: true };
      });
    },
  };
}

function switched({ enabled: before, disabled_reason }: WebhookRow, enabled: boolean | undefined) {
  if (enabled === undefined) return {};
  return { enabled, disabled_reason: enabled ? null : before ? ("requested" as const) : disabled_reason };
}
