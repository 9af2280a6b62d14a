import { describeOperations } from "../../http/describe-operations.ts";
import type { ProtocolAccess } from "../../http/internal-client.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Route } from "../../http/operation.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { RunPorts } from "../../runs/module.ts";
import { adminMethods } from "./admin-methods.ts";
import { adminTools } from "./admin-tools.ts";
import { agentMethods } from "./agent-methods.ts";
import { mcpRoutes } from "./routes.ts";
import { createMcpServer } from "./server.ts";
import { createSessions } from "./sessions.ts";

/** Agents, and the server itself, for clients of the Model Context Protocol. */
export function createMcpModule({
  db,
  now,
  publicUrl,
  agents,
  runs: { runs, openStream },
  http,
}: Base & { agents: AgentStore; runs: RunPorts; http: { routes(): readonly Route[] } }) {
  const sessions = createSessions({ db, now });
  let tools: ReturnType<typeof adminTools> | undefined;
  const toolsOnce = () => (tools ??= adminTools(describeOperations(http.routes())));

  return {
    exports: {
      routes({ identify, noLongerValid, api }: ProtocolAccess) {
        const server = (address: string, offered: ReturnType<typeof agentMethods>) =>
          createMcpServer({ address, identify, sessions, publicUrl, offered });
        return mcpRoutes({
          publicUrl,
          servers: {
            "/mcp": server("/mcp", agentMethods({ agents, runs, openStream, api, noLongerValid })),
            "/mcp/admin": server("/mcp/admin", adminMethods({ tools: toolsOnce, api })),
          },
        });
      },
    },
  } satisfies Module;
}
