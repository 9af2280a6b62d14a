import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { importLimits } from "../../domain/openapi-import.ts";
import type { Auth } from "../../http/auth.ts";
import { parseJsonBody, readBody } from "../../http/json-body.ts";
import type { BodyReader } from "../../http/operation.ts";
import { listQuery, readPage, toList } from "../../http/page.ts";
import { EmptyBody, pathOf, pathWith } from "../../http/schemas.ts";
import { dryRunQuery, isDryRun, nameParams, namePath } from "../../http/set-by-name.ts";
import * as t from "../../lib/schema.ts";
import { AddFromCatalog, CatalogItem } from "./catalog/schema.ts";
import { addFromCatalog, catalogItems } from "./catalog.ts";
import type { createToolImport } from "./import/import.ts";
import { ImportTools, ToolImport } from "./import/schema.ts";
import { CreateTool, SyncTool, TestTool, Tool, ToolSync, ToolTest, toolFilters, UpdateTool } from "./schema.ts";
import type { ToolStore } from "./store.ts";
import type { createToolTest } from "./test-call.ts";

const params = pathOf("tool");
const catalogPath = { name: t.about("The name of the entry.", t.text) };

interface Needs {
  auth: Auth;
  tools: ToolStore;
  importTools: ReturnType<typeof createToolImport>;
}

/** A document in a JSON string is longer than by itself. */
const importBytes = 2 * importLimits.document_bytes;

const readImport: BodyReader = async (request) => {
  const bytes = await readBody(request, importBytes);
  return { bytes, parse: () => parseJsonBody(bytes, request.headers) };
};

export const toolRoutes = ({ auth, tools, importTools }: Needs) =>
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
    .post("/import", ({ principal, body, request }) => importTools(principal, body, request.signal), {
      operation: {
        id: "tools.import",
        summary: "Import the operations of an OpenAPI document as tools",
        needs: "admin",
        read: readImport,
        returns: ToolImport,
        errors: ["url_not_allowed", "url_not_fetched", "name_taken", "document_changed", "unsupported_media_type"],
      },
      body: ImportTools,
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
          errors: ["url_not_allowed", "oauth_server_failed"],
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
