import type { ToolSnapshot, ToolType } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import { listRows, type Page, toList } from "../http/page.ts";
import type { Egress } from "../lib/egress.ts";
import type { Seal } from "../lib/seal.ts";
import { newSigningSecret } from "../lib/signature.ts";
import {
  changed,
  checkOrigin,
  checkTool,
  checkUrl,
  type Definition,
  isIdempotent,
  mask,
  unmasked,
} from "./definition.ts";
import type { CreateTool, UpdateTool } from "./schema.ts";
import { openToolSecrets, sealToolSecrets } from "./secrets.ts";

interface Row extends Scope {
  id: string;
  name: string;
  type: ToolType;
  definition: string;
  sealed: string;
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ToolStoreOptions {
  db: Db;
  audit: Audit;
  seal: Seal;
  /** The guard for addresses that users of this environment give. */
  egress: (environment: Environment) => Pick<Egress, "check">;
  hasSecret: (scope: Scope, name: string) => boolean;
  now?: () => number;
}

export type ToolStore = ReturnType<typeof createToolStore>;

export function createToolStore({ db, audit, seal, egress, hasSecret, now = Date.now }: ToolStoreOptions) {
  const { sqlite } = db;
  const one = sqlite.query<Row, [string, string, string]>(
    "SELECT * FROM tools WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const named = sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM tools WHERE project_id = ? AND environment = ? AND name = ?",
  );
  const deletion = sqlite.query("DELETE FROM tools WHERE project_id = ? AND environment = ? AND id = ?");

  const find = ({ project_id, environment }: Scope, id: string): Row => {
    const row = one.get(project_id, environment, id);
    if (!row) throw notFound();
    return row;
  };
  const requireFreeName = ({ project_id, environment }: Scope, name: string, id: string | null) => {
    const taken = named.get(project_id, environment, name);
    if (taken && taken.id !== id)
      throw new AppError("name_taken", `There is already a tool "${name}".`, { param: "name" });
  };

  const note = (author: Author, action: string, id: string, details: Record<string, unknown>): void =>
    audit.note({ scope: author, actor: author.actor, action, target: { type: "tool", id }, details });

  const known = (scope: Scope, headers: readonly string[]) => ({
    headers,
    hasSecret: (name: string) => hasSecret(scope, name),
  });

  /** The answer alone holds the signing secret. */
  async function create(scope: Author, input: CreateTool) {
    const type = input.type ?? (input.url === undefined ? "client" : "http");
    checkTool(input, type, true, known(scope, []));
    if (type === "http") await checkUrl(input.url!, egress(scope.environment), scope.environment);
    const [id, at] = [newId("tool", now()), now()];
    const signing_secret = type === "http" ? newSigningSecret() : null;
    const sealed = signing_secret
      ? sealToolSecrets(seal, scope, id, { headers: input.headers ?? {}, signing_secret })
      : "";
    return db.write(() => {
      requireFreeName(scope, input.name, null);
      sqlite
        .query(
          `INSERT INTO tools (project_id, environment, id, name, type, definition, sealed, metadata, created_at_ms, updated_at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          scope.project_id,
          scope.environment,
          id,
          input.name,
          type,
          JSON.stringify(changed(input, type, null)),
          sealed,
          JSON.stringify(input.metadata ?? {}),
          at,
          at,
        );
      note(scope, "tool.created", id, { name: input.name, type });
      return { ...toTool(find(scope, id)), ...(signing_secret && { signing_secret }) };
    });
  }

  async function update(scope: Author, id: string, input: UpdateTool) {
    const { type, definition } = find(scope, id);
    checkTool(input, type, false, known(scope, (JSON.parse(definition) as Definition).http?.header_names ?? []));
    if (input.url !== undefined) await checkUrl(input.url, egress(scope.environment), scope.environment);
    return db.write(() => {
      const row = find(scope, id); // Read again: while the address was looked up, somebody else may have been here.
      checkOrigin(input, (JSON.parse(row.definition) as Definition).http);
      if (input.name !== undefined) requireFreeName(scope, input.name, id);
      sqlite
        .query(
          `UPDATE tools SET name = ?, definition = ?, sealed = ?, metadata = ?, updated_at_ms = ?
           WHERE project_id = ? AND environment = ? AND id = ?`,
        )
        .run(
          input.name ?? row.name,
          JSON.stringify(changed(input, type, JSON.parse(row.definition))),
          input.headers ? withHeaders(row, input.headers) : row.sealed,
          input.metadata ? JSON.stringify(input.metadata) : row.metadata,
          now(),
          scope.project_id,
          scope.environment,
          id,
        );
      note(scope, "tool.updated", id, { name: input.name ?? row.name, changes: Object.keys(input) });
      return toTool(find(scope, id));
    });
  }

  function withHeaders(row: Row, headers: Record<string, string>): string {
    const before = openToolSecrets(seal, row, row.id, row.sealed);
    return sealToolSecrets(seal, row, row.id, { ...before, headers: unmasked(headers, before.headers) });
  }

  return {
    create,
    update,
    get: (scope: Scope, id: string) => toTool(find(scope, id)),
    list: (scope: Scope, page: Page) => toList(listRows<Row>(db, { table: "tools", scope, page }), toTool),
    /** Takes the tool off its agents too; runs keep the snapshot that they pinned. */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, type } = find(author, id);
        deletion.run(author.project_id, author.environment, id);
        note(author, "tool.deleted", id, { name, type });
        return { id, object: "tool" as const, deleted: true };
      }),
    /** What a run pins of these tools, in their order: switched-off ones are left out, and so are ids of nothing. */
    snapshots: ({ project_id, environment }: Scope, ids: readonly string[]): ToolSnapshot[] =>
      ids.flatMap((id) => {
        const row = one.get(project_id, environment, id);
        const snapshot = row && toSnapshot(row);
        return snapshot ? [snapshot] : [];
      }),
  };
}

function toSnapshot({ id, name, type, definition, sealed }: Row): ToolSnapshot | null {
  const { enabled, http, ...rest } = JSON.parse(definition) as Definition;
  if (!enabled) return null;
  const { url, method, timeout_ms, retries, response } = http ?? {};
  return {
    id,
    name,
    type,
    ...rest,
    idempotent: http !== null && isIdempotent(http),
    http: http && ({ url, method, timeout_ms, retries, response, sealed } as NonNullable<ToolSnapshot["http"]>),
  };
}

function toTool(row: Row) {
  const { http, ...rest } = JSON.parse(row.definition) as Definition;
  return {
    id: row.id,
    object: "tool" as const,
    name: row.name,
    type: row.type,
    ...rest,
    ...(http && {
      url: http.url,
      method: http.method,
      headers: Object.fromEntries(http.header_names.map((name) => [name, mask])),
      timeout_ms: http.timeout_ms,
      retries: http.retries,
      response: http.response,
      idempotent: isIdempotent(http),
    }),
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    created_at: timestamp(row.created_at_ms),
    updated_at: timestamp(row.updated_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}
