import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Thread, ThreadMessage } from "../../domain/api-types/thread.ts";
import { oneThreadToken, otherUserToken } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { mediaErrors, pathOf } from "../../http/schemas.ts";
import { CreateMessage, CreateThread, threadFilters, UpdateThread } from "./schema.ts";
import type { ThreadStore } from "./store.ts";

const params = pathOf("thread");
const { limit, starting_after, ending_before, order } = plainListQuery;
const messageQuery = { limit, starting_after, ending_before, order };

export const threadRoutes = ({ auth, threads }: { auth: Auth; threads: ThreadStore }) =>
  new Elysia({ prefix: "/threads", tags: ["Threads"] })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, status }) =>
        status(201, await threads.create(principal, applyTokenRules(principal, body))),
      {
        operation: {
          id: "threads.create",
          summary: "Create a thread",
          needs: "run",
          client: "run",
          visitors: true,
          creates: Thread,
        },
        body: CreateThread,
      },
    )
    .get("/", ({ principal, request }) => threads.list(principal, readPage(request.url, threadFilters)), {
      operation: {
        id: "threads.list",
        summary: "List threads",
        needs: "read_or_run",
        client: "read",
        query: { ...listQuery, ...threadFilters },
        returns: listOf(Thread),
      },
    })
    .get("/:id", ({ principal, params }) => threads.get(principal, params.id), {
      operation: {
        id: "threads.retrieve",
        summary: "Retrieve a thread",
        needs: "read_or_run",
        client: "read",
        visitors: true,
        returns: Thread,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => threads.update(principal, params.id, body), {
      operation: {
        id: "threads.update",
        summary: "Change a thread's title or metadata",
        needs: "run",
        returns: Thread,
      },
      params,
      body: UpdateThread,
    })
    .delete("/:id", ({ principal, params }) => threads.remove(principal, params.id), {
      operation: {
        id: "threads.delete",
        summary: "Delete a thread with its messages; its runs stay",
        needs: "run",
        returns: Deleted,
        errors: ["run_not_terminal"],
      },
      params,
    })
    .post(
      "/:id/messages",
      async ({ principal, params, body, status }) => status(201, await threads.say(principal, params.id, body)),
      {
        operation: {
          id: "threads.messages.create",
          summary: "Add a message to a thread, from elsewhere",
          needs: "run",
          creates: ThreadMessage,
          errors: ["thread_busy", ...mediaErrors],
        },
        params,
        body: CreateMessage,
      },
    )
    .get(
      "/:id/messages",
      ({ principal, params, request }) => threads.messages(principal, params.id, readPage(request.url)),
      {
        operation: {
          id: "threads.messages.list",
          summary: "List the messages of a thread",
          needs: "read_or_run",
          client: "read",
          visitors: true,
          query: messageQuery,
          returns: listOf(ThreadMessage),
        },
        params,
      },
    );

/** Restricts the body of a request with a client token to the token's user. */
function applyTokenRules({ token }: Principal, body: CreateThread): CreateThread {
  if (!token) return body;
  if (token.run_id !== null || token.thread_id !== null)
    throw new AppError("insufficient_scope", oneThreadToken, {
      param: "thread_id",
    });
  if (body.variables !== undefined)
    throw new AppError("insufficient_scope", "A client token cannot set variables of a thread.", {
      param: "variables",
    });
  if (body.user_id !== undefined && body.user_id !== token.user_id) throw invalid("user_id", otherUserToken);
  return { ...body, user_id: token.user_id };
}
