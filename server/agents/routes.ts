import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import { idPattern } from "../core/ids.ts";
import { type Auth, ofAgents, type Principal, requireAgent } from "../http/auth.ts";
import { fault, validationError } from "../http/errors.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { pathOf, pathWith } from "../http/schemas.ts";
import { CreateAgent, UpdateAgent } from "./schema.ts";
import type { AgentStore } from "./store.ts";

const params = pathOf("agent");
const versionParams = pathWith({
  id: Type.String({ pattern: idPattern("agent") }),
  version: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }),
});

export const agentRoutes = ({ auth, agents }: { auth: Auth; agents: AgentStore }) =>
  new Elysia({ prefix: "/agents" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await agents.create(principal, body)), {
      permission: "admin",
      body: CreateAgent,
    })
    .get("/", ({ principal, request }) => agents.list(principal, readPage(request.url), ofAgents(principal, "id")), {
      permission: { needs: "read", query: pageParameters },
    })
    .get("/:id", ({ principal, params }) => agents.get(mine(principal, params.id), params.id), {
      permission: "read",
      params,
    })
    .patch("/:id", ({ principal, params, body }) => agents.update(mine(principal, params.id), params.id, body), {
      permission: "admin",
      params,
      body: UpdateAgent,
    })
    .delete("/:id", ({ principal, params }) => agents.remove(mine(principal, params.id), params.id), {
      permission: "admin",
      params,
    })
    .get("/:id/versions", ({ principal, params, request }) => listVersions(agents, principal, params.id, request.url), {
      permission: { needs: "read", query: ["limit", "starting_after"] },
      params,
    })
    .get(
      "/:id/versions/:version",
      ({ principal, params }) => agents.versions.get(mine(principal, params.id), params.id, Number(params.version)),
      { permission: "read", params: versionParams },
    );

const mine = (principal: Principal, id: string): Principal => {
  requireAgent(principal, id);
  return principal;
};

function listVersions(agents: AgentStore, principal: Principal, id: string, url: string) {
  agents.get(mine(principal, id), id);
  const { limit, starting_after } = readPage(url);
  if (starting_after === null) return agents.versions.list(principal, id, limit, Number.MAX_SAFE_INTEGER);
  if (!/^[1-9]\d{0,14}$/.test(starting_after))
    throw validationError([fault("starting_after", "Expected the number of a version.")]);
  const before = Number(starting_after);
  if (before > agents.get(principal, id).version)
    throw new AppError("invalid_cursor", "The cursor is not a version of this agent.");
  return agents.versions.list(principal, id, limit, before);
}
