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

interface McpListsOptions {
  seal: Seal;
  listTools: ListTools;
  secretValue: (scope: Scope, name: string) => string | null;
  now: () => number;
}

// Starting runs wait for it.
const listing_ms = 10_000;
const listBytes_max = 1024 * 1024;

class ListingFault extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Requests the tools of MCP servers. A failure is part of the returned listing. */
export function createMcpLists({ seal, listTools, secretValue, now }: McpListsOptions) {
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
  return async function askServer(row: Row): Promise<Listing> {
    const secrets = secretsOf(row);
    const hidden = secretTexts(secrets);
    try {
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
