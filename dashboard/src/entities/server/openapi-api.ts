import { queryOptions } from "@tanstack/react-query";
import { get } from "../../lib/api.ts";
import type { AnySchema } from "../../lib/schema-walk.ts";

/** The parts of `GET /v1/openapi.json` that editors read. */
interface OpenApi {
  components: { schemas: Record<string, AnySchema> };
}

/** Never stale: the document changes only with the server. */
export const openApiQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: ({ signal }) => get<OpenApi>("/console/api/openapi.json", signal),
  staleTime: Number.POSITIVE_INFINITY,
});
