import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { AppError } from "../../domain/errors.ts";
import { type Auth, agentConditions, requireAgent } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, listQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { dryRunQuery, isDryRun, nameParams, namePath } from "../../http/set-by-name.ts";
import { about } from "../../lib/schema.ts";
import {
  Agent,
  AgentListItem,
  AgentSync,
  AgentVersion,
  agentFilters,
  CreateAgent,
  SyncAgent,
  UpdateAgent,
} from "./schema.ts";
import type { AgentStore } from "./store.ts";

const params = pathOf("agent");
const versionNumber = Type.String({ pattern: "^[1-9]\\d{0,14}$" });
const versionParams = pathWith({
  id: about("The id.", idOf("agent")),
  version: about("The number of the version.", versionNumber),
});

export const agentRoutes = ({ auth, agents }: { auth: Auth; agents: AgentStore }) =>
  new Elysia({ prefix: "/agents", tags: ["Agents"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await agents.create(principal, body)), {
      operation: {
        id: "agents.create",
        summary: "Create an agent",
        needs: "admin",
        creates: Agent,
        errors: ["model_not_available", "resource_not_found", "agent_ambiguous"],
      },
      body: CreateAgent,
    })
    .get(
      "/",
      ({ principal, request }) =>
        agents.list(principal, readPage(request.url, agentFilters), agentConditions(principal, "id")),
      {
        operation: {
          id: "agents.list",
          summary: "List agents",
          needs: "read",
          query: { ...listQuery, ...agentFilters },
          returns: listOf(AgentListItem),
        },
      },
    )
    .put(
      "/by-name/:name",
      ({ principal, params, body, request }) => agents.sync(principal, params.name, body, isDryRun(request.url)),
      {
        operation: {
          id: "agents.sync",
          summary: "Create the agent of this name, or make it as it is given",
          needs: "admin",
          path: namePath,
          query: dryRunQuery,
          returns: AgentSync,
          errors: ["agent_ambiguous", "resource_not_found", "model_not_available"],
        },
        params: nameParams,
        body: SyncAgent,
      },
    )
    .get("/:id", ({ principal, params }) => agents.get(requireAccess(principal, params.id), params.id), {
      operation: {
        id: "agents.retrieve",
        summary: "Retrieve an agent",
        needs: "read",
        returns: Agent,
      },
      params,
    })
    .patch(
      "/:id",
      ({ principal, params, body }) => agents.update(requireAccess(principal, params.id), params.id, body),
      {
        operation: {
          id: "agents.update",
          summary: "Update an agent, as a new version",
          needs: "admin",
          returns: Agent,
          errors: ["version_conflict", "model_not_available", "agent_ambiguous"],
        },
        params,
        body: UpdateAgent,
      },
    )
    .delete("/:id", ({ principal, params }) => agents.remove(requireAccess(principal, params.id), params.id), {
      operation: {
        id: "agents.delete",
        summary: "Delete an agent",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .get("/:id/versions", ({ principal, params, request }) => listVersions(agents, principal, params.id, request.url), {
      operation: {
        id: "agents.versions.list",
        summary: "List the versions of an agent, newest first",
        needs: "read",
        query: {
          limit: forwardQuery.limit,
          starting_after: about("A cursor: returns the items after it.", versionNumber),
        },
        returns: listOf(AgentVersion),
      },
      params,
    })
    .get(
      "/:id/versions/:version",
      ({ principal, params }) =>
        agents.versions.get(requireAccess(principal, params.id), params.id, Number(params.version)),
      {
        operation: {
          id: "agents.versions.retrieve",
          summary: "Retrieve a version of an agent",
          needs: "read",
          returns: AgentVersion,
        },
        params: versionParams,
      },
    );

const requireAccess = (principal: Principal, id: string): Principal => {
  requireAgent(principal, id);
  return principal;
};

function listVersions(agents: AgentStore, principal: Principal, id: string, url: string) {
  agents.get(requireAccess(principal, id), id);
  const { limit, starting_after } = readPage(url);
  if (starting_after === null) return agents.versions.list(principal, id, limit, Number.MAX_SAFE_INTEGER);
  if (!/^[1-9]\d{0,14}$/.test(starting_after)) throw invalid("starting_after", "Must be the number of a version.");
  const before = Number(starting_after);
  if (before > agents.get(principal, id).version)
    throw new AppError("invalid_cursor", "The cursor is not a version of this agent.");
  return agents.versions.list(principal, id, limit, before);
}
