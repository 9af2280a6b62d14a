import { Elysia } from "elysia";
import { withDeclaration } from "../../http/operation.ts";
import type { createA2aServer } from "./server.ts";

/** Routes of A2A. Every write goes through the API, which checks for room. */
export const a2aRoutes = ({ rpc, rest, card }: ReturnType<typeof createA2aServer>) =>
  new Elysia({ prefix: "/a2a/v1/agents/:id" })
    .post("/", ({ request, set, params: { id } }) => rpc(request, set.headers, id), {
      parse: "none",
      ...withDeclaration({ needsRoom: false }),
    })
    .get("/.well-known/agent-card.json", ({ request, set, params: { id } }) => card(request, set.headers, id))
    .get("/*", ({ request, set, params: { id } }) => rest(request, set.headers, id))
    .delete("/*", ({ request, set, params: { id } }) => rest(request, set.headers, id), { parse: "none" })
    .post("/*", ({ request, set, params: { id } }) => rest(request, set.headers, id), {
      parse: "none",
      ...withDeclaration({ needsRoom: false }),
    });
