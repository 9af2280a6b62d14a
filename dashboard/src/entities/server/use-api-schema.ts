import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type { AnySchema } from "../../lib/schema-walk.ts";
import { openApiQuery } from "./openapi-api.ts";

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
