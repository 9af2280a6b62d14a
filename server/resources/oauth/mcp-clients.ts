import type { Environment, Scope } from "../../domain/scope.ts";
import type { ClientDefinition } from "../../runtime/oauth/client-definition.ts";
import type { IssuerAccess } from "../../runtime/oauth/fetch-json.ts";
import type { MetadataOf } from "../../runtime/oauth/issuer-metadata.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { toAppError } from "./access-tokens.ts";
import type { ClientStore } from "./client-store.ts";
import { discoverMcp, register } from "./mcp-discovery.ts";
import { type ClientRow, definitionOf } from "./row.ts";

interface McpClientOptions {
  db: Db;
  clients: ClientStore;
  accessOf: (environment: Environment) => IssuerAccess;
  metadataOf: MetadataOf;
  redirectUri: () => string;
}

/** A client that an MCP tool asks for. */
interface WantedClient {
  name: string;
  server_url: string;
  per_user: boolean;
  /** Absent: those that the server names. */
  scopes?: readonly string[];
}

/** OAuth clients that register themselves for MCP servers. */
export function createMcpClients({ db, clients, accessOf, metadataOf, redirectUri }: McpClientOptions) {
  async function definitionFor(
    scope: Scope,
    serverUrl: string,
    wanted: readonly string[] | undefined,
  ): Promise<{ definition: ClientDefinition; client_secret: string | null }> {
    const access = accessOf(scope.environment);
    const { metadata, resource, scopes: named } = await discoverMcp(access, metadataOf, serverUrl);
    const scopes = wanted ?? named;
    const redirect_uri = redirectUri();
    const { client_secret, ...registration } = await register(access, metadata, { redirect_uri, scopes });
    const definition = {
      issuer: metadata.issuer,
      authorization_endpoint: null,
      token_endpoint: null,
      revocation_endpoint: null,
      ...registration,
      scopes,
      resource,
      audience: null,
      authorization_params: {},
      redirect_uri,
    };
    return { definition, client_secret };
  }

  return {
    /** Returns the client of an MCP server, which registers itself the first time. Throws `oauth_server_failed`. */
    async clientFor(author: Author, { name, server_url, per_user, scopes }: WantedClient): Promise<string> {
      const known = clients.discovered(author, server_url, per_user);
      if (known !== null) return known;
      const made = await definitionFor(author, server_url, scopes).catch((error) => {
        throw error instanceof OAuthFailure ? toAppError(error) : error;
      });
      return db.write(() => {
        // Two tools of one server may have been created at once.
        const other = clients.discovered(author, server_url, per_user);
        const client = { name, grant: "authorization_code" as const, per_user, ...made, mcp_server_url: server_url };
        return other ?? clients.insert(author, client).id;
      });
    },

    /** Registers a client again if the address of this server's callback has changed. Throws `OAuthFailure`. */
    async currentRegistration(row: ClientRow, redirectUri: string): Promise<ClientRow> {
      const before = definitionOf(row);
      if (row.mcp_server_url === null || before.redirect_uri === redirectUri) return row;
      const { definition, client_secret } = await definitionFor(row, row.mcp_server_url, before.scopes);
      return db.write(() => clients.register(row, definition, client_secret));
    },
  };
}
