import { queryOptions } from "@tanstack/react-query";
import type { ModelList } from "../../../../server/wire/model.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";

/** The models that are known here. */
export function modelsQuery(at: At) {
  return queryOptions({
    queryKey: ["models", at.projectId, at.mode],
    queryFn: ({ signal }) => get<ModelList>(resourceUrl(at, "/models"), signal),
    staleTime: 60_000,
  });
}

/** Of those, the ones that may be used now, the built-in ones aside. */
export const connectedModelsQuery = (at: At) => ({ ...modelsQuery(at), select: connected });

const connected = ({ data }: ModelList): string[] =>
  data.filter(({ id, available }) => available && !id.startsWith("test/")).map(({ id }) => id);
