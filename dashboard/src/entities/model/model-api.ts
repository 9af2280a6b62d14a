import { queryOptions } from "@tanstack/react-query";
import type { ModelList } from "../../../../server/domain/api-types/model.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

/** All models that the server knows. */
export function modelsQuery(at: WorkspaceKey) {
  return queryOptions({
    queryKey: ["models", at.projectId, at.mode],
    queryFn: ({ signal }) => get<ModelList>(resourceUrl(at, "/models"), signal),
    staleTime: 60_000,
  });
}

/** Ids of the models that are available now, without the built-in test models. */
export const connectedModelsQuery = (at: WorkspaceKey) => ({ ...modelsQuery(at), select: connected });

const connected = ({ data }: ModelList): string[] =>
  data.filter(({ id, available }) => available && !id.startsWith("test/")).map(({ id }) => id);
