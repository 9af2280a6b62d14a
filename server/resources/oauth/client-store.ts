import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { checkEgress } from "../../http/check-egress.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { clientFaults, identityFields, losesGrants } from "../../http/oauth-client-faults.ts";
import { listPage, type Page } from "../../http/page.ts";
import { nameIssues } from "../../http/validate-name.ts";
import type { Egress } from "../../lib/egress.ts";
import type { ClientDefinition, IssuerClient } from "../../runtime/oauth/client-definition.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { oauthClients } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { GrantStore } from "./grant-store.ts";
import { type ClientRow, definitionOf, serializeClient } from "./row.ts";
import type { CreateOAuthClient, UpdateOAuthClient } from "./schema.ts";
import type { OAuthSecrets } from "./secrets.ts";

interface ClientStoreOptions extends StoreBase {
  secrets: OAuthSecrets;
  grants: Pick<GrantStore, "eraseOfClient">;
  egress: (environment: Environment) => Egress;
  /** Called after a commit with revocations. */
  onRevoked(): void;
  now: () => number;
}

export type ClientStore = ReturnType<typeof createClientStore>;

const clients_max = 500;
/** A registration is not for many users: those of a client go within one write. */
const grants_max = 100_000;

const defaults: Omit<ClientDefinition, "client_id"> = {
  issuer: null,
  authorization_endpoint: null,
  token_endpoint: null,
  revocation_endpoint: null,
  token_endpoint_auth_method: null,
  scopes: [],
  resource: null,
  audience: null,
  authorization_params: {},
};

/** Registrations at authorization servers. */
export function createClientStore({ db, audit, secrets, grants, egress, onRevoked, now }: ClientStoreOptions) {
  const rows = createScopedTable(db, oauthClients);
  const count = db.sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM oauth_clients WHERE project_id = ? AND environment = ?",
  );
  const selectDiscovered = db.sqlite.query<{ id: string }, [string, string, string, 0 | 1]>(
    `SELECT id FROM oauth_clients WHERE project_id = ? AND environment = ? AND mcp_server_url = ? AND per_user = ?
     ORDER BY id LIMIT 1`,
  );
  const secretOf = (row: ClientRow): string | null => secrets.open("client", row, row.id, row.sealed).client_secret;
  const serialize = (row: ClientRow) => serializeClient(row, secretOf(row) !== null);

  async function checkAddresses(scope: Scope, given: Partial<ClientDefinition>): Promise<void> {
    const isLive = scope.environment === "live";
    for (const name of ["issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint"] as const) {
      const address = given[name];
      if (address !== undefined && address !== null)
        await checkEgress(egress(scope.environment), address, isLive, name);
    }
  }

  interface NewClient extends Pick<CreateOAuthClient, "name" | "grant" | "per_user" | "metadata"> {
    definition: ClientDefinition;
    client_secret: string | null;
    mcp_server_url: string | null;
  }

  /** Inserts a client. Call inside a write. */
  function insert(author: Author, { name, grant, per_user = false, metadata = {}, ...rest }: NewClient): ClientRow {
    if (onlyRow(count.get(author.project_id, author.environment)).n >= clients_max)
      throw new AppError("validation_failed", `There are already ${clients_max} OAuth clients, which is the limit.`);
    const at = now();
    const id = newId("oauth_client", at);
    audit.note(author, "oauth_client.created", id, { name, grant, per_user });
    return rows.insert(author, {
      id,
      name,
      grant,
      per_user,
      mcp_server_url: rest.mcp_server_url,
      definition: rest.definition,
      sealed: secrets.seal("client", author, id, { client_secret: rest.client_secret }),
      metadata,
      created_at_ms: at,
      updated_at_ms: at,
    });
  }

  async function create(author: Author, input: CreateOAuthClient) {
    const { name, grant, per_user = false, client_secret = null, metadata, ...given } = input;
    const definition: ClientDefinition = { ...defaults, ...given };
    throwIfInvalid([...nameIssues(name), ...clientFaults({ grant, per_user, definition, client_secret })]);
    await checkAddresses(author, definition);
    const row = await db.write(() =>
      insert(author, { name, grant, per_user, metadata, definition, client_secret, mcp_server_url: null }),
    );
    return serialize(row);
  }

  async function update(author: Author, id: string, input: UpdateOAuthClient) {
    const change = (row: ClientRow) => {
      const { name = row.name, client_secret, metadata = row.metadata, ...given } = input;
      const before = definitionOf(row);
      const definition: ClientDefinition = { ...before, ...given };
      const secret = client_secret === undefined ? secretOf(row) : client_secret;
      const isElsewhere = identityFields.some((field) => before[field] !== definition[field]);
      throwIfInvalid([
        ...nameIssues(input.name),
        ...clientFaults({ grant: row.grant, per_user: row.per_user, definition, client_secret: secret }),
        // The author of the secret meant it for the former server, and may be another person.
        ...(isElsewhere && secret !== null && client_secret === undefined
          ? [fault("client_secret", "The client is of another server now: send its secret again.", "required")]
          : []),
      ]);
      return { name, metadata, before, definition, secret };
    };
    change(rows.find(author, id)); // Checked first: an unknown client is a 404, and a fault needs no lookup of names.
    await checkAddresses(author, input);
    const row = await db.write(() => {
      const current = rows.find(author, id);
      const { name, metadata, before, definition, secret } = change(current);
      if (losesGrants(before, definition, current.grant === "authorization_code"))
        grants.eraseOfClient(author, id, grants_max);
      audit.note(author, "oauth_client.updated", id, { name, changes: Object.keys(input) });
      const sealed = secrets.seal("client", author, id, { client_secret: secret });
      return rows.update(author, id, { name, metadata, definition, sealed, updated_at_ms: now() });
    });
    onRevoked();
    return serialize(row);
  }

  return {
    create,
    update,
    insert,
    find: rows.find,
    row: rows.get,
    get: (scope: Scope, id: string) => serialize(rows.find(scope, id)),
    list: (scope: Scope, page: Page) =>
      listPage(db, { table: oauthClients, kind: "oauth_client", scope, page }, serialize),

    /** Deletes a client and its grants. Calls of tools that name it fail. */
    async remove(author: Author, id: string) {
      const deleted = await db.write(() => {
        const { name } = rows.find(author, id);
        grants.eraseOfClient(author, id, grants_max);
        rows.remove(author, id);
        audit.note(author, "oauth_client.deleted", id, { name });
        return { id, object: "oauth_client" as const, deleted: true };
      });
      onRevoked();
      return deleted;
    },

    /** Returns the client that discovery made for an MCP server; null if there is none. */
    discovered({ project_id, environment }: Scope, serverUrl: string, isPerUser: boolean): string | null {
      return selectDiscovered.get(project_id, environment, serverUrl, isPerUser ? 1 : 0)?.id ?? null;
    },

    /** Replaces a registration, whose grants belong to the former one. Call inside a write. */
    register(row: ClientRow, definition: ClientDefinition, client_secret: string | null): ClientRow {
      grants.eraseOfClient(row, row.id, grants_max);
      const sealed = secrets.seal("client", row, row.id, { client_secret });
      return rows.update(row, row.id, { definition, sealed, updated_at_ms: now() });
    },

    /** Returns a client with its secret, for a request to its authorization server. */
    issuerClient: (row: ClientRow): IssuerClient => ({
      ...definitionOf(row),
      grant: row.grant,
      client_secret: secretOf(row),
    }),
  };
}
