import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { pathOf } from "../http/schemas.ts";
import { CreateMessage, CreateThread, threadFilters, UpdateThread } from "./schema.ts";
import type { ThreadStore } from "./store.ts";

const params = pathOf("thread");

export const threadRoutes = ({ auth, threads }: { auth: Auth; threads: ThreadStore }) =>
  new Elysia({ prefix: "/threads" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await threads.create(principal, body)), {
      permission: "run",
      body: CreateThread,
    })
    .get("/", ({ principal, request }) => threads.list(principal, readPage(request.url, threadFilters)), {
      permission: { needs: "read_or_run", query: [...pageParameters, ...Object.keys(threadFilters)] },
    })
    .get("/:id", ({ principal, params }) => threads.get(principal, params.id), { permission: "read_or_run", params })
    .patch("/:id", ({ principal, params, body }) => threads.update(principal, params.id, body), {
      permission: "run",
      params,
      body: UpdateThread,
    })
    .delete("/:id", ({ principal, params }) => threads.remove(principal, params.id), { permission: "run", params })
    .post(
      "/:id/messages",
      async ({ principal, params, body, status }) => status(201, await threads.say(principal, params.id, body)),
      { permission: "run", params, body: CreateMessage },
    )
    .get(
      "/:id/messages",
      ({ principal, params, request }) => threads.messages(principal, params.id, readPage(request.url)),
      { permission: { needs: "read_or_run", query: ["limit", "starting_after", "ending_before", "order"] }, params },
    );
