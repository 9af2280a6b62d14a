import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { AgentLabel, AgentLabelReport, AgentLabelRevision } from "../../../../server/domain/api-types/label.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { PutLabel } from "../../../../server/resources/labels/schema.ts";
import { get, post, put, query, remove } from "../../lib/api.ts";
import { agentApi } from "../agent/agent-api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

const urlOf = (at: WorkspaceKey, agentId: string, name: string, rest = ""): string =>
  agentApi.url(at, agentId, `/labels/${encodeURIComponent(name)}${rest}`);

/** Key prefix of all that is known about an agent's labels. */
export const labelsOf = (at: WorkspaceKey, agentId: string) => ({
  queryKey: [...agentApi.of(at, agentId).queryKey, "labels"],
});

/** All labels of an agent, by name. The server may roll one back at any time. */
export const labelsQuery = (at: WorkspaceKey, agentId: string) =>
  queryOptions({
    queryKey: [...labelsOf(at, agentId).queryKey, "list"],
    queryFn: ({ signal }) => get<List<AgentLabel>>(agentApi.url(at, agentId, "/labels"), signal),
    refetchInterval: 10_000,
  });

/** Numbers of the versions that a label holds. */
export const labelReportQuery = (at: WorkspaceKey, { agent_id, name, revision }: AgentLabel) =>
  queryOptions({
    queryKey: [...labelsOf(at, agent_id).queryKey, name, "report", revision],
    queryFn: ({ signal }) => get<AgentLabelReport>(urlOf(at, agent_id, name, "/report"), signal),
    refetchInterval: 5_000,
  });

const revisionsUrl = (at: WorkspaceKey, { agent_id, name }: AgentLabel, limit: number, after: number | undefined) =>
  urlOf(at, agent_id, name, `/revisions${query({ limit, starting_after: after })}`);

/** Places where a label has been, newest first, page by page. */
export const labelRevisionsQuery = (at: WorkspaceKey, label: AgentLabel) =>
  infiniteQueryOptions({
    queryKey: [...labelsOf(at, label.agent_id).queryKey, label.name, "revisions", label.revision],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ signal, pageParam }) => get<List<AgentLabelRevision>>(revisionsUrl(at, label, 20, pageParam), signal),
    getNextPageParam: ({ has_more, data }) => (has_more ? data.at(-1)?.revision : undefined),
  });

/** Returns the revision that a rollback restores; null if the label has held nothing else. */
export const labelPastQuery = (at: WorkspaceKey, label: AgentLabel) =>
  queryOptions({
    queryKey: [...labelsOf(at, label.agent_id).queryKey, label.name, "past", label.revision],
    queryFn: async ({ signal }): Promise<AgentLabelRevision | null> => {
      const first = async (after?: number) =>
        (await get<List<AgentLabelRevision>>(revisionsUrl(at, label, 1, after), signal)).data[0] ?? null;
      const current = await first();
      return current && first(current.restores ?? current.revision);
    },
  });

export const setLabel = (at: WorkspaceKey, agentId: string, name: string, body: PutLabel): Promise<AgentLabel> =>
  put(urlOf(at, agentId, name), body);

export const rollBackLabel = (at: WorkspaceKey, { agent_id, name, revision }: AgentLabel): Promise<AgentLabel> =>
  post(urlOf(at, agent_id, name, "/rollback"), { expected_revision: revision });

export const deleteLabel = (at: WorkspaceKey, { agent_id, name }: AgentLabel): Promise<unknown> =>
  remove(urlOf(at, agent_id, name));
