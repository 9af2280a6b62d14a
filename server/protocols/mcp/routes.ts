import { Elysia } from "elysia";
import { withDeclaration } from "../../http/operation.ts";
import { type createMcpServer, resourceMetadata } from "./server.ts";

type McpServer = ReturnType<typeof createMcpServer>;

interface McpRoutes {
  publicUrl: () => string;
  /** Servers by path. */
  servers: Record<string, McpServer>;
}

/** Routes of MCP. Every write goes through the API, which checks for room. */
export function mcpRoutes({ publicUrl, servers }: McpRoutes) {
  const app = new Elysia();
  for (const [address, server] of Object.entries(servers))
    app
      .post(address, ({ request, set }) => server.post(request, set.headers), {
        parse: "none",
        ...withDeclaration({ needsRoom: false }),
      })
      .get(address, ({ request, set }) => server.get(request, set.headers))
      .delete(address, ({ request, set }) => server.delete(request, set.headers), { parse: "none" })
      .get(`/.well-known/oauth-protected-resource${address}`, () => resourceMetadata(publicUrl(), address));
  return app.get("/.well-known/oauth-protected-resource", () => resourceMetadata(publicUrl(), "/mcp"));
}
