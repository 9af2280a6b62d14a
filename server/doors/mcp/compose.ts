import type { AgentStore } from "../../agents/store.ts";
import { describeOperations } from "../../http/describe-operations.ts";
import type { Route } from "../../http/operation.ts";
import type { Base, Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { RunPorts } from "../../runs/compose.ts";
import { adminMethods } from "./admin-methods.ts";
import { adminTools } from "./admin-tools.ts";
import { agentMethods } from "./agent-methods.ts";
import { mcpRoutes } from "./routes.ts";
import { createMcpServer } from "./server.ts";
import { createSessions } from "./sessions.ts";

/** Agents, and the server itself, for clients of the Model Context Protocol. */
export function composeMcp({
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
    ports: {
      routes({ identify, noLongerValid, api }: DoorAccess) {
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
  } satisfies Part;
}
