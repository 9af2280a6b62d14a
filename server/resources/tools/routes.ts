import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, readPage } from "../../http/page.ts";
import { EmptyBody, pathOf } from "../../http/schemas.ts";
import { dryRunQuery, isDryRun, nameParams, namePath } from "../../http/set-by-name.ts";
import { CreateTool, SetTool, TestTool, Tool, ToolSet, ToolTest, toolFilters, UpdateTool } from "./schema.ts";
import type { ToolStore } from "./store.ts";
import type { createToolTest } from "./test-call.ts";

const params = pathOf("tool");

export const toolRoutes = ({ auth, tools }: { auth: Auth; tools: ToolStore }) =>
  new Elysia({ prefix: "/tools", tags: ["Tools"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await tools.create(principal, body)), {
      operation: {
        id: "tools.create",
        summary: "Create a tool",
        needs: "admin",
        creates: Tool,
        errors: ["name_taken", "url_not_allowed", "resource_not_found", "agent_ambiguous", "oauth_server_failed"],
      },
      body: CreateTool,
    })
    .get("/", ({ principal, request }) => tools.list(principal, readPage(request.url, toolFilters)), {
      operation: {
        id: "tools.list",
        summary: "List tools",
        needs: "read",
        query: { ...listQuery, ...toolFilters },
        returns: listOf(Tool),
      },
    })
    .put(
      "/by-name/:name",
      ({ principal, params, body, request }) => tools.set(principal, params.name, body, isDryRun(request.url)),
      {
        operation: {
          id: "tools.set",
          summary: "Create the tool of this name, or make it as it is given",
          needs: "admin",
          path: namePath,
          query: dryRunQuery,
          returns: ToolSet,
          errors: ["url_not_allowed", "oauth_server_failed"],
        },
        params: nameParams,
        body: SetTool,
      },
    )
    .get("/:id", ({ principal, params }) => tools.get(principal, params.id), {
      operation: {
        id: "tools.retrieve",
        summary: "Retrieve a tool",
        needs: "read",
        returns: Tool,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => tools.update(principal, params.id, body), {
      operation: {
        id: "tools.update",
        summary: "Change a tool",
        needs: "admin",
        returns: Tool,
        errors: ["name_taken", "url_not_allowed", "agent_ambiguous", "oauth_server_failed"],
      },
      params,
      body: UpdateTool,
    })
    .delete("/:id", ({ principal, params }) => tools.remove(principal, params.id), {
      operation: {
        id: "tools.delete",
        summary: "Delete a tool",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post("/:id/refresh", ({ principal, params }) => tools.refresh(principal, params.id), {
      operation: {
        id: "tools.refresh",
        summary: "Refresh the tools of an MCP server",
        needs: "admin",
        returns: Tool,
      },
      params,
      body: EmptyBody,
    });

export const toolTestRoutes = ({ auth, testCall }: { auth: Auth; testCall: ReturnType<typeof createToolTest> }) =>
  new Elysia({ prefix: "/tools", tags: ["Tools"] })
    .use(auth)
    .post("/:id/test", ({ principal, params, body, request }) => testCall(principal, params.id, body, request.signal), {
      operation: {
        id: "tools.test",
        summary: "Call a tool outside of any run",
        needs: "admin",
        returns: ToolTest,
      },
      params,
      body: TestTool,
    });
