import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { listOf } from "../../domain/api-types/schema.ts";
import { Erasure } from "../../domain/api-types/user.ts";
import type { Auth } from "../../http/auth.ts";
import type { Base } from "../../http/module.ts";
import { plainListQuery, readPage } from "../../http/page.ts";
import { pathOf, pathWith, Subject } from "../../http/schemas.ts";
import { readWaitParam, Wait } from "../../http/wait-param.ts";
import { about } from "../../lib/schema.ts";
import type { Erasures } from "./erasures.ts";
import type { UserExport } from "./export.ts";

interface UserRoutes {
  auth: Auth;
  erasures: Erasures;
  openExport: UserExport;
  /** Aborted when the server stops or the project leaves; ends every wait. */
  ending: Base["abortSignalOf"];
}

const ofUser = { id: about("The id.", Subject) };
/** One JSON object per line. */
const lines = "application/x-ndjson";

export const userRoutes = ({ auth, erasures, openExport, ending }: UserRoutes) =>
  new Elysia({ tags: ["Users"] })
    .use(auth)
    .get(
      "/users/:id/data",
      ({ principal, params }) =>
        new Response(openExport(principal, params.id), {
          headers: {
            "content-type": lines,
            "content-disposition": 'attachment; filename="user-data.jsonl"',
            "cache-control": "private, no-store",
          },
        }),
      {
        operation: {
          id: "users.data.retrieve",
          summary: "Download all that there is of a user",
          needs: "admin",
          viewers: true,
          path: ofUser,
          responseHeaders: ["Content-Disposition"],
          media: [lines],
          returns: Type.Unknown(),
        },
        params: pathWith(ofUser),
      },
    )
    .delete(
      "/users/:id/data",
      async ({ principal, params, request, set, status }) => {
        const wait = readWaitParam(request.url);
        const id = await erasures.begin(principal, params.id);
        await erasures.settled(principal, id, wait * 1000, [ending(principal.project_id), request.signal]);
        const erasure = erasures.get(principal, id);
        set.headers.location = `/v1/erasures/${id}`;
        return erasure.status === "completed" ? erasure : status(202, erasure);
      },
      {
        operation: {
          id: "users.data.delete",
          summary: "Delete all that there is of a user",
          needs: "admin",
          query: { wait: Wait },
          path: ofUser,
          returns: Erasure,
          also: { 202: "It goes on: `GET /v1/erasures/{id}` says how far it is." },
          responseHeaders: ["Location"],
        },
        params: pathWith(ofUser),
      },
    )
    .get("/erasures", ({ principal, request }) => erasures.list(principal, readPage(request.url)), {
      operation: {
        id: "erasures.list",
        summary: "List requests to delete a user's data",
        needs: "admin",
        viewers: true,
        query: plainListQuery,
        returns: listOf(Erasure),
      },
    })
    .get("/erasures/:id", ({ principal, params }) => erasures.get(principal, params.id), {
      operation: {
        id: "erasures.retrieve",
        summary: "Retrieve a request to delete a user's data",
        needs: "admin",
        viewers: true,
        returns: Erasure,
      },
      params: pathOf("erasure"),
    });
