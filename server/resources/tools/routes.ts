import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, readPage, toList } from "../../http/page.ts";
import { EmptyBody, pathOf, pathWith } from "../../http/schemas.ts";
import { dryRunQuery, isDryRun, nameParams, namePath } from "../../http/set-by-name.ts";
import * as t from "../../lib/schema.ts";
import { AddFromCatalog, CatalogItem } from "./catalog/schema.ts";
import { addFromCatalog, catalogItems } from "./catalog.ts";
import { CreateTool, SyncTool, TestTool, Tool, ToolSync, ToolTest, toolFilters, UpdateTool } from "./schema.ts";
import type { ToolStore } from "./store.ts";
import type { createToolTest } from "./test-call.ts";

const params = pathOf("tool");
const catalogPath = { name: t.about("The name of the entry.", t.text) };

export const toolRoutes = ({ auth, tools }: { auth: Auth; tools: ToolStore }) =>
  new Elysia({ prefix: "/tools", tags: ["Tools"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await tools.create(principal, body)), {
      operation: {
        id: "tools.create",
        summary: "Create a tool",
        needs: "admin",
        creates: Tool,
        errors: ["name_taken", "url_not_allowed", "resource_not_found", "agent_ambiguous"],
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
      ({ principal, params, body, request }) => tools.sync(principal, params.name, body, isDryRun(request.url)),
      {
        operation: {
          id: "tools.sync",
          summary: "Create the tool of this name, or make it as it is given",
          needs: "admin",
          path: namePath,
          query: dryRunQuery,
          returns: ToolSync,
          errors: ["url_not_allowed"],
        },
        params: nameParams,
        body: SyncTool,
      },
    )
    .get("/catalog", () => toList(catalogItems(), false, ({ name }) => name), {
      operation: {
        id: "tools.catalog.list",
        summary: "List the catalogue of ready tools",
        needs: "read",
        returns: listOf(CatalogItem),
      },
    })
    .post(
      "/catalog/:name",
      async ({ principal, params, body, status }) =>
        status(
          201,
          toList(await addFromCatalog(tools, principal, params.name, body), false, ({ id }) => id),
        ),
      {
        operation: {
          id: "tools.catalog.add",
          summary: "Create the tools of an entry of the catalogue",
          needs: "admin",
          path: catalogPath,
          creates: listOf(Tool),
          errors: ["name_taken", "url_not_allowed", "resource_not_found"],
        },
        params: pathWith({ name: Type.String() }),
        body: AddFromCatalog,
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
        errors: ["name_taken", "url_not_allowed", "agent_ambiguous"],
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
