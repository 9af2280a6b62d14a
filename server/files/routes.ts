import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { pathOf } from "../http/schemas.ts";
import { download } from "./content.ts";
import type { Receiver } from "./receive.ts";
import { CreateFile, fileFilters, NoBody } from "./schema.ts";
import type { FileStore } from "./store.ts";

const params = pathOf("file");

export const fileRoutes = ({ auth, files, receiver }: { auth: Auth; files: FileStore; receiver: Receiver }) =>
  new Elysia({ prefix: "/files" })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, request, status }) =>
        status(201, await files.create(principal, body, await receiver.take(request, principal, body))),
      {
        permission: { needs: "run", query: [], read: receiver.read },
        body: CreateFile,
        afterResponse: ({ request }) => receiver.discard(request),
      },
    )
    .get("/", ({ principal, request }) => files.list(principal, readPage(request.url, fileFilters)), {
      permission: { needs: "read_or_run", query: [...pageParameters, ...Object.keys(fileFilters)] },
    })
    .get("/:id", ({ principal, params }) => files.get(principal, params.id), { permission: "read_or_run", params })
    .get(
      "/:id/content",
      ({ principal, params, request, set }) =>
        download({ request, headers: set.headers, ...files.content(principal, params.id) }),
      { permission: "read_or_run", params },
    )
    .get(
      "/:id/chunks",
      ({ principal, params, request }) => {
        const { starting_after, limit } = readPage(request.url);
        return files.chunks(principal, params.id, starting_after, limit);
      },
      { permission: { needs: "read_or_run", query: ["limit", "starting_after"] }, params },
    )
    .post("/:id/retry", ({ principal, params }) => files.retry(principal, params.id), {
      permission: "run",
      params,
      body: NoBody,
    })
    .delete("/:id", ({ principal, params }) => files.remove(principal, params.id), { permission: "admin", params });
