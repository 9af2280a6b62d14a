import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { pathOf } from "../http/schemas.ts";
import { CreateTool, RefreshTool, TestTool, toolFilters, UpdateTool } from "./schema.ts";
import type { ToolStore } from "./store.ts";
import type { createToolTest } from "./test-call.ts";

const params = pathOf("tool");

export interface ToolRoutes {
  auth: Auth;
  tools: ToolStore;
  testCall: ReturnType<typeof createToolTest>;
}

export const toolRoutes = ({ auth, tools, testCall }: ToolRoutes) =>
  new Elysia({ prefix: "/tools" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await tools.create(principal, body)), {
      permission: "admin",
      body: CreateTool,
    })
    .get("/", ({ principal, request }) => tools.list(principal, readPage(request.url, toolFilters)), {
      permission: { needs: "read", query: [...pageParameters, "type"] },
    })
    .get("/:id", ({ principal, params }) => tools.get(principal, params.id), { permission: "read", params })
    .patch("/:id", ({ principal, params, body }) => tools.update(principal, params.id, body), {
      permission: "admin",
      params,
      body: UpdateTool,
    })
    .delete("/:id", ({ principal, params }) => tools.remove(principal, params.id), { permission: "admin", params })
    .post("/:id/refresh", ({ principal, params }) => tools.refresh(principal, params.id), {
      permission: "admin",
      params,
      body: RefreshTool,
    })
    .post("/:id/test", ({ principal, params, body, request }) => testCall(principal, params.id, body, request.signal), {
      permission: "admin",
      params,
      body: TestTool,
    });
