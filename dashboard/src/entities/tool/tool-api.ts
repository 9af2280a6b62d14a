import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Secret } from "../../../../server/domain/api-types/secret.ts";
import type { AgentListItem as ListedAgent } from "../../../../server/resources/agents/schema.ts";
import type { AddFromCatalog, CatalogItem } from "../../../../server/resources/tools/catalog/schema.ts";
import type { ImportTools, ToolImport } from "../../../../server/resources/tools/import/schema.ts";
import type { Tool, ToolTest } from "../../../../server/resources/tools/schema.ts";
import { get, post, put } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { agentApi } from "../agent/agent-api.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { ToolsSearch } from "./tools-search.ts";

/** Only the creation returns the signing secret. */
export const toolApi = resource<Tool, Tool, object, Tool & { signing_secret?: string }>("tools", ({ name }) => name);

/** A page of tools. */
export const toolsQuery = (at: WorkspaceKey, { type, ...page }: ToolsSearch) => toolApi.page(at, page, { type });

const mostAgents = 100;

/**
 * Agents by the id of a tool they use. Lists of agents contain only counts, so each of the newest hundred is fetched.
 */
export function usersQuery(at: WorkspaceKey) {
  return queryOptions({
    queryKey: toolApi.key(at, "users"),
    queryFn: async ({ signal }) => {
      const agents = (await getAll<ListedAgent>(at, "/agents", {}, signal)).filter(
        ({ tools_count }) => tools_count > 0,
      );
      const agentDetails = await Promise.all(
        agents
          .slice(0, mostAgents)
          .map(({ id }) => get<{ id: string; name: string; tools: { id: string }[] }>(agentApi.url(at, id), signal)),
      );
      const users: Record<string, { id: string; name: string }[]> = {};
      for (const { id, name, tools } of agentDetails)
        for (const tool of tools) users[tool.id] = [...(users[tool.id] ?? []), { id, name }];
      return { users, isWhole: agents.length <= mostAgents };
    },
    staleTime: 15_000,
  });
}

/** Lists the names only: secret values cannot be read. */
export const secretApi = resource<Secret>("secrets");

export const setSecret = (at: WorkspaceKey, name: string, value: string): Promise<unknown> =>
  put(secretApi.url(at, name), { value });

/**
 * Updates a tool; throws ToolChanged if it has changed since it was read. Tools have no versions in the API, so it is
 * read again first.
 */
export async function changeTool(at: WorkspaceKey, loadedTool: Tool, body: object): Promise<Tool> {
  const newer = await get<Tool>(toolApi.url(at, loadedTool.id));
  if (newer.updated_at !== loadedTool.updated_at) throw new ToolChanged(newer);
  return await toolApi.change(at, loadedTool.id, body);
}

/** Thrown if the tool was changed elsewhere. Nothing was written. */
export class ToolChanged extends Error {
  constructor(readonly newer: Tool) {
    super("Someone else changed the tool.");
  }
}

/** Ready tools that can be added. */
export const catalogQuery = (at: WorkspaceKey) =>
  queryOptions({
    queryKey: toolApi.key(at, "catalog"),
    queryFn: ({ signal }) => get<List<CatalogItem>>(toolApi.url(at, "catalog"), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Creates the tools of an entry of the catalogue. */
export const addFromCatalog = (at: WorkspaceKey, name: string, order: AddFromCatalog): Promise<List<Tool>> =>
  post(toolApi.url(at, "catalog", `/${name}`), order);

export const refreshTool = (at: WorkspaceKey, id: string): Promise<Tool> => post(toolApi.url(at, id, "/refresh"));

export const testTool = (at: WorkspaceKey, id: string, body: object): Promise<ToolTest> =>
  post(toolApi.url(at, id, "/test"), body);

type Approval = "never" | "always" | { when: object };

/** Describes when a call needs approval. */
export function approvalWords(approval: Approval): string {
  if (approval === "never") return "Not required";
  return approval === "always" ? "Always required" : "Conditional";
}

/** Says what an import of an OpenAPI document would do, or does it. */
export const importTools = (at: WorkspaceKey, order: ImportTools): Promise<ToolImport> =>
  post(toolApi.url(at, "import"), order);
