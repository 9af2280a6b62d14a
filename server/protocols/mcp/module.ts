import { AppError } from "../../domain/errors.ts";
import { clientTokenRefused } from "../../http/auth.ts";
import { describeOperations } from "../../http/describe-operations.ts";
import type { Api } from "../../http/internal-client.ts";
import type { ProtocolPlugin } from "../../http/module.ts";
import { hasParts } from "../../lib/json.ts";
import { toSafeString } from "../../lib/safe-string.ts";
import type { ProtocolModules } from "../modules.ts";
import { type AdminTool, adminTools } from "./admin-tools.ts";
import { agentMethods } from "./agent-methods.ts";
import { invalidParams, type Params, toRpcError } from "./protocol.ts";
import { mcpRoutes } from "./routes.ts";
import { createMcpServer, type McpMethods } from "./server.ts";
import { createSessions } from "./sessions.ts";

/** Agents, and the server itself, for clients of the Model Context Protocol. */
export function createMcp({ base, http, agents, runs }: ProtocolModules): ProtocolPlugin {
  const { db, now, publicUrl } = base;
  const { openStream } = runs;
  const sessions = createSessions({ db, now });
  let tools: ReturnType<typeof adminTools> | undefined;
  const toolsOnce = () => (tools ??= adminTools(describeOperations(http.routes())));

  return ({ identify, noLongerValid, api }) => {
    const ofAgents = agentMethods({ agents: agents.store, runs: runs.store, openStream, api, noLongerValid });
    const server = (address: string, offered: ReturnType<typeof agentMethods>) =>
      createMcpServer({ address, identify, sessions, publicUrl, offered });
    return mcpRoutes({
      publicUrl,
      servers: {
        "/mcp": server("/mcp", ofAgents),
        "/mcp/admin": server("/mcp/admin", adminMethods({ tools: toolsOnce, api })),
      },
    });
  };
}

/** The API's own operations, for keys with the scope "admin". */
export const adminMethods = ({ tools, api }: { tools: () => Map<string, AdminTool>; api: Api }): McpMethods => ({
  capabilities: { tools: {} },
  instructions: "Agents, runs and traces of a runnel server. Each tool is the operation of its API with that name.",
  admit({ scopes, token }) {
    if (token) throw clientTokenRefused("admin");
    if (scopes.has("admin")) return;
    const details = { required_scope: "admin" };
    throw new AppError("insufficient_scope", 'This needs the scope "admin".', { details });
  },
  methods: {
    "tools/list": () => ({ tools: [...tools().values()].map(({ shown }) => shown) }),
    async "tools/call"({ request, params }) {
      const { name, arguments: args = {} } = params;
      const tool = tools().get(toSafeString(name));
      if (!tool) throw invalidParams(`There is no tool ${toSafeString(name)}.`);
      if (!hasParts(args)) throw invalidParams("arguments: expected an object.");
      const { method, path, body } = tool.requestOf(args as Params);
      const answer = await api(request, method, path, body);
      if (answer.status === 429 || answer.status >= 500) throw toRpcError(answer);
      const content = [{ type: "text" as const, text: JSON.stringify(answer.body) }];
      return answer.status >= 400 ? { content, isError: true } : { content, structuredContent: answer.body };
    },
  },
});
