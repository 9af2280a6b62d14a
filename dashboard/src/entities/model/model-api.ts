import { queryOptions } from "@tanstack/react-query";
import type { ModelList } from "../../../../server/domain/api-types/model.ts";
import type { ModelKind } from "../../../../server/domain/listed-model.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

export type Model = ModelList["data"][number];

interface ModelFilter {
  kind?: ModelKind;
  /** Prefix of a connection. */
  connection?: string;
}

/** All models that the server knows, or those of one connection. Refetched while a list is being read. */
export function modelsQuery(at: WorkspaceKey, { kind, connection }: ModelFilter = {}) {
  return queryOptions({
    queryKey: ["models", at.projectId, at.mode, kind ?? "chat", connection ?? null],
    queryFn: async ({ signal }) => {
      const read = (starting_after?: string) =>
        get<ModelList>(resourceUrl(at, `/models${query({ kind, connection, starting_after })}`), signal);
      const list = await read();
      const data = [...list.data];
      for (let page = list; page.has_more && page.last_id !== null; data.push(...page.data))
        page = await read(page.last_id);
      return { ...list, data };
    },
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.data?.connections.some(({ reading }) => reading) ? 1000 : false),
  });
}

/** All queries of models, for invalidation. */
export const modelQueries = { queryKey: ["models"] };

/** Ids of the models that are available now, without the built-in test models; those with a known price first. */
export const connectedModelsQuery = (at: WorkspaceKey) => ({ ...modelsQuery(at), select: connected });

const connected = ({ data }: ModelList): string[] =>
  data
    .filter(({ id, available }) => available && !id.startsWith("test/"))
    .sort((a, b) => Number(a.prices?.source !== "built_in") - Number(b.prices?.source !== "built_in"))
    .map(({ id }) => id);
