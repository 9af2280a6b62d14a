import type { AccessToken } from "../../domain/access-token.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { hideInAnyCase, hideInJson } from "../../lib/redact.ts";
import type { Seal } from "../../lib/seal.ts";
import { secretTexts } from "../../runtime/agent-loop/tools/secret-texts.ts";
import type { McpListing } from "../../runtime/mcp/read-tools.ts";
import { type Row, serverOf } from "./row.ts";
import { openToolSecrets, resolveToolSecrets } from "./secrets.ts";
import type { Listing } from "./types/tool-kind.ts";

/** Requests a server's tools, or the named ones. Throws if it does not list them in time. */
export type ListTools = (
  environment: Environment,
  server: { url: string; headers: Record<string, string> },
  allowed: readonly string[] | null,
  timeout_ms: number,
) => Promise<McpListing>;

/** Returns the token of an OAuth client, or the reason why there is none. */
export type TokenFor = (scope: Scope, oauthClientId: string, userId: string | null) => Promise<AccessToken>;

interface McpListsOptions {
  tokenFor: TokenFor;
  seal: Seal;
  listTools: ListTools;
  secretValue: (scope: Scope, name: string) => string | null;
  now: () => number;
}

// Starting runs wait for it.
const listing_ms = 10_000;
const listBytes_max = 1024 * 1024;

const noGrant =
  "Nobody has authorized the OAuth client of the server yet: its tools are listed once a user did. `POST /v1/oauth_clients/:id/authorize` has the address.";

class ListingFault extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Requests the tools of MCP servers. A failure is part of the returned listing. */
export function createMcpLists({ seal, listTools, secretValue, tokenFor, now }: McpListsOptions) {
  /** Returns the header with the token of the server's OAuth client, if it has one. */
  async function authorizationOf(row: Row, userId: string | null): Promise<Record<string, string>> {
    const { oauth_client_id } = serverOf(row);
    if (oauth_client_id === undefined) return {};
    const token = await tokenFor(row, oauth_client_id, userId);
    if (token.status === "ready") return { authorization: `Bearer ${token.token}` };
    if (token.status === "failed" && token.code !== "user_id_required")
      throw new ListingFault(token.code, token.message);
    throw new ListingFault("authorization_required", noGrant);
  }

  async function list({ environment, definition }: Row, { headers, named, fault }: ReturnType<typeof secretsOf>) {
    const { server_url, allowed_tools } = serverOf({ definition });
    if (fault) throw new ListingFault("too_many_secrets", fault);
    const [missing] = named?.missing ?? [];
    if (missing !== undefined)
      throw new ListingFault("secret_not_found", `The headers name the secret ${missing}, which does not exist.`);
    return listTools(environment, { url: server_url, headers }, allowed_tools, listing_ms);
  }

  const secretsOf = (row: Row) =>
    resolveToolSecrets(openToolSecrets(seal, row, row.id, row.sealed), (name) => secretValue(row, name));

  /** Returns the tool's new listing; after a failure, the earlier one with the error. */
  return async function askServer(row: Row, userId: string | null = null): Promise<Listing> {
    const own = secretsOf(row);
    let hidden = secretTexts(own);
    try {
      const secrets = { ...own, headers: { ...own.headers, ...(await authorizationOf(row, userId)) } };
      hidden = secretTexts(secrets);
      // A server may repeat the secrets that it was sent in its descriptions.
      const { tools, skipped } = (await hideInJson(await list(row, secrets), hidden)) as McpListing;
      if (Buffer.byteLength(JSON.stringify(tools)) > listBytes_max)
        throw new ListingFault("list_too_large", `The server's list of tools is longer than ${listBytes_max} bytes.`);
      return { tools, skipped, listed_at_ms: now(), last_error: null };
    } catch (error) {
      const { code, message } = errorMessage(error);
      const last_error = { code, message: hideInAnyCase(message, hidden), at_ms: now() };
      return { ...serverOf(row).listing, last_error };
    }
  };
}

/** Errors with a code have a message for users; other messages could reveal internals. */
function errorMessage(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string" && typeof message === "string") return { code, message: message.slice(0, 1000) };
  return { code: "mcp_protocol_error", message: "The server's list of tools could not be read." };
}
