import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { Definition } from "./definition.ts";

/** An agent as a list has it. */
export interface ListedAgent {
  id: string;
  name: string;
  description: string | null;
  model: string;
  tools_count: number;
  version: number;
  updated_at: string;
}

/** An agent as it is, or as it was at a version. */
export interface Agent extends Definition {
  id: string;
  version: number;
  tools_count: number;
  created_at: string;
  updated_at: string;
}

/** An agent at one of its versions; `created_at` is the version's. */
export interface AgentVersion extends Omit<Agent, "updated_at"> {
  /** In a list: the fields that are not here in full. */
  truncated?: string[];
}

/** What the address of the list holds. */
export interface AgentsSearch extends PageSearch {
  /** Part of a name. */
  q?: string;
}

const pageSize = 50;
const pathOf = (id: string) => `/agents/${encodeURIComponent(id)}`;

/** A page of agents, or of those with a text in their name: the API does not search, so all of them are read. */
export function agentsQuery(at: Workspace, { q, ...page }: AgentsSearch) {
  return queryOptions({
    queryKey: ["agents", at.projectId, at.mode, "page", q ? "all" : page],
    queryFn: async ({ signal }): Promise<List<ListedAgent>> => {
      const path = `/agents${query({ limit: pageSize, ...pageQuery(page) })}`;
      if (!q) return await get<List<ListedAgent>>(resourceUrl(at, path), signal);
      const data = await getAll<ListedAgent>(at, "/agents", {}, signal);
      return { object: "list", data, has_more: false, first_id: null, last_id: null, request_id: "" };
    },
  });
}

/** One agent, with all that it is. */
export function agentQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id, "whole"],
    queryFn: ({ signal }) => get<Agent>(resourceUrl(at, pathOf(id)), signal),
    retry: false,
  });
}

/** The newest hundred versions of an agent. */
export function versionsQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id, "versions"],
    queryFn: ({ signal }) =>
      get<List<AgentVersion>>(resourceUrl(at, `${pathOf(id)}/versions${query({ limit: 100 })}`), signal),
  });
}

/** One version, with all that it says. It never changes. */
export function versionQuery(at: Workspace, id: string, version: number) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id, "version", version],
    queryFn: ({ signal }) => get<AgentVersion>(resourceUrl(at, `${pathOf(id)}/versions/${version}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The newest runs of an agent. */
export function agentRunsQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, "agent", id],
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, `/runs${query({ agent_id: id, limit: 20 })}`), signal),
  });
}

interface Model {
  id: string;
  provider: string;
  available: boolean;
  context_window: number | null;
}

/** The models that are known here. */
export function modelsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["models", at.projectId, at.mode],
    queryFn: ({ signal }) => get<{ data: Model[] }>(resourceUrl(at, "/models"), signal),
    staleTime: 60_000,
  });
}

export interface ListedTool {
  id: string;
  name: string;
  type: string;
  description: string;
  parameters?: unknown;
  enabled: boolean;
}

/** All tools, to pick from. */
export function toolsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["tools", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedTool>(at, "/tools", {}, signal),
    staleTime: 15_000,
  });
}

export interface ListedStore {
  id: string;
  name: string;
  kind: "vector" | "kv";
  scope: "project" | "user" | "session";
}

/** All memory stores, to pick from. */
export function storesQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedStore>(at, "/memory", {}, signal),
    staleTime: 15_000,
  });
}

export const createAgent = (at: Workspace, body: object): Promise<Agent> => post(resourceUrl(at, "/agents"), body);

/** Refused with 409 where the agent is at another version by now. */
export const changeAgent = (at: Workspace, id: string, body: object): Promise<Agent> =>
  patch(resourceUrl(at, pathOf(id)), body);

export const deleteAgent = (at: Workspace, id: string): Promise<unknown> => remove(resourceUrl(at, pathOf(id)));
