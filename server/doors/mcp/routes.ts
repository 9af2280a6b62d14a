import { Elysia } from "elysia";
import { declared } from "../../http/operation.ts";
import { type createMcpServer, resourceMetadata } from "./server.ts";

type McpServer = ReturnType<typeof createMcpServer>;

interface McpRoutes {
  publicUrl: () => string;
  /** By their addresses. */
  servers: Record<string, McpServer>;
}

/** The addresses of the MCP door. What a request writes, it writes by the API, which looks for room. */
export function mcpRoutes({ publicUrl, servers }: McpRoutes) {
  const app = new Elysia();
  for (const [address, server] of Object.entries(servers))
    app
      .post(address, ({ request, set }) => server.post(request, set.headers), {
        parse: "none",
        ...declared({ needsRoom: false }),
      })
      .get(address, ({ request, set }) => server.get(request, set.headers))
      .delete(address, ({ request, set }) => server.delete(request, set.headers), { parse: "none" })
      .get(`/.well-known/oauth-protected-resource${address}`, () => resourceMetadata(publicUrl(), address));
  return app.get("/.well-known/oauth-protected-resource", () => resourceMetadata(publicUrl(), "/mcp"));
}
