import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, put, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { Tool } from "./tool.ts";
import type { ToolsSearch } from "./tools-search.ts";

const pageSize = 50;
const pathOf = (id: string) => `/tools/${encodeURIComponent(id)}`;

/** A page of tools. */
export function toolsQuery(at: Workspace, { type, ...page }: ToolsSearch) {
  const path = `/tools${query({ limit: pageSize, type, ...pageQuery(page) })}`;
  return queryOptions({
    queryKey: ["tools", at.projectId, at.mode, "page", { type, ...page }],
    queryFn: ({ signal }) => get<List<Tool>>(resourceUrl(at, path), signal),
  });
}

/** One tool. */
export function toolQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["tools", at.projectId, at.mode, "one", id],
    queryFn: ({ signal }) => get<Tool>(resourceUrl(at, pathOf(id)), signal),
    retry: false,
  });
}

interface ListedAgent {
  id: string;
  name: string;
  tools_count: number;
}

/** All agents, for their names. */
export function agentsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["agents", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedAgent>(at, "/agents", {}, signal),
    staleTime: 15_000,
  });
}

const mostAgents = 100;

/** Which agents have which tool: by the tool's id. A list of agents tells but numbers, so each is read; the newest hundred. */
export function usersQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["tools", at.projectId, at.mode, "users"],
    queryFn: async ({ signal }) => {
      const agents = (await getAll<ListedAgent>(at, "/agents", {}, signal)).filter(
        ({ tools_count }) => tools_count > 0,
      );
      const read = await Promise.all(
        agents
          .slice(0, mostAgents)
          .map(({ id }) =>
            get<{ id: string; name: string; tools: { id: string }[] }>(resourceUrl(at, `/agents/${id}`), signal),
          ),
      );
      const users: Record<string, { id: string; name: string }[]> = {};
      for (const { id, name, tools } of read)
        for (const tool of tools) users[tool.id] = [...(users[tool.id] ?? []), { id, name }];
      return { users, isWhole: agents.length <= mostAgents };
    },
    staleTime: 15_000,
  });
}

/** The names of secrets; nobody can read their values. */
export function secretsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["secrets", at.projectId, at.mode],
    queryFn: async ({ signal }) =>
      (await get<{ data: { name: string; updated_at: string }[] }>(resourceUrl(at, "/secrets?limit=100"), signal)).data,
  });
}

export const setSecret = (at: Workspace, name: string, value: string): Promise<unknown> =>
  put(resourceUrl(at, `/secrets/${encodeURIComponent(name)}`), { value });
export const deleteSecret = (at: Workspace, name: string): Promise<unknown> =>
  remove(resourceUrl(at, `/secrets/${encodeURIComponent(name)}`));

interface ListedFile {
  id: string;
  filename: string;
}

/** All files, to give some to code. */
export function filesQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["files", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedFile>(at, "/files", {}, signal),
    staleTime: 15_000,
  });
}

/** The signing secret is in the answer to the creation alone. */
export const createTool = (at: Workspace, body: object): Promise<Tool & { signing_secret?: string }> =>
  post(resourceUrl(at, "/tools"), body);

/** Changes a tool, unless somebody changed it since it was read. The API has no versions of tools, so it is read again. */
export async function changeTool(at: Workspace, read: Tool, body: object): Promise<Tool> {
  const newer = await get<Tool>(resourceUrl(at, pathOf(read.id)));
  if (newer.updated_at !== read.updated_at) throw new ToolChanged(newer);
  return await patch(resourceUrl(at, pathOf(read.id)), body);
}

/** Nothing was written: the tool is another one by now. */
export class ToolChanged extends Error {
  constructor(readonly newer: Tool) {
    super("Somebody changed the tool meanwhile.");
  }
}

export const deleteTool = (at: Workspace, id: string): Promise<unknown> => remove(resourceUrl(at, pathOf(id)));
export const refreshTool = (at: Workspace, id: string): Promise<Tool> => post(resourceUrl(at, `${pathOf(id)}/refresh`));

/** What a call came to. */
export interface TestAnswer {
  output: unknown;
  error: { code: string; message: string } | null;
  latency_ms: number;
  attempts: number;
  files?: { id: string; filename: string; bytes: number }[];
}

export const testTool = (at: Workspace, id: string, body: object): Promise<TestAnswer> =>
  post(resourceUrl(at, `${pathOf(id)}/test`), body);
