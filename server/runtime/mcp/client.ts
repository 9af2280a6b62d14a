import type { Egress } from "../../lib/egress.ts";
import { allOf, callTarget, type McpTarget } from "./call-target.ts";
import { createCallClock, type McpLimits } from "./deadline.ts";
import { createHttpSessions, type McpServer } from "./http-sessions.ts";
import { McpFailure } from "./mcp-failure.ts";
import type { CallHooks, Operation, Work } from "./open-client.ts";
import type { McpResult } from "./read-result.ts";
import { createToolReader, type McpListing } from "./read-tools.ts";
import type { Client, RequestOptions } from "./sdk.ts";
import { promptTool, resourceTools } from "./server-operations.ts";
import type { StdioServers } from "./stdio-servers.ts";

/** Client of MCP servers; throws only `McpFailure`. */
export type McpClient = ReturnType<typeof createMcpClient>;

interface ClientOptions {
  egress: Egress;
  stdio: StdioServers;
  /** Servers are told that users can be asked. */
  elicits?: boolean;
}

/**
 * Sessions last for all calls of one client, because servers keep state in them that the next run must not see.
 * Processes of `stdio:` servers are shared.
 */
export function createMcpClient({ egress, stdio, elicits = false }: ClientOptions) {
  const http = createHttpSessions(egress, { elicits });

  const perform = <T>({ url, headers }: McpServer, operation: Operation, work: Work<T>): Promise<T> =>
    url.startsWith("stdio:")
      ? stdio.perform(url.slice(6), operation, work)
      : http.perform({ url, headers }, operation, work);

  return {
    /** Returns the server's tools, or only the allowed ones. */
    async listTools(server: McpServer, allowed: readonly string[] | null, limits: McpLimits): Promise<McpListing> {
      return perform(server, limits, (client, options) => readAll(client, options, allowed));
    },

    async callTool(
      server: McpServer,
      target: string | McpTarget,
      args: Record<string, unknown>,
      limits: McpLimits,
      hooks: CallHooks = {},
    ): Promise<McpResult> {
      let isAsked = false;
      const call: Work<McpResult> = async (client, options) => {
        isAsked = true;
        return callTarget(client, options, typeof target === "string" ? { tool: target } : target, args, operation);
      };
      const operation = { ...limits, clock: createCallClock(), hooks };
      return perform(server, operation, call).catch((error: McpFailure) => {
        // The call itself was not sent: the session could not be opened.
        throw isAsked ? error : new McpFailure(error.code, error.message, "not_sent", error);
      });
    },

    /** Cancels open requests and ends the sessions. */
    close: () => http.close(),
  };
}

const pagesMax = 32;

// Parsed here: the SDK's client rejects a whole page for one invalid tool, and compiles the server's schemas.
async function readAll(
  client: Client,
  options: RequestOptions,
  allowed: readonly string[] | null,
): Promise<McpListing> {
  const { ResultSchema } = await import("./sdk.ts");
  const { listing, read, add } = createToolReader(allowed);
  const capabilities = client.getServerCapabilities() ?? {};
  if (capabilities.tools || !(capabilities.resources || capabilities.prompts)) await readTools();
  if (capabilities.resources) for (const tool of resourceTools()) add(tool);
  if (capabilities.prompts) {
    const request = (method: string, params: Record<string, unknown>) =>
      client.request({ method, params } as never, ResultSchema, options);
    const tool = promptTool(await allOf(request, "prompts/list", "prompts").catch(() => []));
    if (tool) add(tool);
  }
  return listing;

  async function readTools(): Promise<void> {
    const cursors = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax; page++) {
      const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } } as const;
      const { tools, nextCursor } = await client.request(request, ResultSchema, options);
      if (!Array.isArray(tools)) throw new McpFailure("mcp_protocol_error", "The server lists no tools.");
      if (!read(tools) || typeof nextCursor !== "string" || nextCursor === "") return;
      // Some servers send the same cursor again and again.
      if (cursors.has(nextCursor)) return;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    throw new McpFailure("mcp_protocol_error", `The server's list of tools has more than ${pagesMax} pages.`);
  }
}
