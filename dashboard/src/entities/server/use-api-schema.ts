import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type { AnySchema } from "../../lib/schema-walk.ts";
import { openApiQuery } from "./openapi-api.ts";

/**
 * What the API says of one of its shapes, or of one of its fields, for an editor to help with. The API's document is read
 * when the editor asks for it first.
 */
export function useApiSchema(shape: string, field?: string): () => Promise<AnySchema | null> {
  const client = useQueryClient();
  return useCallback(async () => {
    const { components } = await client.ensureQueryData(openApiQuery);
    return { $ref: `#/components/schemas/${shape}${field ? `/properties/${field}` : ""}`, components };
  }, [client, shape, field]);
}
