import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { get } from "../../lib/api.ts";
import type { AnySchema } from "../../lib/schema-walk.ts";

/**
 * Returns a loader of an API schema, or of one of its fields, for editor assistance. Fetches the OpenAPI document on
 * first use.
 */
export function useApiSchema(shape: string, field?: string): () => Promise<AnySchema | null> {
  const client = useQueryClient();
  return useCallback(async () => {
    const { components } = await client.ensureQueryData(openApiQuery);
    return { $ref: `#/components/schemas/${shape}${field ? `/properties/${field}` : ""}`, components };
  }, [client, shape, field]);
}

/** The parts of `GET /v1/openapi.json` that editors read. */
interface OpenApi {
  components: { schemas: Record<string, AnySchema> };
}

/** Never stale: the document changes only with the server. */
const openApiQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: ({ signal }) => get<OpenApi>("/console/api/openapi.json", signal),
  staleTime: Number.POSITIVE_INFINITY,
});
