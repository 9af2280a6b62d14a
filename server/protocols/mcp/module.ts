import { describeOperations } from "../../http/describe-operations.ts";
import type { ProtocolPlugin } from "../../http/module.ts";
import type { ProtocolModules } from "../modules.ts";
import { adminMethods } from "./admin-methods.ts";
import { adminTools } from "./admin-tools.ts";
import { agentMethods } from "./agent-methods.ts";
import { mcpRoutes } from "./routes.ts";
import { createMcpServer } from "./server.ts";
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
