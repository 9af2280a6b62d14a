import { queryOptions } from "@tanstack/react-query";
import type { AgentListItem as ListedAgent } from "../../../../server/agents/schema.ts";
import type { Tool, ToolTest } from "../../../../server/tools/schema.ts";
import type { Secret } from "../../../../server/wire/secret.ts";
import { get, post, put } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { agentApi } from "../agent/agent-api.ts";
import { type At, resource } from "../resource/resource.ts";
import type { ToolsSearch } from "./tools-search.ts";

/** The signing secret comes with the creation alone. */
export const toolApi = resource<Tool, Tool, object, Tool & { signing_secret?: string }>("tools", ({ name }) => name);

/** A page of tools. */
export const toolsQuery = (at: At, { type, ...page }: ToolsSearch) => toolApi.page(at, page, { type });

const mostAgents = 100;

/** Which agents have which tool: by the tool's id. A list of agents tells but numbers, so each is read; the newest hundred. */
export function usersQuery(at: At) {
  return queryOptions({
    queryKey: toolApi.key(at, "users"),
    queryFn: async ({ signal }) => {
      const agents = (await getAll<ListedAgent>(at, "/agents", {}, signal)).filter(
        ({ tools_count }) => tools_count > 0,
      );
      const read = await Promise.all(
        agents
          .slice(0, mostAgents)
          .map(({ id }) => get<{ id: string; name: string; tools: { id: string }[] }>(agentApi.url(at, id), signal)),
      );
      const users: Record<string, { id: string; name: string }[]> = {};
      for (const { id, name, tools } of read)
        for (const tool of tools) users[tool.id] = [...(users[tool.id] ?? []), { id, name }];
      return { users, isWhole: agents.length <= mostAgents };
    },
    staleTime: 15_000,
  });
}

/** Their names alone: nobody can read their values. */
export const secretApi = resource<Secret>("secrets");

export const setSecret = (at: At, name: string, value: string): Promise<unknown> =>
  put(secretApi.url(at, name), { value });

/** Changes a tool, unless somebody changed it since it was read. The API has no versions of tools, so it is read again. */
export async function changeTool(at: At, read: Tool, body: object): Promise<Tool> {
  const newer = await get<Tool>(toolApi.url(at, read.id));
  if (newer.updated_at !== read.updated_at) throw new ToolChanged(newer);
  return await toolApi.change(at, read.id, body);
}

/** Nothing was written: the tool is another one by now. */
export class ToolChanged extends Error {
  constructor(readonly newer: Tool) {
    super("Someone else changed the tool.");
  }
}

export const refreshTool = (at: At, id: string): Promise<Tool> => post(toolApi.url(at, id, "/refresh"));

export const testTool = (at: At, id: string, body: object): Promise<ToolTest> =>
  post(toolApi.url(at, id, "/test"), body);

type Approval = "never" | "always" | { when: object };

/** Who decides before a call, in words. */
export function approvalWords(approval: Approval): string {
  if (approval === "never") return "Not required";
  return approval === "always" ? "Always required" : "Conditional";
}
